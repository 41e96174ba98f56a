package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.client.BareProducer;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroSerializer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Measures publishing to a broker in this process, until all events are acknowledged. The baseline is a producer with
 * the properties of the publisher. It sends the same events, which the publisher's serializer encoded before the clock
 * starts. Each round has a new broker and begins with another side.
 *
 * <p>Both sides publish the same ten thousand events repeatedly. A service publishes an event that it has just created,
 * which is in the processor's cache; half a million prepared events would not be.
 */
record PublishBench(ClientBench bench) {
    /** Number of events in a call of {@code publishAll}. */
    private static final int BATCH = 1000;

    private static final int DISTINCT_EVENTS = 10 * BATCH;

    private static final String BASELINE = "bare KafkaProducer, same bytes";

    /** Publishes all events once, and returns when they are acknowledged. */
    private interface Publication {
        void run() throws Exception;
    }

    void measure() throws Exception {
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry()) {
            List<Event> events = new Creations().next(Math.min(bench.events, DISTINCT_EVENTS));
            List<ProducerRecord<byte[], byte[]>> records = encode(events, registry.url());
            ServerSettings settings = ServerSettings.of(registry);
            Rounds rounds = bench.measureRounds(
                    bench.rounds,
                    "events published, 1/s",
                    (round, recorder) -> measure(events, records, settings, round, recorder));
            String batch = " of %,d".formatted(BATCH);
            rounds.add("publish, events", "1/s", "publish", BASELINE, "send");
            rounds.add(
                    "publishAll" + batch + ", events",
                    "1/s",
                    "publishAll",
                    BASELINE + ", batches" + batch,
                    "send batches");
        }
    }

    /** Returns the records that a publisher would send for these events. */
    private static List<ProducerRecord<byte[], byte[]>> encode(List<Event> events, String schemaRegistry) {
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

    private void measure(
            List<Event> events,
            List<ProducerRecord<byte[], byte[]>> records,
            ServerSettings settings,
            int round,
            Rounds.Recorder recorder)
            throws Exception {
        try (FreshBroker broker = new FreshBroker();
                IdentityPublisher publisher = new IdentityPublisher(settings.client(broker));
                KafkaProducer<byte[], byte[]> producer = BareProducer.open(settings.client(broker))) {
            // After this, both sides have metadata and a producer id.
            publisher.publishSync(events.getFirst());
            producer.send(records.getFirst()).get();
            Rounds.measureRotated(
                    round,
                    () -> recorder.record("publish", perSecond(() -> publish(publisher, events))),
                    () -> recorder.record("send", perSecond(() -> send(producer, records))),
                    () -> recorder.record("publishAll", perSecond(() -> publishAll(publisher, events))),
                    () -> recorder.record("send batches", perSecond(() -> sendBatches(producer, records))));
        }
    }

    private double perSecond(Publication publication) throws Exception {
        long startNanos = System.nanoTime();
        publication.run();
        return bench.events / Timing.seconds(startNanos);
    }

    private void publish(IdentityPublisher publisher, List<Event> events) {
        LongAdder acknowledged = new LongAdder();
        for (int i = 0; i < bench.events; i++) {
            Event event = events.get(i % events.size());
            var unused = publisher.publish(event).whenComplete((token, error) -> count(error, acknowledged));
        }
        publisher.flush();
        requireAll(acknowledged);
    }

    private void send(KafkaProducer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records) {
        LongAdder acknowledged = new LongAdder();
        for (int i = 0; i < bench.events; i++) {
            ProducerRecord<byte[], byte[]> record = copy(records.get(i % records.size()));
            var unused = producer.send(record, (metadata, error) -> count(error, acknowledged));
        }
        producer.flush();
        requireAll(acknowledged);
    }

    private static void count(@Nullable Throwable error, LongAdder acknowledged) {
        if (error == null) {
            acknowledged.increment();
        }
    }

    private void requireAll(LongAdder acknowledged) {
        if (acknowledged.sum() != bench.events) {
            throw new IllegalStateException(
                    "only " + acknowledged + " of " + bench.events + " events were acknowledged");
        }
    }

    private void publishAll(IdentityPublisher publisher, List<Event> events) {
        for (int from = 0; from < bench.events; from += BATCH) {
            for (Delivery delivery : publisher.publishAll(batch(events, from))) {
                if (delivery instanceof Delivery.Failed failed) {
                    throw failed.error();
                }
            }
        }
    }

    private void sendBatches(KafkaProducer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records)
            throws Exception {
        for (int from = 0; from < bench.events; from += BATCH) {
            List<Future<RecordMetadata>> sent = new ArrayList<>(BATCH);
            for (ProducerRecord<byte[], byte[]> record : batch(records, from)) {
                sent.add(producer.send(copy(record)));
            }
            for (Future<RecordMetadata> acknowledgement : sent) {
                acknowledgement.get();
            }
        }
    }

    /** Returns the batch that begins with the publication of this number; publications repeat the distinct events. */
    private <T> List<T> batch(List<T> distinct, int from) {
        int begin = from % distinct.size();
        return distinct.subList(begin, begin + Math.min(Math.min(BATCH, bench.events - from), distinct.size() - begin));
    }

    /** Returns a new record with the same bytes, because a producer closes the headers of a record that it sends. */
    private static ProducerRecord<byte[], byte[]> copy(ProducerRecord<byte[], byte[]> record) {
        return new ProducerRecord<>(record.topic(), record.key(), record.value());
    }
}
