package dev.puri.cli;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a stream of event lines in bounded memory.
 *
 * <pre>
 * line → event → echo → publisher → acknowledged → (with --wait) outcome → counted
 *   └ malformed             └─────── at most {@value #MAX_UNSETTLED} ───────┘
 * </pre>
 *
 * <p>An invalid line is reported and skipped. After an event that could not be published no further lines are sent, and
 * the first line that was not acknowledged is reported.
 */
final class Publication {
    /** The most events without an outcome, which bounds memory. */
    static final int MAX_UNSETTLED = 50_000;

    /** Brokers accept records of at most 1 MiB, and a line is at most a few times longer than its event. */
    static final int MAX_LINE_BYTES = 4 << 20;

    /**
     * The most events without an acknowledgement. A record expires after the delivery time-out even while others are
     * acknowledged, so the records before it must not take that long.
     */
    private static final int MAX_UNACKNOWLEDGED = 10_000;

    /** After this time without progress a message says what the command waits for. */
    private static final Duration STALL_REPORT_INTERVAL = Duration.ofSeconds(5);

    private static final long PROGRESS_NANOS = Duration.ofMillis(200).toNanos();

    private final Console console;
    private final CliSettings settings;
    private final Options options;
    private final Semaphore unsettledPermits = new Semaphore(MAX_UNSETTLED);
    private final Semaphore unacknowledgedPermits = new Semaphore(MAX_UNACKNOWLEDGED);
    private final Counts counts = new Counts();
    private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();
    private long nextProgress = System.nanoTime();

    /**
     * @param outcomes whether to wait for outcomes
     * @param echo whether to print each event before it is sent
     * @param timeout time without progress after which publishing fails
     */
    record Options(boolean outcomes, boolean echo, Duration timeout) {}

    private record Failure(long line, PublishException cause) {}

    private static final class Counts {
        final AtomicLong published = new AtomicLong();
        final AtomicLong failed = new AtomicLong();
        final AtomicLong malformed = new AtomicLong();
        final AtomicLong applied = new AtomicLong();
        final AtomicLong unchanged = new AtomicLong();
        final AtomicLong refused = new AtomicLong();
    }

    /**
     * Counts of the lines.
     *
     * @param published acknowledged events
     * @param outcomes whether the command waited for outcomes; if not, the next three are zero
     * @param malformed invalid lines, which were not sent
     * @param failed events that were not acknowledged
     * @param unanswered acknowledged events without an outcome in time
     */
    record Summary(
            long published,
            boolean outcomes,
            long applied,
            long unchanged,
            long refused,
            long malformed,
            long failed,
            long unanswered) {
        int exitStatus() {
            if (failed > 0 || unanswered > 0) {
                return ExitStatus.FAILED;
            }
            return malformed > 0 || refused > 0 ? ExitStatus.PARTLY : ExitStatus.DONE;
        }

        Map<String, Long> toJson() {
            Map<String, Long> json = new LinkedHashMap<>();
            json.put("published", published);
            if (outcomes) {
                json.put("applied", applied);
                json.put("unchanged", unchanged);
                json.put("refused", refused);
            }
            json.put("malformed", malformed);
            if (failed > 0) {
                json.put("failed", failed);
            }
            if (unanswered > 0) {
                json.put("unanswered", unanswered);
            }
            return json;
        }

        Table toTable() {
            Map<String, Long> json = toJson();
            List<String> header = new ArrayList<>();
            json.keySet().forEach(name -> header.add(name.toUpperCase(Locale.ROOT)));
            return new Table(header.toArray(String[]::new)).row(json.values().toArray());
        }
    }

    Publication(Console console, CliSettings settings, Options options) {
        this.console = console;
        this.settings = settings.withTimeout(options.timeout());
        this.options = options;
    }

    /**
     * Publishes all lines.
     *
     * @throws CommandException if the cluster or the registry is unreachable at the start, or there is no progress for
     *     too long
     */
    Summary publish(InputStream input) throws IOException, InterruptedException {
        Cluster cluster = new Cluster(console, settings, options.timeout());
        Declarations declared = cluster.declarations();
        try (OutcomeReader outcomes = options.outcomes()
                        ? cluster.retry("the topics of outcomes", () -> OutcomeReader.start(settings, this::onSettled))
                        : null;
                StallReporter stallReporter = new StallReporter();
                IdentityPublisher publisher = new IdentityPublisher(settings.clientProperties(), declared::ownsTopic)) {
            send(input, declared, publisher, outcomes);
            publisher.flush();
            int unanswered = outcomes == null ? 0 : outcomes.await(options.timeout());
            endProgress();
            return summary(unanswered);
        }
    }

    private Summary summary(int unanswered) {
        Failure failed = failure.get();
        if (failed != null) {
            console.say("line " + failed.line() + ": " + failed.cause().getMessage()
                    + "\nno more lines were read; publish again from line " + failed.line()
                    + (options.echo()
                            ? ", or what was echoed, which has the same ids"
                            : ". Ids that were minted are minted anew then; --echo would have kept them"));
        }
        if (unanswered > 0) {
            console.say(unanswered + " events have no outcome after "
                    + options.timeout().toSeconds() + " s; is puri streams running?");
        }
        return new Summary(
                counts.published.get(),
                options.outcomes(),
                counts.applied.get(),
                counts.unchanged.get(),
                counts.refused.get(),
                counts.malformed.get(),
                counts.failed.get(),
                unanswered);
    }

    private void send(
            InputStream input, Declarations declared, IdentityPublisher publisher, @Nullable OutcomeReader outcomes)
            throws IOException, InterruptedException {
        LineReader lines = new LineReader(input, MAX_LINE_BYTES);
        IdentityMinter minter = new IdentityMinter();
        for (LineReader.Line line = lines.next(); line != null && failure.get() == null; line = lines.next()) {
            Event event = event(line, declared, minter);
            if (event != null) {
                echo(event);
                acquirePermits(outcomes);
                send(line.number(), event, publisher, outcomes);
            }
            showProgress();
        }
    }

    /** Returns null if the line is blank, or invalid and reported. */
    private @Nullable Event event(LineReader.Line line, Declarations declared, IdentityMinter minter) {
        if (line instanceof LineReader.Unreadable unreadable) {
            malformed(line.number(), unreadable.why());
            return null;
        }
        String text = ((LineReader.Text) line).text();
        if (text.isBlank()) {
            return null;
        }
        switch (EventLineParser.parse(text)) {
            case EventLineParser.Invalid invalid -> {
                malformed(line.number(), String.join("; ", invalid.mistakes()));
                return null;
            }
            case EventLineParser.Valid valid -> {
                try {
                    return valid.line().complete(minter, declared, Instant.now());
                } catch (IllegalArgumentException e) {
                    malformed(line.number(), String.valueOf(e.getMessage()));
                    return null;
                }
            }
        }
    }

    private void malformed(long line, String why) {
        counts.malformed.incrementAndGet();
        say("line " + line + ": " + why);
    }

    /** Called before the event is sent, so that its minted ids are known even if sending fails. */
    private void echo(Event event) {
        if (options.echo()) {
            console.out().println(EventLinePrinter.print(event));
            if (console.out().checkError()) {
                throw CommandException.failed("what is echoed can no longer be written", null);
            }
        }
    }

    private void acquirePermits(@Nullable OutcomeReader outcomes) throws InterruptedException {
        if (outcomes != null) {
            outcomes.throwIfFailed();
        }
        // Acknowledgements and failures release permits, and each event has one within the delivery time-out.
        unacknowledgedPermits.acquire();
        if (!unsettledPermits.tryAcquire(options.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
            throw CommandException.failed(
                    MAX_UNSETTLED + " events are under way and none got further for "
                            + options.timeout().toSeconds() + " s; is puri streams running?",
                    null);
        }
    }

    private void send(long line, Event event, IdentityPublisher publisher, @Nullable OutcomeReader outcomes) {
        var unused = publisher.publish(event).whenComplete((position, error) -> {
            if (error != null) {
                onFailure(line, error);
            } else {
                onAcknowledged(line, position, outcomes);
            }
        });
    }

    private void onAcknowledged(long line, Position position, @Nullable OutcomeReader outcomes) {
        counts.published.incrementAndGet();
        unacknowledgedPermits.release();
        if (outcomes == null) {
            unsettledPermits.release();
        } else {
            outcomes.expect(position, line);
        }
    }

    private void onFailure(long line, Throwable error) {
        unsettledPermits.release();
        unacknowledgedPermits.release();
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause.getCause() instanceof RecordTooLargeException tooLarge) {
            malformed(line, "the event is too large: " + tooLarge.getMessage());
            return;
        }
        counts.failed.incrementAndGet();
        if (cause instanceof PublishException known) {
            failure.accumulateAndGet(new Failure(line, known), Publication::first);
        } else {
            throw new IllegalStateException("a publisher fails in one way only", cause);
        }
    }

    private static @Nullable Failure first(@Nullable Failure one, @Nullable Failure other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.line() < other.line() ? one : other;
    }

    private void onSettled(long line, Outcome outcome, String detail) {
        unsettledPermits.release();
        switch (outcome.kind()) {
            case APPLIED -> counts.applied.incrementAndGet();
            case UNCHANGED -> counts.unchanged.incrementAndGet();
            case REFUSED -> {
                counts.refused.incrementAndGet();
                say("line " + line + ": refused, " + outcome.reason() + (detail.isEmpty() ? "" : ": " + detail));
            }
        }
    }

    /** Prints what the command waits for while there is no progress. */
    private final class StallReporter implements AutoCloseable {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "stall-reporter");
            thread.setDaemon(true);
            return thread;
        });
        private long lastCount;

        StallReporter() {
            var unused = timer.scheduleWithFixedDelay(
                    this::report,
                    STALL_REPORT_INTERVAL.toMillis(),
                    STALL_REPORT_INTERVAL.toMillis(),
                    TimeUnit.MILLISECONDS);
        }

        private void report() {
            long now = counts.published.get() + counts.failed.get() + settled();
            boolean hasProgress = now != lastCount;
            lastCount = now;
            int sent = MAX_UNACKNOWLEDGED - unacknowledgedPermits.availablePermits();
            int undecided = MAX_UNSETTLED - unsettledPermits.availablePermits() - sent;
            if (hasProgress || (sent == 0 && undecided <= 0)) {
                return;
            }
            say(
                    sent > 0
                            ? "waiting for the broker at " + settings.bootstrapServer() + " to acknowledge " + sent
                                    + " events"
                            : "waiting for the topology (puri streams) to decide about " + undecided + " events");
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }

    private synchronized void say(String message) {
        clearProgress();
        console.say(message);
    }

    private synchronized void showProgress() {
        if (!console.errIsTerminal() || System.nanoTime() < nextProgress) {
            return;
        }
        nextProgress = System.nanoTime() + PROGRESS_NANOS;
        clearProgress();
        console.err()
                .print("published " + counts.published.get() + (options.outcomes() ? ", settled " + settled() : "")
                        + ", malformed " + counts.malformed.get());
        console.err().flush();
    }

    private long settled() {
        return counts.applied.get() + counts.unchanged.get() + counts.refused.get();
    }

    private synchronized void endProgress() {
        clearProgress();
        console.err().flush();
    }

    private void clearProgress() {
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K");
        }
    }
}
