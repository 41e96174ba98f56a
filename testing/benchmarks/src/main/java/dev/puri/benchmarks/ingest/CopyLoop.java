package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.client.BareProducer;
import dev.puri.client.IdentityMinter;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/**
 * The baseline of {@link ImportBench}: for each row that {@code COPY} writes, it sends a record with the publisher's
 * properties. It checks nothing, keeps no progress, and cannot be repeated.
 *
 * @param schemaId of events in the schema registry
 */
record CopyLoop(ImportDatabases databases, ServerSettings settings, int schemaId) {
    private static final int READY_EVENTS = 10_000;

    /** Returns the record of a line of {@code COPY}. */
    private interface Records {
        ProducerRecord<byte[], byte[]> next(byte[] line, int shard);
    }

    /** A record that is sent again and again; its bytes are prepared before the clock starts. */
    record Ready(byte[] key, byte[] value) {}

    /** Sends records that were prepared, one for each row; returns the number of rows. */
    long sendReadyEvents(FreshBroker broker, List<Ready> ready) throws Exception {
        int[] next = {0};
        return run(broker, (line, shard) -> {
            Ready record = ready.get(next[0]++ % ready.size());
            return new ProducerRecord<>(Topics.EVENTS, record.key(), record.value());
        });
    }

    /** Makes an event of each row and sends it; returns the number of rows. */
    long sendEvents(FreshBroker broker) throws Exception {
        RecordMaker maker = new RecordMaker(schemaId);
        return run(broker, maker::record);
    }

    /** Returns the records of the first rows. */
    List<Ready> readyEvents() throws Exception {
        RecordMaker maker = new RecordMaker(schemaId);
        List<Ready> ready = new ArrayList<>();
        try (Connection connection = databases.connect(0)) {
            CopyOut copy = copy(connection, ImportDatabases.QUERY + " limit " + READY_EVENTS);
            for (byte[] line = copy.readFromCopy(); line != null; line = copy.readFromCopy()) {
                ProducerRecord<byte[], byte[]> record = maker.record(line, 0);
                ready.add(new Ready(record.key(), record.value()));
            }
        }
        return ready;
    }

    private long run(FreshBroker broker, Records records) throws Exception {
        LongAdder acknowledged = new LongAdder();
        long sent = 0;
        try (KafkaProducer<byte[], byte[]> producer = BareProducer.open(settings.client(broker))) {
            for (int shard = 0; shard < databases.count(); shard++) {
                try (Connection connection = databases.connect(shard)) {
                    CopyOut copy = copy(connection, ImportDatabases.QUERY);
                    for (byte[] line = copy.readFromCopy(); line != null; line = copy.readFromCopy()) {
                        var unused = producer.send(records.next(line, shard), (metadata, error) -> {
                            if (error == null) {
                                acknowledged.increment();
                            }
                        });
                        sent++;
                    }
                }
            }
            producer.flush();
        }
        if (acknowledged.sum() != sent) {
            throw new IllegalStateException("only " + acknowledged + " of " + sent + " events were acknowledged");
        }
        return sent;
    }

    private static CopyOut copy(Connection connection, String query) throws Exception {
        return connection.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (" + query + ") TO STDOUT");
    }

    /** Makes events from the columns of a line as a script without our publisher would, with Avro's own writer. */
    private static final class RecordMaker {
        private static final Owner OWNER = new Owner("catalog");
        private static final Prefix PREFIX = ImportBench.PREFIX;

        private final RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
        private final IdentityMinter minter = new IdentityMinter();
        private final int schemaId;

        RecordMaker(int schemaId) {
            this.schemaId = schemaId;
        }

        ProducerRecord<byte[], byte[]> record(byte[] line, int shard) {
            // Without the line end; no column has a tab or another character that COPY would escape.
            String[] columns = new String(line, 0, line.length - 1, StandardCharsets.UTF_8).split("\t", -1);
            Event event = new Event(
                    minter.uuid(),
                    Puri.of(ImportBench.NAMESPACE, ImportBench.COLLECTION, columns[0]),
                    Instant.now(),
                    ImportBench.SOURCE,
                    null,
                    null,
                    new Change.Created(
                            UUID.fromString(columns[1]),
                            OWNER,
                            new Shard("br-" + shard),
                            minter.handle(PREFIX),
                            Map.of("title", columns[2])));
            return new ProducerRecord<>(
                    Topics.EVENTS, event.puri().toBytes(), writer.encode(schemaId, EventAvro.toAvro(event)));
        }
    }
}
