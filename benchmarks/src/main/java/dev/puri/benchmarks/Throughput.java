package dev.puri.benchmarks;

import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/**
 * Events a second through the topology, all of them creations with handles, beside those through the
 * {@linkplain BareJob bare job}. A round lays the events up in a fresh broker, starts one of the two
 * and reads identities until the last one is there.
 */
final class Throughput {
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(60);

    /** For what does not grow with the events: markers of transactions, the topology's other topics. */
    private static final long SLACK_BYTES = 4 << 20;

    private final Creations.Encoded events;
    private final Configuration configuration;
    private final Consumer<String> progress;

    Throughput(Creations.Encoded events, Configuration configuration, Consumer<String> progress) {
        this.events = events;
        this.configuration = configuration;
        this.progress = progress;
    }

    /** One side's round: its pace, and how many bytes that left in the broker's logs. */
    private record Round(Drain.Pace pace, long bytesLogged) {
        String text() {
            return "%,.0f/s, %.1f µs of processor each, %,d MB logged"
                    .formatted(pace.perSecond(), pace.cpuMicros(), bytesLogged / 1_000_000);
        }
    }

    /**
     * @param warmUp rounds of each side that do not count, at least one; the first shows how long our records are
     */
    Figure measure(int warmUp, int rounds) throws Exception {
        BareJob.Sizes[] sizes = new BareJob.Sizes[1];
        for (int round = 1; round <= warmUp; round++) {
            Round our = ours(sizes);
            Round their = theirs(sizes[0]);
            report("warm-up", our, their);
            requireSameBytes(our.bytesLogged, their.bytesLogged);
        }
        List<Double> ours = new ArrayList<>();
        List<Double> theirs = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
            Round our = ours(sizes);
            Round their = theirs(sizes[0]);
            report("round " + round + " of " + rounds, our, their);
            ours.add(our.pace.perSecond());
            theirs.add(their.pace.perSecond());
        }
        return new Figure("events through the topology", "1/s", median(ours), "bare Kafka Streams job", median(theirs));
    }

    /** A baseline that moved less, or more, would be none. */
    private static void requireSameBytes(long ours, long theirs) {
        if (Math.abs(ours - theirs) > ours / 10 + SLACK_BYTES) {
            throw new IllegalStateException("the topology logged " + ours + " bytes and the bare job " + theirs
                    + ": they do not move the same");
        }
    }

    private void report(String round, Round ours, Round theirs) {
        progress.accept("%s: ours %s; bare job %s; ratio %.2f; load average %s"
                .formatted(
                        round,
                        ours.text(),
                        theirs.text(),
                        ours.pace.perSecond() / theirs.pace.perSecond(),
                        Machine.load()));
    }

    private Round ours(BareJob.Sizes[] sizes) throws Exception {
        try (FreshBroker broker = prepared();
                Drain drain = new Drain(broker.bootstrapServers())) {
            StreamsSettings settings = configuration.of(broker);
            try (RegistryStreams service = RegistryStreams.start(settings)) {
                Drain.Pace pace =
                        drain.paceOf(events.count(), () -> !service.ended().isDone());
                // The tally is told after each record, the row is seen after the commit: it cannot be behind.
                if (service.tally().applied() != events.count()) {
                    throw new IllegalStateException("not all events were applied: " + service.tally());
                }
                sizes[0] = BareJob.Sizes.read(broker.bootstrapServers(), settings.streamsApplicationId());
                return new Round(pace, broker.bytesLogged());
            }
        }
    }

    private Round theirs(BareJob.Sizes sizes) throws Exception {
        try (FreshBroker broker = prepared();
                Drain drain = new Drain(broker.bootstrapServers())) {
            StreamsSettings same = configuration.of(broker);
            broker.createTopic(BareJob.CLAIMS, BareJob.CLAIMS_CONFIGS);
            try (KafkaStreams job = new KafkaStreams(BareJob.topology(sizes), BareJob.properties(same))) {
                job.setUncaughtExceptionHandler(e -> {
                    progress.accept("the bare job failed: " + e);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
                job.start();
                Drain.Pace pace =
                        drain.paceOf(events.count(), () -> !job.state().hasStartedOrFinishedShuttingDown());
                long logged = broker.bytesLogged();
                if (!job.close(CLOSE_WITHIN)) {
                    throw new IllegalStateException("the bare job did not stop");
                }
                return new Round(pace, logged);
            }
        }
    }

    /** A broker with the events and the declaration that their handles need. */
    private FreshBroker prepared() throws Exception {
        // What the last round left on the heap is not this one's to collect.
        System.gc();
        FreshBroker broker = FreshBroker.start();
        try {
            configuration.declare(broker, Creations.COLLECTION);
            events.publish(broker.bootstrapServers());
            return broker;
        } catch (Exception e) {
            broker.close();
            throw e;
        }
    }

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
