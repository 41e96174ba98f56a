package dev.puri.benchmarks;

import dev.puri.client.BareProducer;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroSerializer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Measures publishing to a broker in this process, until all events are acknowledged. The baseline is a producer with
 * the publisher's properties, which sends the bytes that the publisher's serializer makes of the same events; they are
 * made before the clock starts. Each round has a broker of its own, and the sides take turns in being first.
 */
final class PublishBench {
    /** Events of one {@code publishAll}. */
    private static final int BATCH = 1000;

    private static final String BASELINE = "bare KafkaProducer, same bytes";

    private final int events;
    private final int rounds;
    private final Consumer<String> progress;

    /** Publishes all events once, and returns when they are acknowledged. */
    private interface Publication {
        void run() throws Exception;
    }

    /**
     * @param events of each side in each round
     */
    PublishBench(int events, int rounds, Consumer<String> progress) {
        this.events = events;
        this.rounds = rounds;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        Path directory = FreshBroker.newDirectory();
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(directory, 0)) {
            Ingest.registerSchemas(registry.url());
            Creations creations = new Creations();
            List<Event> made = new ArrayList<>(events);
            for (int i = 0; i < events; i++) {
                made.add(creations.next(true));
            }
            List<ProducerRecord<byte[], byte[]>> records = encoded(made, registry.url());
            Rounds paces = new Rounds(rounds, progress)
                    .run("events published, 1/s", (round, turn) -> round(made, records, registry.url(), round, turn));
            String batch = " of %,d".formatted(BATCH);
            return List.of(
                    paces.figure("publish, events", "1/s", "publish", BASELINE, "send"),
                    paces.figure(
                            "publishAll" + batch + ", events",
                            "1/s",
                            "publishAll",
                            BASELINE + ", batches" + batch,
                            "send batches"));
        } finally {
            FreshBroker.delete(directory);
        }
    }

    /** Returns the records that a publisher makes of the events. */
    private static List<ProducerRecord<byte[], byte[]>> encoded(List<Event> events, String schemaRegistry) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(events.size());
        try (AvroSerializer serializer = new AvroSerializer()) {
            serializer.configure(Map.of("schema.registry.url", schemaRegistry), false);
            for (Event event : events) {
                byte[] value = Objects.requireNonNull(serializer.serialize(Topics.EVENTS, EventAvro.toAvro(event)));
                records.add(new ProducerRecord<>(Topics.EVENTS, event.puri().toBytes(), value));
            }
        }
        return records;
    }

    private void round(
            List<Event> made,
            List<ProducerRecord<byte[], byte[]>> records,
            String schemaRegistry,
            int round,
            Rounds.Turn turn)
            throws Exception {
        try (FreshBroker broker = FreshBroker.start()) {
            Map<String, String> properties =
                    Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemaRegistry);
            try (IdentityPublisher publisher = new IdentityPublisher(properties);
                    KafkaProducer<byte[], byte[]> producer = BareProducer.open(properties)) {
                // Both have metadata and a producer id before the clock starts.
                publisher.publishSync(made.getFirst());
                producer.send(records.getFirst()).get();
                Rounds.measureRotated(
                        round,
                        () -> turn.record("publish", pace(() -> publish(publisher, made))),
                        () -> turn.record("send", pace(() -> send(producer, records))),
                        () -> turn.record("publishAll", pace(() -> publishAll(publisher, made))),
                        () -> turn.record("send batches", pace(() -> sendBatches(producer, records))));
            }
        }
    }

    private double pace(Publication publication) throws Exception {
        long begun = System.nanoTime();
        publication.run();
        return events / Pace.seconds(begun);
    }

    private static void publish(IdentityPublisher publisher, List<Event> events) {
        LongAdder acknowledged = new LongAdder();
        for (Event event : events) {
            var unused = publisher.publish(event).whenComplete((token, error) -> count(error, acknowledged));
        }
        publisher.flush();
        requireAll(acknowledged, events.size());
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records) {
        LongAdder acknowledged = new LongAdder();
        for (ProducerRecord<byte[], byte[]> each : records) {
            var unused = producer.send(fresh(each), (metadata, error) -> count(error, acknowledged));
        }
        producer.flush();
        requireAll(acknowledged, records.size());
    }

    private static void count(@Nullable Throwable error, LongAdder acknowledged) {
        if (error == null) {
            acknowledged.increment();
        }
    }

    private static void requireAll(LongAdder acknowledged, int expected) {
        if (acknowledged.sum() != expected) {
            throw new IllegalStateException("only " + acknowledged + " of " + expected + " events were acknowledged");
        }
    }

    private static void publishAll(IdentityPublisher publisher, List<Event> events) {
        for (int from = 0; from < events.size(); from += BATCH) {
            for (Delivery each : publisher.publishAll(events.subList(from, Math.min(from + BATCH, events.size())))) {
                if (each instanceof Delivery.Failed failed) {
                    throw failed.error();
                }
            }
        }
    }

    private static void sendBatches(
            KafkaProducer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        for (int from = 0; from < records.size(); from += BATCH) {
            List<Future<RecordMetadata>> sent = new ArrayList<>(BATCH);
            for (ProducerRecord<byte[], byte[]> each : records.subList(from, Math.min(from + BATCH, records.size()))) {
                sent.add(producer.send(fresh(each)));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }

    /** Returns a new record of the same bytes, because a producer closes the headers of each record that it sends. */
    private static ProducerRecord<byte[], byte[]> fresh(ProducerRecord<byte[], byte[]> same) {
        return new ProducerRecord<>(same.topic(), same.key(), same.value());
    }
}
