package dev.puri.projection.transactions;

import dev.puri.http.Health;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Comparator;
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
 * Finds transactions that never end, in partitions that a server reads with {@code read_committed}. A consumer cannot
 * notice such a transaction: it takes the last stable offset for the end and reports no lag. A store that is restored
 * to the high watermark waits for ever. So this monitor requests both offsets from the brokers every 5 s.
 *
 * <p>A transaction hangs if its partition has waited longer than {@link OpenTransaction#maxWait}. The server is then
 * unready, because its responses lack everything that was committed after the transaction.
 */
public final class TransactionMonitor implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TransactionMonitor.class);
    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    /**
     * The maximum number of stalled partitions that a check examines and reports. It bounds the requests if a whole
     * cluster hangs.
     */
    private static final int MAX_PARTITIONS = 20;

    private final Supplier<TransactionReader> readers;
    private final Predicate<String> essential;
    private final LongSupplier nanoTime;
    private final StallTimer stalls = new StallTimer();
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("transaction-monitor", stop, RetryPolicy.fixed(PERIOD), this::check, this::onFailure);

    private volatile @Nullable TransactionReader reader;
    private volatile List<HangingTransaction> hanging = List.of();
    private final FailureState failure = new FailureState();

    /**
     * @param readers creates the client of the brokers at the first check
     * @param essential selects the topics in which a hanging transaction makes the server unready; in other topics it
     *     is only reported
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    TransactionMonitor(
            Supplier<TransactionReader> readers,
            Predicate<String> essential,
            LongSupplier nanoTime,
            MeterRegistry meters) {
        this.readers = readers;
        this.essential = essential;
        this.nanoTime = nanoTime;
        Gauge.builder("puri.transactions.hanging", this, monitor -> monitor.hanging.size())
                .description("Partitions that cannot be read further because a transaction in them hangs; at most "
                        + MAX_PARTITIONS + " are counted")
                .register(meters);
    }

    /**
     * Creates a monitor, which {@link #start} starts. Topics may not exist yet, and the brokers may be unavailable.
     *
     * @param kafka the user's Kafka properties
     * @param topics selects the followed topics by name
     * @param essential selects the followed topics in which a hanging transaction makes the server unready; in other
     *     topics it is only reported
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

    /** Starts the monitor. May be called once. */
    public void start() {
        thread.start();
    }

    /**
     * Returns which transaction hangs in an essential topic, so that committed records may be missing; null if none
     * does.
     */
    public @Nullable String unreadyReason() {
        List<HangingTransaction> inEssentialTopics = hanging.stream()
                .filter(transaction -> isEssential(transaction.stalled()))
                .toList();
        return inEssentialTopics.isEmpty()
                ? null
                : inEssentialTopics.getFirst().reason()
                        + (inEssentialTopics.size() == 1 ? "" : " (and " + (inEssentialTopics.size() - 1) + " more)");
    }

    /**
     * Returns the health: down while a transaction hangs in an essential topic. The details list all hanging
     * transactions and what an operator should do.
     */
    public Health.State ready() {
        Map<String, Object> details = new LinkedHashMap<>();
        List<HangingTransaction> current = hanging;
        String reason = unreadyReason();
        String checkFailure = failure.reason();
        if (reason != null) {
            details.put("reason", reason);
        }
        if (!current.isEmpty()) {
            details.put(
                    "hanging", current.stream().map(HangingTransaction::details).toList());
        }
        if (checkFailure != null) {
            details.put("detail", "the check for hanging transactions failed: " + checkFailure);
        }
        return new Health.State(reason == null, details);
    }

    /** Checks all partitions once. */
    void check() {
        TransactionReader currentReader = reader;
        if (currentReader == null) {
            currentReader = readers.get();
            reader = currentReader;
        }
        // close() may have run before the reader existed. Then nothing would end its requests.
        if (stop.isRequested()) {
            return;
        }
        List<StalledPartition> stalled = stalls.observe(currentReader.offsets(), nanoTime.getAsLong()).stream()
                .filter(stall -> stall.stalledFor().compareTo(OpenTransaction.MARKER_DELAY) >= 0)
                .sorted(Comparator.comparing((StalledPartition stall) -> !isEssential(stall))
                        .thenComparing(StalledPartition::stalledFor, Comparator.reverseOrder()))
                .limit(MAX_PARTITIONS)
                .toList();
        List<HangingTransaction> found =
                withPrevious(stalled.isEmpty() ? List.of() : findHanging(currentReader, stalled));
        logChanges(found);
        hanging = found;
        failure.clear();
    }

    /**
     * Adds the hanging transactions of the previous check whose partitions are still stalled. They may be missing from
     * {@code found} because the leader of the partition or the coordinator of the transaction does not respond.
     */
    private List<HangingTransaction> withPrevious(List<HangingTransaction> found) {
        Stream<HangingTransaction> stillStalled = hanging.stream()
                .filter(previous -> stalls.isStillStalled(previous.stalled()))
                .filter(previous -> !contains(found, previous));
        return Stream.concat(found.stream(), stillStalled)
                .sorted(Comparator.comparing(transaction -> !isEssential(transaction.stalled())))
                .limit(MAX_PARTITIONS)
                .toList();
    }

    /** Essential topics are checked first, so that many stalled partitions of other topics cannot hide one of them. */
    private boolean isEssential(StalledPartition stall) {
        return essential.test(stall.partition().topic());
    }

    private static boolean contains(List<HangingTransaction> transactions, HangingTransaction transaction) {
        return transactions.stream().anyMatch(other -> other.stalled().isSameStall(transaction.stalled()));
    }

    private List<HangingTransaction> findHanging(TransactionReader currentReader, List<StalledPartition> stalled) {
        Map<?, OpenTransaction> open = currentReader.openTransactions(stalled);
        // The transaction may have ended after the offsets were read, and the coordinator may already report the next
        // one. So read the offsets again and drop partitions that moved on.
        List<StalledPartition> stillStalled = stalls.observe(currentReader.offsets(), nanoTime.getAsLong());
        return stalled.stream()
                .filter(stall -> stillStalled.stream().anyMatch(stall::isSameStall))
                .map(stall -> new HangingTransaction(stall, open.get(stall.partition())))
                .filter(candidate -> hasTakenTooLong(candidate, currentReader))
                .toList();
    }

    private static boolean hasTakenTooLong(HangingTransaction candidate, TransactionReader currentReader) {
        OpenTransaction transaction = candidate.transaction();
        // Requests the maximum from the brokers only if it is needed.
        Duration maxTimeout =
                transaction == null || transaction.report() == null ? currentReader.maxTimeout() : Duration.ZERO;
        return candidate.stalled().stalledFor().compareTo(OpenTransaction.maxWait(transaction, maxTimeout)) >= 0;
    }

    /** Logs the transactions that hang now, and those that no longer hang. */
    private void logChanges(List<HangingTransaction> found) {
        for (HangingTransaction transaction : found) {
            if (!contains(hanging, transaction)) {
                log.warn("{}. To repair it, {}", transaction.reason(), transaction.action());
            }
        }
        for (HangingTransaction previous : hanging) {
            if (!contains(found, previous)) {
                log.info(
                        "{} can be read beyond offset {} again",
                        previous.stalled().partition(),
                        previous.stalled().offsets().lastStable());
            }
        }
    }

    private void onFailure(Throwable cause) {
        String reason = cause instanceof KafkaException ? String.valueOf(cause.getMessage()) : cause.toString();
        if (failure.changeTo(reason)) {
            if (cause instanceof KafkaException) {
                log.info("The check for hanging transactions failed: {}", reason);
            } else {
                log.error("The check for hanging transactions failed", cause);
            }
        }
    }

    @Override
    public void close() {
        stop.request();
        closeReader();
        if (!thread.join(STOP_TIMEOUT)) {
            thread.interrupt();
        }
        // The thread may have created the reader meanwhile.
        closeReader();
    }

    private void closeReader() {
        TransactionReader currentReader = reader;
        if (currentReader != null) {
            currentReader.close();
        }
    }
}
