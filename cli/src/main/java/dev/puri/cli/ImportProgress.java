package dev.puri.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Prints the progress of a long command to stderr: on a terminal in place, otherwise a line every ten seconds. */
final class ImportProgress {
    private static final Duration TERMINAL_INTERVAL = Duration.ofMillis(500);
    private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

    private final Console console;
    private final String unit;
    private final @Nullable Long total;
    private final long startNanos = System.nanoTime();
    private final long intervalNanos;
    private @Nullable Long firstCount;
    private long nextNanos;
    private boolean hasLine;

    /**
     * @param total null if it is not known
     */
    ImportProgress(Console console, String unit, @Nullable Long total) {
        this.console = console;
        this.unit = unit;
        this.total = total;
        intervalNanos = (console.errIsTerminal() ? TERMINAL_INTERVAL : LOG_INTERVAL).toNanos();
        nextNanos = startNanos + intervalNanos;
    }

    /** Prints the progress if the last line is old enough. */
    void show(long count) {
        if (firstCount == null) {
            // A load that continues must not count the rows of the earlier load in its rate.
            firstCount = count;
        }
        long now = System.nanoTime();
        if (now < nextNanos) {
            return;
        }
        nextNanos = now + intervalNanos;
        String text = line(count, firstCount, Duration.ofNanos(now - startNanos));
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K" + text);
            console.err().flush();
            hasLine = true;
        } else {
            console.say(text);
        }
    }

    String line(long count, long firstCount, Duration elapsed) {
        double perSecond = (count - firstCount) / Math.max(1e-3, elapsed.toMillis() / 1e3);
        String text = "puri: %,d %s%s, %,.0f/s"
                .formatted(count, total == null ? "" : "of %,d ".formatted(total), unit, perSecond);
        return total == null || perSecond < 1
                ? text
                : text + ", %,d s left".formatted(Math.round((total - count) / perSecond));
    }

    /** Removes the line of a terminal. */
    void end() {
        if (hasLine) {
            console.err().print("\r\033[K");
            console.err().flush();
        }
    }
}
