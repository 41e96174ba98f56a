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
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Puri;
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
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Measures publishing to a broker in this process, until all events are acknowledged. The first baseline is a producer
 * with the properties of the publisher. It sends the same events, which the publisher's serializer encoded before the
 * clock starts. The second baseline encodes them while the clock runs, with Avro's writer of generated classes, as a
 * service without the publisher would. Each round has a new broker and begins with another side.
 *
 * <p>All sides publish the same ten thousand events repeatedly. A service publishes an event that it has just created,
 * which is in the processor's cache; half a million prepared events would not be.
 */
record PublishBench(ClientBench bench) {
    /** Number of events in a call of {@code publishAll}. */
    private static final int BATCH = 1000;

    private static final int DISTINCT_EVENTS = 10 * BATCH;

    private static final String BASELINE = "bare KafkaProducer, same bytes";
    private static final String ENCODING = "bare KafkaProducer, Avro's writer";

    void measure() throws Exception {
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry();
                AvroSerializer serializer = new AvroSerializer()) {
            serializer.configure(Map.of("schema.registry.url", registry.url()), false);
            List<Event> events = new Creations().next(Math.min(bench.events, DISTINCT_EVENTS));
            List<Encoded> records =
                    events.stream().map(event -> Encoded.of(event, serializer)).toList();
            ServerSettings settings = ServerSettings.of(registry);
            Rounds rounds = bench.measureRounds(
                    bench.rounds,
                    "events published, 1/s",
                    (round, recorder) -> measure(events, records, serializer, settings, round, recorder));
            String batch = " of %,d".formatted(BATCH);
            rounds.add("publish, events", "1/s", "publish", BASELINE, "send");
            rounds.add(
                    "publish, events, beside a producer that encodes", "1/s", "publish", ENCODING, "encode and send");
            rounds.add(
                    "publishAll" + batch + ", events",
                    "1/s",
                    "publishAll",
                    BASELINE + ", batches" + batch,
                    "send batches");
        }
    }

    /** An event as the baselines need it before the clock starts. */
    private record Encoded(Puri puri, IdentityEvent avro, byte[] key, byte[] value) {
        static Encoded of(Event event, AvroSerializer serializer) {
            IdentityEvent avro = EventAvro.toAvro(event);
            byte[] value = Objects.requireNonNull(serializer.serialize(Topics.EVENTS, avro));
            return new Encoded(event.puri(), avro, event.puri().toBytes(), value);
        }

        /**
         * Returns a new record of the same bytes, because a producer closes the headers of each record that it sends.
         */
        ProducerRecord<byte[], byte[]> newRecord() {
            return new ProducerRecord<>(Topics.EVENTS, key, value);
        }

        /** Returns a new record, and encodes the event for it. */
        ProducerRecord<byte[], byte[]> encode(AvroSerializer serializer) {
            return new ProducerRecord<>(Topics.EVENTS, puri.toBytes(), serializer.serialize(Topics.EVENTS, avro));
        }
    }

    private void measure(
            List<Event> events,
            List<Encoded> records,
            AvroSerializer serializer,
            ServerSettings settings,
            int round,
            Rounds.Recorder recorder)
            throws Exception {
        try (FreshBroker broker = new FreshBroker();
                IdentityPublisher publisher = new IdentityPublisher(settings.client(broker));
                KafkaProducer<byte[], byte[]> producer = BareProducer.open(settings.client(broker))) {
            // After this, both sides have metadata and a producer id.
            publisher.publishSync(events.getFirst());
            producer.send(records.getFirst().newRecord()).get();
            Rounds.measureRotated(
                    round,
                    () -> recorder.record("publish", perSecond(() -> publish(publisher, events))),
                    () -> recorder.record("send", perSecond(() -> send(producer, records, Encoded::newRecord))),
                    () -> recorder.record(
                            "encode and send",
                            perSecond(() -> send(producer, records, each -> each.encode(serializer)))),
                    () -> recorder.record("publishAll", perSecond(() -> publishAll(publisher, events))),
                    () -> recorder.record("send batches", perSecond(() -> sendBatches(producer, records))));
        }
    }

    /** Measures a side that publishes all events once, and returns when they are acknowledged. */
    private double perSecond(Rounds.Side side) throws Exception {
        long begun = System.nanoTime();
        side.measure();
        return bench.events / Timing.seconds(begun);
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

    private void send(
            KafkaProducer<byte[], byte[]> producer,
            List<Encoded> events,
            Function<Encoded, ProducerRecord<byte[], byte[]>> record) {
        LongAdder acknowledged = new LongAdder();
        for (int i = 0; i < bench.events; i++) {
            var unused = producer.send(
                    record.apply(events.get(i % events.size())), (metadata, error) -> count(error, acknowledged));
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
            for (Delivery each : publisher.publishAll(batch(events, from))) {
                if (each instanceof Delivery.Failed failed) {
                    throw failed.error();
                }
            }
        }
    }

    private void sendBatches(KafkaProducer<byte[], byte[]> producer, List<Encoded> records) throws Exception {
        for (int from = 0; from < bench.events; from += BATCH) {
            List<Future<RecordMetadata>> sent = new ArrayList<>(BATCH);
            for (Encoded event : batch(records, from)) {
                sent.add(producer.send(event.newRecord()));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }

    /** Returns the batch of all publications that begins here. */
    private <T> List<T> batch(List<T> distinct, int from) {
        int begin = from % distinct.size();
        return distinct.subList(begin, begin + Math.min(Math.min(BATCH, bench.events - from), distinct.size() - begin));
    }
}
