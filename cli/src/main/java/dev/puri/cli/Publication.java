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
 *   └ malformed              at most {@value #MAX_UNDER_WAY} between here and there
 * </pre>
 *
 * <p>What is wrong with a line concerns that line alone. What is wrong with the world concerns all that
 * follow: nothing more is sent then, and the first line that was not acknowledged is named.
 */
final class Publication {
    /** Bounds memory, and with it how far outcomes may lag behind. */
    static final int MAX_UNDER_WAY = 50_000;

    /** The broker takes messages of 1 MiB at most, and a line is longer than the event it makes. */
    static final int MAX_LINE_BYTES = 4 << 20;

    /**
     * Most events that are not acknowledged. A record expires after the patience even while others get through,
     * so what is before it must not take so long.
     */
    private static final int MAX_UNACKNOWLEDGED = 10_000;

    /** After this without progress is said what is waited for. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private static final long PROGRESS_NANOS = Duration.ofMillis(200).toNanos();

    private final Console console;
    private final CliSettings settings;
    private final Options options;
    private final Semaphore underWay = new Semaphore(MAX_UNDER_WAY);
    private final Semaphore unacknowledged = new Semaphore(MAX_UNACKNOWLEDGED);
    private final Counts counts = new Counts();
    private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();
    private long nextProgress = System.nanoTime();

    /**
     * @param outcomes whether outcomes are waited for
     * @param echo whether each event is printed before it is sent
     * @param patience how long nothing may happen
     */
    record Options(boolean outcomes, boolean echo, Duration patience) {}

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
     * What became of the lines.
     *
     * @param published acknowledged
     * @param outcomes whether outcomes were waited for, so that the next three count
     * @param malformed no event, and not sent
     * @param failed sent and not acknowledged
     * @param unanswered acknowledged, but no outcome came in time
     */
    record Sum(
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
        this.settings = settings.givingUpAfter(options.patience());
        this.options = options;
    }

    /**
     * Publishes every line there is.
     *
     * @throws CommandException when the cluster or the registry is out of reach from the start, or
     *     nothing happens for too long
     */
    Sum publish(InputStream input) throws IOException, InterruptedException {
        Cluster cluster = new Cluster(console, settings, options.patience());
        Declarations declared = cluster.declarations();
        try (Outcomes outcomes = options.outcomes()
                        ? cluster.ask("the topics of outcomes", () -> Outcomes.follow(settings, this::settled))
                        : null;
                Watch watch = new Watch();
                IdentityPublisher publisher = new IdentityPublisher(settings.clientProperties(), declared::ownsTopic)) {
            send(input, declared, publisher, outcomes);
            publisher.flush();
            int unanswered = outcomes == null ? 0 : outcomes.await(options.patience());
            endProgress();
            return sum(unanswered);
        }
    }

    private Sum sum(int unanswered) {
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
                    + options.patience().toSeconds() + " s; is puri streams running?");
        }
        return new Sum(
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
            InputStream input, Declarations declared, IdentityPublisher publisher, @Nullable Outcomes outcomes)
            throws IOException, InterruptedException {
        LineReader lines = new LineReader(input, MAX_LINE_BYTES);
        IdentityMinter minter = new IdentityMinter();
        for (LineReader.Line line = lines.next(); line != null && failure.get() == null; line = lines.next()) {
            Event event = event(line, declared, minter);
            if (event != null) {
                echo(event);
                awaitRoom(outcomes);
                send(line.number(), event, publisher, outcomes);
            }
            showProgress();
        }
    }

    /** Null when the line is blank, or bad and reported. */
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
            case EventLineParser.Bad bad -> {
                malformed(line.number(), String.join("; ", bad.mistakes()));
                return null;
            }
            case EventLineParser.Good good -> {
                try {
                    return good.line().complete(minter, declared, Instant.now());
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

    /** Before it is sent, so that whatever happens then, its ids are known and it can be sent again. */
    private void echo(Event event) {
        if (options.echo()) {
            console.out().println(EventLinePrinter.print(event));
            if (console.out().checkError()) {
                throw CommandException.failed("what is echoed can no longer be written", null);
            }
        }
    }

    private void awaitRoom(@Nullable Outcomes outcomes) throws InterruptedException {
        if (outcomes != null) {
            outcomes.requireReading();
        }
        // One that is acknowledged or has failed gives its place back, and each does so within the patience.
        unacknowledged.acquire();
        if (!underWay.tryAcquire(options.patience().toMillis(), TimeUnit.MILLISECONDS)) {
            throw CommandException.failed(
                    MAX_UNDER_WAY + " events are under way and none got further for "
                            + options.patience().toSeconds() + " s; is puri streams running?",
                    null);
        }
    }

    private void send(long line, Event event, IdentityPublisher publisher, @Nullable Outcomes outcomes) {
        var unused = publisher.publish(event).whenComplete((position, error) -> {
            if (error != null) {
                notSent(line, error);
            } else {
                sent(line, position, outcomes);
            }
        });
    }

    private void sent(long line, Position position, @Nullable Outcomes outcomes) {
        counts.published.incrementAndGet();
        unacknowledged.release();
        if (outcomes == null) {
            underWay.release();
        } else {
            outcomes.expect(position, line);
        }
    }

    private void notSent(long line, Throwable error) {
        underWay.release();
        unacknowledged.release();
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

    private void settled(long line, Outcome outcome, String detail) {
        underWay.release();
        switch (outcome.kind()) {
            case APPLIED -> counts.applied.incrementAndGet();
            case UNCHANGED -> counts.unchanged.incrementAndGet();
            case REFUSED -> {
                counts.refused.incrementAndGet();
                say("line " + line + ": refused, " + outcome.reason() + (detail.isEmpty() ? "" : ": " + detail));
            }
        }
    }

    /** Says what is waited for while nothing gets further. */
    private final class Watch implements AutoCloseable {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "watch");
            thread.setDaemon(true);
            return thread;
        });
        private long seen;

        Watch() {
            var unused = timer.scheduleWithFixedDelay(
                    this::look, SILENCE.toMillis(), SILENCE.toMillis(), TimeUnit.MILLISECONDS);
        }

        private void look() {
            long now = counts.published.get() + counts.failed.get() + settled();
            boolean hasMoved = now != seen;
            seen = now;
            int sent = MAX_UNACKNOWLEDGED - unacknowledged.availablePermits();
            int undecided = MAX_UNDER_WAY - underWay.availablePermits() - sent;
            if (hasMoved || (sent == 0 && undecided <= 0)) {
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
