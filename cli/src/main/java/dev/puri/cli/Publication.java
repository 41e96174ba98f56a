package dev.puri.cli;

import dev.puri.cli.io.LineReader;
import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
 * <p>An invalid line is reported and skipped. If an event cannot be published, no further lines are sent, and the first
 * line whose event was not acknowledged is reported.
 */
final class Publication {
    /**
     * The maximum number of unsettled events, which bounds memory. An event is settled when it is acknowledged, or with
     * {@code --wait} when it has an outcome.
     */
    static final int MAX_UNSETTLED = 50_000;

    /**
     * The maximum length of a line. Brokers accept records of at most 1 MiB, and a line is at most a few times longer
     * than its event.
     */
    static final int MAX_LINE_BYTES = 4 << 20;

    /**
     * The maximum number of events without an acknowledgement. The delivery time-out of a record includes the time in
     * the producer's queue. So the queue must be so short that the brokers acknowledge it within the time-out.
     */
    private static final int MAX_UNACKNOWLEDGED = 10_000;

    /** While there is no progress, a message states the reason at this interval. */
    private static final Duration STALL_REPORT_INTERVAL = Duration.ofSeconds(5);

    private static final long PROGRESS_INTERVAL_NANOS = Duration.ofMillis(200).toNanos();

    private final Console console;
    private final CliSettings settings;
    private final Options options;
    private final Semaphore unsettledPermits = new Semaphore(MAX_UNSETTLED);
    private final Semaphore unacknowledgedPermits = new Semaphore(MAX_UNACKNOWLEDGED);
    private final Counts counts = new Counts();
    private final AtomicReference<@Nullable Failure> firstFailure = new AtomicReference<>();
    private long nextProgressNanos = System.nanoTime();

    /**
     * The options of a publication.
     *
     * @param awaitOutcomes whether to wait for outcomes
     * @param echo whether to print each event before it is sent
     * @param timeout the time without progress after which publishing fails
     */
    record Options(boolean awaitOutcomes, boolean echo, Duration timeout) {}

    /** The failure to publish the event of a line. */
    private record Failure(long line, String message) {}

    /** Counts that several threads increment. */
    private static final class Counts {
        final AtomicLong published = new AtomicLong();
        final AtomicLong failed = new AtomicLong();
        final AtomicLong malformed = new AtomicLong();
        final AtomicLong applied = new AtomicLong();
        final AtomicLong unchanged = new AtomicLong();
        final AtomicLong refused = new AtomicLong();
    }

    /**
     * The numbers of lines and events by their result.
     *
     * @param published number of acknowledged events
     * @param awaitedOutcomes whether the command waited for outcomes; if not, {@code applied}, {@code unchanged} and
     *     {@code refused} are zero
     * @param malformed number of lines that are invalid, or whose event is too large for the brokers
     * @param failed number of other events that were not acknowledged
     * @param withoutOutcome number of acknowledged events without an outcome before the time-out
     */
    record Summary(
            long published,
            boolean awaitedOutcomes,
            long applied,
            long unchanged,
            long refused,
            long malformed,
            long failed,
            long withoutOutcome) {
        int exitStatus() {
            if (failed > 0 || withoutOutcome > 0) {
                return ExitStatus.FAILED;
            }
            return malformed > 0 || refused > 0 ? ExitStatus.PARTLY : ExitStatus.DONE;
        }

        Map<String, Long> toJson() {
            Map<String, Long> json = new LinkedHashMap<>();
            json.put("published", published);
            if (awaitedOutcomes) {
                json.put("applied", applied);
                json.put("unchanged", unchanged);
                json.put("refused", refused);
            }
            json.put("malformed", malformed);
            if (failed > 0) {
                json.put("failed", failed);
            }
            if (withoutOutcome > 0) {
                json.put("unanswered", withoutOutcome);
            }
            return json;
        }

        TextTable toTable() {
            Map<String, Long> json = toJson();
            List<String> header = new ArrayList<>();
            json.keySet().forEach(name -> header.add(name.toUpperCase(Locale.ROOT)));
            return new TextTable(header.toArray(String[]::new))
                    .row(json.values().toArray());
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
     * @throws CommandException if the cluster or the schema registry is unreachable at the start, or {@value
     *     #MAX_UNSETTLED} events wait and none gets an outcome before the time-out. The summary counts events that
     *     failed or have no outcome at the end
     */
    Summary publish(InputStream input) throws IOException, InterruptedException {
        BrokerRequests brokerRequests = new BrokerRequests(console, settings, options.timeout());
        Declarations declarations = brokerRequests.declarations();
        try (OutcomeReader outcomes = options.awaitOutcomes() ? brokerRequests.outcomes(this::onSettled) : null;
                StallReporter stallReporter = new StallReporter();
                IdentityPublisher publisher = settings.publisher(declarations)) {
            send(input, declarations, publisher, outcomes);
            publisher.flush();
            int withoutOutcome = outcomes == null ? 0 : outcomes.await(options.timeout());
            console.clearProgress();
            return summary(withoutOutcome);
        }
    }

    private Summary summary(int withoutOutcome) {
        Failure failure = firstFailure.get();
        if (failure != null) {
            console.say("line " + failure.line() + ": " + failure.message()
                    + "\nno more lines were read; publish again from line " + failure.line()
                    + (options.echo()
                            ? ", or publish the echoed lines, which have the same ids"
                            : ". Events without ids then get new ids; use --echo to keep minted ids"));
        }
        if (withoutOutcome > 0) {
            console.say(withoutOutcome + " events have no outcome after "
                    + options.timeout().toSeconds() + " s; is puri streams running?");
        }
        return new Summary(
                counts.published.get(),
                options.awaitOutcomes(),
                counts.applied.get(),
                counts.unchanged.get(),
                counts.refused.get(),
                counts.malformed.get(),
                counts.failed.get(),
                withoutOutcome);
    }

    private void send(
            InputStream input, Declarations declarations, IdentityPublisher publisher, @Nullable OutcomeReader outcomes)
            throws IOException, InterruptedException {
        LineReader lines = new LineReader(input, MAX_LINE_BYTES);
        EventLineParser parser = new EventLineParser(new IdentityMinter(), declarations, InstantSource.system());
        for (LineReader.Line line = lines.next(); line != null && firstFailure.get() == null; line = lines.next()) {
            Event event = event(line, parser);
            if (event != null) {
                echo(event);
                awaitPermits(outcomes);
                send(line.number(), event, publisher, outcomes);
            }
            showProgress();
        }
    }

    /** Returns the event of a line. Returns null if the line is blank, or if it is invalid and has been reported. */
    private @Nullable Event event(LineReader.Line line, EventLineParser parser) {
        if (line instanceof LineReader.Unreadable unreadable) {
            reportMalformed(line.number(), unreadable.reason());
            return null;
        }
        String text = ((LineReader.Text) line).text();
        if (text.isBlank()) {
            return null;
        }
        return switch (parser.parse(text)) {
            case EventLineParser.Valid valid -> valid.event();
            case EventLineParser.Invalid invalid -> {
                reportMalformed(line.number(), String.join("; ", invalid.mistakes()));
                yield null;
            }
        };
    }

    private void reportMalformed(long line, String reason) {
        counts.malformed.incrementAndGet();
        say("line " + line + ": " + reason);
    }

    /** Prints an event before it is sent, so that the user knows its minted ids even if sending fails. */
    private void echo(Event event) {
        if (options.echo()) {
            console.out().println(EventLineFormatter.format(event));
            console.requireWritten();
        }
    }

    private void awaitPermits(@Nullable OutcomeReader outcomes) throws InterruptedException {
        if (outcomes != null) {
            outcomes.throwIfFailed();
        }
        // No time-out is needed here: each event is acknowledged or fails within the delivery time-out, and then its
        // permit is released.
        unacknowledgedPermits.acquire();
        if (!unsettledPermits.tryAcquire(options.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
            throw CommandException.failed(
                    MAX_UNSETTLED + " events wait for their outcomes, and there was no progress for "
                            + options.timeout().toSeconds() + " s; is puri streams running?");
        }
    }

    private void send(long line, Event event, IdentityPublisher publisher, @Nullable OutcomeReader outcomes) {
        var unused = publisher
                .publish(event)
                .handle((position, error) -> {
                    if (error != null) {
                        onFailure(line, error);
                    } else {
                        onAcknowledged(line, position, outcomes);
                    }
                    return line;
                })
                // A bug must not look like a success.
                .exceptionally(bug -> {
                    onFailure(line, bug);
                    return line;
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
            reportMalformed(line, "the event is too large: " + tooLarge.getMessage());
            return;
        }
        counts.failed.incrementAndGet();
        String message = cause instanceof PublishException ? String.valueOf(cause.getMessage()) : cause.toString();
        firstFailure.accumulateAndGet(new Failure(line, message), Publication::earlier);
    }

    /** Returns the failure with the lower line number; either may be null. */
    private static @Nullable Failure earlier(@Nullable Failure left, @Nullable Failure right) {
        if (left == null || right == null) {
            return left == null ? right : left;
        }
        return left.line() < right.line() ? left : right;
    }

    private void onSettled(long line, ReportedOutcome outcome, String detail) {
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

    /** Prints the reason for waiting while there is no progress. If it fails, so does the publication at its end. */
    private final class StallReporter implements AutoCloseable {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("stall-reporter").factory());
        private final Future<?> reports = timer.scheduleWithFixedDelay(
                this::report,
                STALL_REPORT_INTERVAL.toMillis(),
                STALL_REPORT_INTERVAL.toMillis(),
                TimeUnit.MILLISECONDS);
        private long lastProgressCount;

        private void report() {
            long progressCount = counts.published.get() + counts.failed.get() + settledCount();
            boolean hasProgress = progressCount != lastProgressCount;
            lastProgressCount = progressCount;
            int unacknowledgedCount = MAX_UNACKNOWLEDGED - unacknowledgedPermits.availablePermits();
            int withoutOutcomeCount = MAX_UNSETTLED - unsettledPermits.availablePermits() - unacknowledgedCount;
            if (hasProgress || (unacknowledgedCount == 0 && withoutOutcomeCount <= 0)) {
                return;
            }
            say(
                    unacknowledgedCount > 0
                            ? "waiting for the broker at " + settings.bootstrapServer() + " to acknowledge "
                                    + unacknowledgedCount + " events"
                            : "waiting for the topology (puri streams) to decide about " + withoutOutcomeCount
                                    + " events");
        }

        @Override
        public void close() {
            timer.shutdownNow();
            if (reports.state() == Future.State.FAILED) {
                throw new IllegalStateException("the reports of delays failed", reports.exceptionNow());
            }
        }
    }

    private synchronized void say(String message) {
        console.say(message);
    }

    private synchronized void showProgress() {
        if (System.nanoTime() - nextProgressNanos < 0) {
            return;
        }
        nextProgressNanos = System.nanoTime() + PROGRESS_INTERVAL_NANOS;
        console.showProgress("published " + counts.published.get()
                + (options.awaitOutcomes() ? ", settled " + settledCount() : "") + ", malformed "
                + counts.malformed.get());
    }

    private long settledCount() {
        return counts.applied.get() + counts.unchanged.get() + counts.refused.get();
    }
}
