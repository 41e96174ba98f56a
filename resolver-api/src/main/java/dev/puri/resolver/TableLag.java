package dev.puri.resolver;

import dev.puri.http.Route;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How old the table is, told by its answers while they are not fresh: in whole seconds, as {@code Age} is
 * (RFC 9111, 5.1). The text is made twice a second, so that an answer costs one read and no clock.
 */
final class TableLag implements AutoCloseable {
    static final String HEADER = "Puri-Table-Lag";

    /** The brokers are asked once a second, and the next answer tells that nothing was missing at the last. */
    private static final Duration TOLD_FROM = Duration.ofSeconds(5);

    private static final long PERIOD_MILLIS = 500;

    private final Supplier<@Nullable Duration> age;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("table-lag").daemon(true).factory());
    private volatile @Nullable String text;

    /**
     * @param age since when it is not known that the table has all; null while there is no table
     */
    private TableLag(Supplier<@Nullable Duration> age) {
        this.age = age;
    }

    static TableLag start(Supplier<@Nullable Duration> age) {
        TableLag lag = new TableLag(age);
        lag.clock.scheduleAtFixedRate(lag::look, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return lag;
    }

    private void look() {
        text = text(age.get());
    }

    static @Nullable String text(@Nullable Duration age) {
        return age == null || age.compareTo(TOLD_FROM) < 0 ? null : Long.toString(age.toSeconds());
    }

    /** For the routes that the table answers. */
    Route.Mark mark() {
        return new Route.Mark(HEADER, () -> text);
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
