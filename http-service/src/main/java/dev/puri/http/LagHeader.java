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
 * A response header with the staleness of the data in whole seconds, like {@code Age} (RFC 9111, 5.1). It is absent
 * while the data is fresh. The staleness is sampled twice a second. If sampling fails or is late, as in a process that
 * was frozen, the time since the last sample is added, so that a response never claims to be fresh.
 */
public final class LagHeader implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LagHeader.class);

    /** Staleness below this is not reported: end offsets are read once a second, and confirmed by the next read. */
    private static final Duration MIN_AGE = Duration.ofSeconds(5);

    private static final long PERIOD_MILLIS = 500;

    /** The time since an older sample than this is added to it. */
    private static final long MAX_SAMPLE_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(2 * PERIOD_MILLIS);

    private final String name;
    private final Supplier<@Nullable Duration> age;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("lag-header").daemon(true).factory());
    private final LongSupplier nanoClock;
    private volatile Sample lastSample;

    /** Confined to the executor's thread. */
    private boolean hasFailed;

    /**
     * A sample of the staleness.
     *
     * @param age zero while the server serves no data
     * @param atNanos time before sampling
     */
    private record Sample(
            Duration age, long atNanos, @Nullable String text) {
        static Sample of(Duration age, long atNanos) {
            return new Sample(age, atNanos, LagHeader.text(age));
        }
    }

    LagHeader(String name, Supplier<@Nullable Duration> age, LongSupplier nanoClock) {
        this.name = name;
        this.age = age;
        this.nanoClock = nanoClock;
        this.lastSample = Sample.of(Duration.ZERO, nanoClock.getAsLong());
    }

    /**
     * Starts sampling.
     *
     * @param name the header's name
     * @param age the staleness of the data; null while the server serves no data
     */
    public static LagHeader start(String name, Supplier<@Nullable Duration> age) {
        LagHeader lag = new LagHeader(name, age, System::nanoTime);
        lag.executor.scheduleAtFixedRate(lag::sample, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return lag;
    }

    void sample() {
        try {
            long atNanos = nanoClock.getAsLong();
            Duration now = age.get();
            lastSample = Sample.of(now == null ? Duration.ZERO : now, atNanos);
            hasFailed = false;
        } catch (Throwable e) {
            // An exception would end the schedule silently.
            if (!hasFailed) {
                hasFailed = true;
                log.error("The staleness of the data cannot be read; {} counts on from {}", name, lastSample.age(), e);
            }
        }
    }

    private @Nullable String value() {
        Sample last = lastSample;
        long elapsed = nanoClock.getAsLong() - last.atNanos();
        return elapsed <= MAX_SAMPLE_AGE_NANOS ? last.text() : text(last.age().plusNanos(elapsed));
    }

    static @Nullable String text(@Nullable Duration age) {
        return age == null || age.compareTo(MIN_AGE) < 0 ? null : Long.toString(age.toSeconds());
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
