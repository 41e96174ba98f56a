package dev.puri.http;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A response header with the staleness of the data in whole seconds, like {@code Age} (RFC 9111, 5.1). The header is
 * absent while the data is fresh. The staleness is sampled twice a second. If sampling fails or is late, for example in
 * a process that was suspended, the time since the last sample is added, so that stale data never looks fresh.
 */
public final class LagHeader implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LagHeader.class);

    /**
     * Lower staleness is normal and not reported. End offsets are read once a second, and reading the records up to
     * them takes time. The limit has a margin for slow brokers.
     */
    private static final Duration MIN_STALENESS = Duration.ofSeconds(5);

    private static final long PERIOD_MILLIS = 500;

    /** If the last sample is older than this, the age of the sample is added to the staleness. */
    private static final long MAX_SAMPLE_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(2 * PERIOD_MILLIS);

    private final String name;
    private final Supplier<@Nullable Duration> staleness;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("lag-header").daemon(true).factory());
    private final LongSupplier nanoClock;
    private volatile Sample lastSample;

    /** Confined to the executor's thread. */
    private boolean hasFailed;

    /**
     * A sample of the staleness.
     *
     * @param staleness zero while the server serves no data
     * @param atNanos the time at which sampling started
     * @param text the header's value; null to omit the header
     */
    private record Sample(
            Duration staleness, long atNanos, @Nullable String text) {
        static Sample of(Duration staleness, long atNanos) {
            return new Sample(staleness, atNanos, LagHeader.text(staleness));
        }
    }

    LagHeader(String name, Supplier<@Nullable Duration> staleness, LongSupplier nanoClock) {
        this.name = name;
        this.staleness = staleness;
        this.nanoClock = nanoClock;
        this.lastSample = Sample.of(Duration.ZERO, nanoClock.getAsLong());
    }

    /**
     * Starts sampling.
     *
     * @param name the header's name
     * @param staleness supplies the staleness of the data; null while the server serves no data
     */
    public static LagHeader start(String name, Supplier<@Nullable Duration> staleness) {
        LagHeader header = new LagHeader(name, staleness, System::nanoTime);
        header.executor.scheduleAtFixedRate(header::sample, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return header;
    }

    void sample() {
        try {
            long atNanos = nanoClock.getAsLong();
            Duration current = staleness.get();
            lastSample = Sample.of(current == null ? Duration.ZERO : current, atNanos);
            hasFailed = false;
        } catch (Throwable e) {
            // An exception would end the schedule silently.
            if (!hasFailed) {
                hasFailed = true;
                log.error(
                        "The staleness of the data cannot be read; the header {} is extrapolated from {}",
                        name,
                        lastSample.staleness(),
                        e);
            }
        }
    }

    private @Nullable String value() {
        Sample last = lastSample;
        long sampleAgeNanos = nanoClock.getAsLong() - last.atNanos();
        return sampleAgeNanos <= MAX_SAMPLE_AGE_NANOS
                ? last.text()
                : text(last.staleness().plusNanos(sampleAgeNanos));
    }

    static @Nullable String text(@Nullable Duration staleness) {
        return staleness == null || staleness.compareTo(MIN_STALENESS) < 0
                ? null
                : Long.toString(staleness.toSeconds());
    }

    /** Returns the header, for the routes that serve the data. */
    public Route.DynamicHeader header() {
        return new Route.DynamicHeader(name, this::value);
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
