package dev.puri.tail.transactions;

import dev.puri.http.Health;
import dev.puri.tail.FailureState;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.transactions.StableOffsets.Stalled;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches for transactions that never end in partitions that a server reads with {@code read_committed}. A consumer
 * notices nothing: it believes that it has read everything, because the last stable offset counts as the end for it,
 * and a store that is restored to the partition's true end waits for ever. So the brokers are asked for both offsets
 * every 5 s.
 *
 * <p>A transaction hangs when its partition has waited longer for it than it may take ({@link
 * OpenTransaction#mayTake}). The server is unready then: whatever is committed after it is missing from its answers.
 */
public final class TransactionMonitor implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TransactionMonitor.class);
    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final Duration STOP = Duration.ofSeconds(5);

    /** So many partitions are asked about at a time; a whole cluster may have stopped. */
    private static final int MOST = 20;

    private final Supplier<TransactionView> views;
    private final Predicate<String> essential;
    private final LongSupplier nanoTime;
    private final StableOffsets offsets = new StableOffsets();
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("transaction-watch", stop, RetryPolicy.fixed(PERIOD), this::look, this::failed);

    private volatile @Nullable TransactionView view;
    private volatile List<HangingTransaction> hanging = List.of();
    private final FailureState trouble = new FailureState();

    /**
     * @param views makes the brokers' view at the first look
     * @param essential topics without which the server is unready; the others are only reported
     * @param nanoTime the clock
     */
    TransactionMonitor(
            Supplier<TransactionView> views, Predicate<String> essential, LongSupplier nanoTime, MeterRegistry meters) {
        this.views = views;
        this.essential = essential;
        this.nanoTime = nanoTime;
        Gauge.builder("puri.transactions.hanging", this, watch -> watch.hanging.size())
                .description("Partitions that cannot be read on because a transaction in them does not end")
                .register(meters);
    }

    /**
     * Creates a monitor that {@link #start} starts; brokers and topics need not be there yet.
     *
     * @param kafka properties of the user's choice
     * @param topics names of the topics that are followed, whether they exist or not
     * @param essential those of them without which the server is unready; the others are only reported
     */
    public static TransactionMonitor of(
            Map<String, String> kafka,
            String bootstrapServers,
            Predicate<String> topics,
            Predicate<String> essential,
            MeterRegistry meters) {
        return new TransactionMonitor(
                () -> new BrokerTransactions(kafka, bootstrapServers, topics), essential, System::nanoTime, meters);
    }

    /** Starts to look; once. */
    public void start() {
        thread.start();
    }

    /** Why what is read may lack committed records; null when it does not for this reason. */
    public @Nullable String reason() {
        List<HangingTransaction> found = hanging.stream()
                .filter(each -> essential.test(each.stalled().partition().topic()))
                .toList();
        return found.isEmpty()
                ? null
                : found.getFirst().reason() + (found.size() == 1 ? "" : " (and " + (found.size() - 1) + " more)");
    }

    /** Down while a transaction hangs in an essential topic; shows each, with what an operator does about it. */
    public Health.State ready() {
        Map<String, Object> details = new LinkedHashMap<>();
        List<HangingTransaction> found = hanging;
        String reason = reason();
        String unseen = trouble.reason();
        if (reason != null) {
            details.put("reason", reason);
        }
        if (!found.isEmpty()) {
            details.put(
                    "hanging", found.stream().map(HangingTransaction::details).toList());
        }
        if (unseen != null) {
            details.put("detail", "not looked for: " + unseen);
        }
        return new Health.State(reason == null, details);
    }

    /** Looks once. */
    void look() {
        TransactionView asked = view;
        if (asked == null) {
            asked = views.get();
            view = asked;
        }
        List<Stalled> stalled = offsets.observe(asked.offsets(), nanoTime.getAsLong()).stream()
                .filter(each -> each.since().compareTo(OpenTransaction.ENDED_WITHIN) >= 0)
                .sorted((one, other) -> other.since().compareTo(one.since()))
                .limit(MOST)
                .toList();
        List<HangingTransaction> found = withEarlier(stalled.isEmpty() ? List.of() : hanging(asked, stalled));
        report(found);
        hanging = found;
        trouble.clear();
    }

    /**
     * A transaction that was found to hang does so until its partition can be read on, also while the broker that leads
     * the partition or coordinates the transaction does not answer.
     */
    private List<HangingTransaction> withEarlier(List<HangingTransaction> found) {
        Stream<HangingTransaction> earlier = hanging.stream()
                .filter(before -> offsets.isStillStalled(before.stalled()))
                .filter(before ->
                        found.stream().noneMatch(each -> each.stalled().isSameAs(before.stalled())));
        return Stream.concat(found.stream(), earlier).limit(MOST).toList();
    }

    private List<HangingTransaction> hanging(TransactionView asked, List<Stalled> stalled) {
        Map<?, OpenTransaction> open = asked.open(stalled);
        // A transaction may end between the two requests; the coordinator then reports a state that is too new.
        List<Stalled> still = offsets.observe(asked.offsets(), nanoTime.getAsLong());
        return stalled.stream()
                .filter(each -> still.stream().anyMatch(each::isSameAs))
                .map(each -> new HangingTransaction(each, open.get(each.partition())))
                .filter(each -> hasTakenTooLong(each, asked))
                .toList();
    }

    private static boolean hasTakenTooLong(HangingTransaction each, TransactionView asked) {
        Duration longest = each.transaction() == null || each.transaction().coordinator() == null
                ? asked.longestTimeout()
                : Duration.ZERO;
        return each.stalled().since().compareTo(OpenTransaction.mayTake(each.transaction(), longest)) >= 0;
    }

    /** Logs once that a transaction hangs, and once that it does no more. */
    private void report(List<HangingTransaction> found) {
        for (HangingTransaction each : found) {
            if (hanging.stream().noneMatch(before -> before.stalled().isSameAs(each.stalled()))) {
                log.warn("{}. To repair it, {}", each.reason(), each.action());
            }
        }
        for (HangingTransaction before : hanging) {
            if (found.stream().noneMatch(each -> each.stalled().isSameAs(before.stalled()))) {
                log.info(
                        "{} can be read beyond offset {} again",
                        before.stalled().partition(),
                        before.stalled().offsets().lastStable());
            }
        }
    }

    private void failed(Throwable cause) {
        String what = cause instanceof KafkaException ? String.valueOf(cause.getMessage()) : cause.toString();
        if (trouble.changeTo(what)) {
            if (cause instanceof KafkaException) {
                log.info("Hanging transactions are not looked for now: {}", what);
            } else {
                log.error("Hanging transactions are not looked for now", cause);
            }
        }
    }

    @Override
    public void close() {
        stop.ask();
        closeView();
        if (!thread.join(STOP)) {
            thread.interrupt();
        }
        // It may have been made meanwhile.
        closeView();
    }

    private void closeView() {
        TransactionView asked = view;
        if (asked != null) {
            asked.close();
        }
    }
}
