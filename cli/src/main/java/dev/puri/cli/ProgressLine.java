package dev.puri.cli;

import dev.puri.cli.imports.Import;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Prints the progress of a long command to stderr: on a terminal in place, otherwise a line every ten seconds. */
final class ProgressLine implements Import.ProgressListener {
    private static final Duration TERMINAL_INTERVAL = Duration.ofMillis(500);
    private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

    private final Console console;
    private final String unit;
    private final long startNanos = System.nanoTime();
    private final long intervalNanos;
    private @Nullable Long firstCount;
    private long nextNanos;

    ProgressLine(Console console, String unit) {
        this.console = console;
        this.unit = unit;
        intervalNanos = (console.errIsTerminal() ? TERMINAL_INTERVAL : LOG_INTERVAL).toNanos();
        nextNanos = startNanos + intervalNanos;
    }

    /**
     * Prints the progress if the last line is old enough.
     *
     * @param total null if it is not known
     */
    @Override
    public void show(long count, @Nullable Long total) {
        if (firstCount == null) {
            // A load that continues must not count the rows of the earlier load in its rate.
            firstCount = count;
        }
        long now = System.nanoTime();
        if (now - nextNanos < 0) {
            return;
        }
        nextNanos = now + intervalNanos;
        String text = line(unit, count, firstCount, total, Duration.ofNanos(now - startNanos));
        if (console.errIsTerminal()) {
            console.showProgress(text);
        } else {
            console.say(text);
        }
    }

    /**
     * Returns a line of progress, with the time left if the total is known.
     *
     * @param firstCount the count at the beginning of the elapsed time
     */
    static String line(String unit, long count, long firstCount, @Nullable Long total, Duration elapsed) {
        double perSecond = (count - firstCount) / Math.max(1e-3, elapsed.toMillis() / 1e3);
        String text = "puri: %,d %s%s, %,.0f/s"
                .formatted(count, total == null ? "" : "of %,d ".formatted(Math.max(total, count)), unit, perSecond);
        return total == null || perSecond <= 0
                ? text
                : text + ", " + duration(Math.round(Math.max(0, total - count) / perSecond)) + " left";
    }

    private static String duration(long seconds) {
        if (seconds < 100) {
            return seconds + " s";
        }
        long minutes = (seconds + 59) / 60;
        return minutes < 100 ? minutes + " min" : "%,d h %d min".formatted(minutes / 60, minutes % 60);
    }

    /** Removes the line of a terminal. */
    void end() {
        console.clearProgress();
    }
}
