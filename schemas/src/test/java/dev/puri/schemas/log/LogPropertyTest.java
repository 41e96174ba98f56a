package dev.puri.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.Any;
import dev.puri.schemas.Property;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.WireFormat;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogPropertyTest {
    private static final int ROUNDS = 5_000;

    @Test
    void positionsPrintWhatTheyParse() {
        Property.forAll(ROUNDS, random -> {
            Position position = Any.position(random);
            assertThat(Position.parse(position.toString())).isEqualTo(position);
        });
    }

    @Test
    void outcomesPrintWhatTheyParse() {
        Set<Outcome> seen = new HashSet<>();
        Property.forAll(ROUNDS, random -> {
            Outcome outcome = Any.outcome(random);
            assertThat(Outcome.parse(outcome.toString())).isEqualTo(outcome);
            seen.add(outcome);
        });
        assertThat(seen).hasSize(2 + EnumSet.allOf(Reason.class).size());
    }

    @Test
    void eventsRoundTripThroughAvro() {
        RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
        RecordReader<IdentityEvent> generated = RecordReader.of(IdentityEvent.class);
        EventReader reader = new EventReader();
        Set<Class<?>> seen = new HashSet<>();
        Property.forAll(ROUNDS, random -> {
            Event event = Any.event(random);
            byte[] value = writer.encode(random.nextInt(), EventAvro.toAvro(event));
            assertThat(reader.read(event.puri(), value, writer.schema())).isEqualTo(event);
            assertThat(EventEncoder.encode(WireFormat.schemaId(value), event)).isEqualTo(value);
            assertThat(EventAvro.fromAvro(generated.decode(value, writer.schema())))
                    .isEqualTo(event);
            seen.add(event.change().getClass());
        });
        assertThat(seen).hasSameElementsAs(Set.of(Change.class.getPermittedSubclasses()));
    }

    @Test
    void rowsRoundTripThroughAvro() {
        RecordWriter<IdentityRow> writer = RecordWriter.of(IdentityRow.class);
        RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
        Set<Row.Status> seen = EnumSet.noneOf(Row.Status.class);
        Property.forAll(ROUNDS, random -> {
            Row row = Any.row(random);
            byte[] value = writer.encode(random.nextInt(), RowAvro.toAvro(row));
            assertThat(RowAvro.fromAvro(reader.decode(value, writer.schema()))).isEqualTo(row);
            assertThat(RowEncoder.encode(WireFormat.schemaId(value), row)).isEqualTo(value);
            seen.add(row.status());
        });
        assertThat(seen).hasSize(Row.Status.values().length);
    }

    @Test
    void documentsRoundTripThroughAvro() {
        RecordWriter<dev.puri.schemas.avro.Document> writer = RecordWriter.of(dev.puri.schemas.avro.Document.class);
        RecordReader<dev.puri.schemas.avro.Document> reader = RecordReader.of(dev.puri.schemas.avro.Document.class);
        Set<Row.Status> seen = EnumSet.noneOf(Row.Status.class);
        Property.forAll(ROUNDS, random -> {
            Document document = Any.document(random);
            byte[] value = writer.encode(random.nextInt(), DocumentAvro.toAvro(document));
            assertThat(DocumentAvro.fromAvro(reader.decode(value, writer.schema())))
                    .isEqualTo(document);
            seen.add(document.status());
        });
        assertThat(seen).containsExactlyInAnyOrder(Row.Status.ACTIVE, Row.Status.MERGED);
    }

    @Test
    void tokensOfTheSharedAndOfNamespaceTopics() {
        assertThat(new Position(Topics.EVENTS, 3, 1042)).hasToString("3-1042");
        assertThat(new Position("puri.events.v1.music", 3, 1042)).hasToString("music-3-1042");
        assertThat(Position.parse("a-1-2-3-4")).isEqualTo(new Position("puri.events.v1.a-1-2", 3, 4));
        assertThat(Position.parse("1-2-3")).isEqualTo(new Position("puri.events.v1.1", 2, 3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-",
                "--",
                "3",
                "3-",
                "-3",
                "3-x",
                "x-3",
                "-3-4",
                "3--4",
                "+3-4",
                "3-+4",
                "03-4",
                "3-04",
                "3 -4",
                "2147483648-0",
                "4294967295-0",
                "0-9223372036854775808",
                "Music-3-4",
                "a b-3-4",
                "a/b-3-4",
                "\u0663-4",
                "3-4-",
                "3-4 "
            })
    void otherTextIsNoToken(String text) {
        assertThatThrownBy(() -> Position.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not a token");
    }

    @Test
    void onlyEventsTopicsHavePositions() {
        assertThat(Topics.isEvents("puri.events.v1.a.b_c-d")).isTrue();
        for (String topic :
                new String[] {"puri.identities.v1", "puri.events.v1.", "puri.events.v1.A", "puri.events.v10"}) {
            assertThat(Topics.isEvents(topic)).as(topic).isFalse();
            assertThatThrownBy(() -> new Position(topic, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
