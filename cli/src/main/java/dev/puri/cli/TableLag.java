package dev.puri.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Asks a resolver whether its table may have missed changes. */
final class TableLag {
    /** The header with the time in seconds for which the table may have missed changes; a fresh table has none. */
    private static final String HEADER = "Puri-Table-Lag";

    /** A request that needs the scope of look-ups only. */
    private static final String ANY_LOOK_UP = "{\"refs\":[\"puri:table:lag\"]}";

    private static final long PAUSE_MILLIS = 500;

    private TableLag() {}

    /**
     * Waits until the table of the resolver is fresh.
     *
     * @param missing what is wrong in the result of the command if changes are missing, for the message
     * @throws CommandException if it is not fresh in time
     */
    static void awaitFresh(Console console, CliSettings settings, Duration wait, String missing)
            throws InterruptedException {
        ApiClient resolver = ApiClient.ofResolver(console, settings);
        long startNanos = System.nanoTime();
        boolean isFirst = true;
        for (Optional<String> lag = ask(resolver); lag.isPresent(); lag = ask(resolver)) {
            String reason = "the resolver at " + settings.resolver() + " may have missed the changes of the last "
                    + lag.get() + " s";
            if (System.nanoTime() - startNanos >= wait.toNanos()) {
                throw CommandException.failed(reason + ", so " + missing
                        + "; /health/ready says why. Run the command again when it has caught up");
            }
            if (isFirst) {
                console.say("puri: waiting, because " + reason);
                isFirst = false;
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    private static Optional<String> ask(ApiClient resolver) throws InterruptedException {
        return resolver.post("/v1/resolve", ANY_LOOK_UP).headers().firstValue(HEADER);
    }
}
