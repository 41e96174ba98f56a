package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The topics of identities and documents that a simulated registry wrote, as a consumer reads them. */
final class SimulatedOutput {
    private final SimulatedKafka kafka;
    private final Map<String, Outcome> outcomes = new HashMap<>();
    private final Map<Puri, List<String>> positions = new HashMap<>();
    private final Map<Puri, Row> rows = new HashMap<>();

    /** @throws AssertionError if an event was answered twice */
    SimulatedOutput(SimulatedKafka kafka) {
        this.kafka = kafka;
        RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
        for (SimulatedKafka.Entry entry : kafka.answers(Topics.IDENTITIES)) {
            Puri puri = EventParser.canonicalKey(entry.key());
            String position = entry.header(Position.HEADER);
            Outcome before = outcomes.put(position, Outcome.parse(entry.header(Outcome.HEADER)));
            assertThat(before).as("answered once: " + position).isNull();
            positions.computeIfAbsent(puri, ignored -> new ArrayList<>()).add(position);
            if (entry.value() == null) {
                rows.remove(puri);
            } else {
                rows.put(puri, RowAvro.fromAvro(reader.decode(entry.value(), IdentityRow.getClassSchema())));
            }
        }
    }

    /** Returns the outcomes, by position of the event. */
    Map<String, Outcome> outcomes() {
        return outcomes;
    }

    /** Returns the positions of a name's events, in the order of their answers. */
    Map<Puri, List<String>> positions() {
        return positions;
    }

    /** Returns the last row of each name that has one. */
    Map<Puri, Row> rows() {
        return rows;
    }

    /**
     * Returns the last document of each name that has one.
     *
     * @param published events by position
     * @throws AssertionError if a collection that is never searched has a record other than an erasure
     */
    Map<Puri, Document> documents(Map<String, Event> published) {
        RecordReader<dev.puri.schemas.avro.Document> reader = RecordReader.of(dev.puri.schemas.avro.Document.class);
        Map<Puri, Document> documents = new HashMap<>();
        for (SimulatedKafka.Entry entry : kafka.answers(Topics.DOCUMENTS)) {
            Puri puri = EventParser.canonicalKey(entry.key());
            String position = entry.header(Position.HEADER);
            if (!RandomEvents.isSearched(puri)) {
                assertThat(published.get(position).change())
                        .as("a collection that is never searched costs no record")
                        .isInstanceOf(Change.Erased.class);
            }
            if (entry.value() == null) {
                documents.remove(puri);
                continue;
            }
            Document document = DocumentAvro.fromAvro(
                    reader.decode(entry.value(), dev.puri.schemas.avro.Document.getClassSchema()));
            assertThat(document.position()).hasToString(position);
            documents.put(puri, document);
        }
        return documents;
    }

    /**
     * Compares each digest with the records before it.
     *
     * @throws AssertionError if a digest differs, or if the last change of a partition was published by none
     */
    void assertDigests(String topic) {
        for (int partition = 0; partition < kafka.partitions(topic); partition++) {
            DigestedPartition reader = new DigestedPartition(topic);
            for (SimulatedKafka.Entry entry : kafka.log(topic, partition)) {
                reader.read(entry.key(), entry.value(), entry.headers());
            }
            assertThat(reader.last()).isEqualTo(reader.sum());
        }
    }

    /** Returns the positions of events that were applied, or changed nothing, and have no row. */
    List<String> eventsThatLeftNoRow() {
        List<String> without = new ArrayList<>();
        for (SimulatedKafka.Entry entry : kafka.answers(Topics.IDENTITIES)) {
            if (entry.value() == null
                    && Outcome.parse(entry.header(Outcome.HEADER)).kind() != Outcome.Kind.REFUSED) {
                without.add(entry.header(Position.HEADER));
            }
        }
        return without;
    }
}
