package dev.puri.tail;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A daemon thread that repeats one piece of work until it is stopped, whatever the work throws:
 *
 * <pre>
 * attempt ─▶ returns ─────────────────────────▶ pause ─▶ attempt ─▶ …
 *    └─────▶ throws anything ─▶ failure handler ──▶ ┘
 * </pre>
 *
 * A thread that ends by an exception that nobody foresaw, or by an {@link Error} such as a lack of memory that passes,
 * would leave its server without the work and without a word. So every {@link Throwable} goes to the failure handler,
 * which keeps it for health, and the work is tried again. Only a {@link Stop} ends the thread.
 */
public final class SupervisedThread {
    private final Stop stop;
    private final Pauses pauses;
    private final Attempt attempt;
    private final Consumer<Throwable> onFailure;
    private final Thread thread;

    /** The work. It returns, or throws, to be called again after a pause. */
    @FunctionalInterface
    public interface Attempt {
        /** Works for as long as it can; watches for the stop itself when that is long. */
        void run() throws Exception;
    }

    /**
     * How long to wait between two attempts. The pause doubles from the first to the longest, and begins with the first
     * again after an attempt that lasted longer than the longest pause.
     */
    public record Pauses(Duration first, Duration longest) {
        /**
         * @throws IllegalArgumentException when the first is not positive or longer than the longest
         */
        public Pauses {
            if (!first.isPositive() || first.compareTo(longest) > 0) {
                throw new IllegalArgumentException("no pauses from " + first + " to " + longest);
            }
        }

        /** The same pause between all attempts. */
        public static Pauses of(Duration each) {
            return new Pauses(each, each);
        }

        Duration after(Duration before) {
            Duration twice = before.multipliedBy(2);
            return twice.compareTo(longest) > 0 ? longest : twice;
        }
    }

    /**
     * Makes the thread; {@link #start} starts it.
     *
     * @param stop ends it; the work may watch it too
     * @param onFailure called on the thread with all that an attempt throws, but not once it was stopped
     */
    public SupervisedThread(String name, Stop stop, Pauses pauses, Attempt attempt, Consumer<Throwable> onFailure) {
        this.stop = stop;
        this.pauses = pauses;
        this.attempt = attempt;
        this.onFailure = onFailure;
        this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
    }

    /** Starts it; once. */
    public void start() {
        thread.start();
    }

    private void run() {
        Duration pause = pauses.first();
        while (!stop.isAsked()) {
            long begun = System.nanoTime();
            attempt();
            boolean lasted = System.nanoTime() - begun > pauses.longest().toNanos();
            pause = lasted ? pauses.first() : pause;
            if (!stop.isAsked()) {
                // An interrupt that came without a stop has ended the attempt; it must not end the pauses too.
                Thread.interrupted();
                stop.isAskedWithin(pause);
            }
            pause = pauses.after(pause);
        }
    }

    private void attempt() {
        try {
            attempt.run();
        } catch (Throwable cause) {
            if (!stop.isAsked()) {
                report(cause);
            }
        }
    }

    private void report(Throwable cause) {
        try {
            onFailure.accept(cause);
        } catch (Throwable unreported) {
            // Most likely there is no memory to report with. The work is tried again all the same.
            Thread.yield();
        }
    }

    /** Interrupts what it waits for. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Ends a park of the work. */
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /**
     * Waits for its end.
     *
     * @return false when it has not ended within that time, or the caller was interrupted and stays so
     */
    public boolean join(Duration within) {
        try {
            return !thread.isAlive() || thread.join(within);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
