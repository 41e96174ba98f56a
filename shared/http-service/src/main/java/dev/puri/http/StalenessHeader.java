package dev.puri.http;

import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates the response header that reports the staleness of the data in whole seconds, like {@code Age} (RFC 9111,
 * 5.1). The header is absent while the data is fresh. The names of these headers say {@code Lag}, because they cannot
 * change.
 */
public final class StalenessHeader {
    /**
     * Lower staleness is normal and not reported. End offsets are read once a second, and reading the records up to
     * them takes time. The limit has a margin for slow brokers.
     */
    private static final Duration MIN_STALENESS = Duration.ofSeconds(5);

    private StalenessHeader() {}

    /**
     * Returns the header, for the routes that serve the data.
     *
     * @param name the header's name
     * @param staleness supplies the staleness of the data; null while the server serves no data. Called on the event
     *     loop for each response, so it must be fast
     */
    public static Route.DynamicHeader of(String name, Supplier<@Nullable Duration> staleness) {
        return new Route.DynamicHeader(name, () -> text(staleness.get()));
    }

    private static @Nullable String text(@Nullable Duration staleness) {
        return staleness == null || staleness.compareTo(MIN_STALENESS) < 0
                ? null
                : Long.toString(staleness.toSeconds());
    }
}
