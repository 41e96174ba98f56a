package dev.puri.benchmarks;

import dev.puri.benchmarks.ThroughputSide.Round;
import dev.puri.benchmarks.ThroughputSide.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/**
 * Events a second through the topology, all of them creations with handles, beside those through the
 * {@linkplain BareJob bare job}. Each side runs its rounds in processes of its own, one after the other. A round lays the
 * events up in a fresh broker, starts the side and reads identities until the last one is there.
 */
final class Throughput {
    /** For what does not grow with the events: markers of transactions, the topology's other topics. */
    private static final long SLACK_BYTES = 4 << 20;

    private static final String BASELINE = "bare Kafka Streams job";

    private final Task task;
    private final int warmUp;
    private final Consumer<String> progress;

    /**
     * @param task of each process of the topology
     * @param warmUp rounds of each process that do not count
     */
    Throughput(Task task, int warmUp, Consumer<String> progress) {
        this.task = task;
        this.warmUp = warmUp;
        this.progress = progress;
    }

    /**
     * @param forks processes of each side
     */
    List<Figure> measure(int forks) throws IOException, InterruptedException {
        List<Round> ours = new ArrayList<>();
        List<Round> theirs = new ArrayList<>();
        for (int fork = 1; fork <= forks; fork++) {
            String of = ", process " + fork + " of " + forks + ": ";
            List<Round> our = ThroughputSide.run(task, round -> progress.accept("topology" + of + round.text()));
            // The first shows how long our records are.
            Task same = task.withSizes(Objects.requireNonNull(our.getFirst().sizes()));
            List<Round> their = ThroughputSide.run(same, round -> progress.accept(BASELINE + of + round.text()));
            requireSameBytes(our.getLast().bytesLogged(), their.getLast().bytesLogged());
            ours.addAll(our.subList(warmUp, our.size()));
            theirs.addAll(their.subList(warmUp, their.size()));
            progress.accept("ratio %.2f; load average %s"
                    .formatted(median(ours, Round::perSecond) / median(theirs, Round::perSecond), Machine.load()));
        }
        return List.of(
                figure("events through the topology", "1/s", ours, theirs, Round::perSecond),
                figure("processor time for each event, broker included", "µs", ours, theirs, Round::cpuMicros));
    }

    private static Figure figure(
            String name, String unit, List<Round> ours, List<Round> theirs, ToDoubleFunction<Round> value) {
        return new Figure(name, unit, median(ours, value), BASELINE, median(theirs, value));
    }

    /** A baseline that moved less, or more, would be none. */
    private static void requireSameBytes(long ours, long theirs) {
        if (Math.abs(ours - theirs) > ours / 10 + SLACK_BYTES) {
            throw new IllegalStateException("the topology logged " + ours + " bytes and the bare job " + theirs
                    + ": they do not move the same");
        }
    }

    private static double median(List<Round> rounds, ToDoubleFunction<Round> value) {
        return median(rounds.stream().mapToDouble(value).boxed().toList());
    }

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
