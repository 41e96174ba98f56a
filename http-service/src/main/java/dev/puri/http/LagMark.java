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
 * A header with the age of what is answered, while that is not fresh: in whole seconds, as {@code Age} is (RFC 9111,
 * 5.1). The age is read twice a second. When it cannot be read, or nothing reads it, as in a process that was frozen, it
 * grows with the time since it was last known: an answer never claims to be fresh because a look failed or was late.
 */
public final class LagMark implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LagMark.class);

    /** The brokers are asked once a second, and the next answer tells that nothing was missing at the last. */
    private static final Duration TOLD_FROM = Duration.ofSeconds(5);

    private static final long PERIOD_MILLIS = 500;

    /** An age that was read longer ago than this grows. */
    private static final long KNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(2 * PERIOD_MILLIS);

    private final String header;
    private final Supplier<@Nullable Duration> age;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("lag-mark").daemon(true).factory());
    private final LongSupplier nanoClock;
    private volatile Sample sample;

    /** Of the clock's thread alone. */
    private boolean hasFailed;

    /**
     * The age when it was last read.
     *
     * @param age zero while nothing was answered
     * @param atNanos before it was read
     */
    private record Sample(
            Duration age, long atNanos, @Nullable String text) {
        static Sample of(Duration age, long atNanos) {
            return new Sample(age, atNanos, LagMark.text(age));
        }
    }

    LagMark(String header, Supplier<@Nullable Duration> age, LongSupplier nanoClock) {
        this.header = header;
        this.age = age;
        this.nanoClock = nanoClock;
        this.sample = Sample.of(Duration.ZERO, nanoClock.getAsLong());
    }

    /**
     * Begins to look.
     *
     * @param header that tells it
     * @param age since when it is not known that nothing is missing; null while nothing is answered
     */
    public static LagMark start(String header, Supplier<@Nullable Duration> age) {
        LagMark lag = new LagMark(header, age, System::nanoTime);
        lag.clock.scheduleAtFixedRate(lag::look, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return lag;
    }

    void look() {
        try {
            long atNanos = nanoClock.getAsLong();
            Duration now = age.get();
            sample = Sample.of(now == null ? Duration.ZERO : now, atNanos);
            hasFailed = false;
        } catch (Throwable e) {
            // Thrown further it would end the looking without a word.
            if (!hasFailed) {
                hasFailed = true;
                log.error("The age of the answers cannot be read; {} counts on from {}", header, sample.age(), e);
            }
        }
    }

    private @Nullable String value() {
        Sample last = sample;
        long elapsed = nanoClock.getAsLong() - last.atNanos();
        return elapsed <= KNOWN_NANOS ? last.text() : text(last.age().plusNanos(elapsed));
    }

    static @Nullable String text(@Nullable Duration age) {
        return age == null || age.compareTo(TOLD_FROM) < 0 ? null : Long.toString(age.toSeconds());
    }

    /** For the routes whose answers may be old. */
    public Route.Mark mark() {
        return new Route.Mark(header, this::value);
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
