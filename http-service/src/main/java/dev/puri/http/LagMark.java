package dev.puri.http;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How old what is answered is, told by the answers while it is not fresh: in whole seconds, as {@code Age}
 * is (RFC 9111, 5.1). The text is made twice a second, so that an answer costs one read and no clock.
 */
public final class LagMark implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LagMark.class);

    /** The brokers are asked once a second, and the next answer tells that nothing was missing at the last. */
    private static final Duration TOLD_FROM = Duration.ofSeconds(5);

    private static final long PERIOD_MILLIS = 500;

    private final String header;
    private final Supplier<@Nullable Duration> age;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("lag-mark").daemon(true).factory());
    private volatile @Nullable String text;

    /** Whether the last look failed; of the clock's thread alone. */
    private boolean hasFailed;

    private LagMark(String header, Supplier<@Nullable Duration> age) {
        this.header = header;
        this.age = age;
    }

    /**
     * Begins to look.
     *
     * @param header that tells it
     * @param age since when it is not known that nothing is missing; null while nothing is answered
     */
    public static LagMark start(String header, Supplier<@Nullable Duration> age) {
        LagMark lag = new LagMark(header, age);
        lag.clock.scheduleAtFixedRate(lag::look, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return lag;
    }

    private void look() {
        try {
            text = text(age.get());
            hasFailed = false;
        } catch (Throwable e) {
            // Thrown further it would end the looking without a word, and the answers would tell the last age for ever.
            if (!hasFailed) {
                hasFailed = true;
                log.error("How old the answers are is not known; {} stays as it is until it is", header, e);
            }
        }
    }

    static @Nullable String text(@Nullable Duration age) {
        return age == null || age.compareTo(TOLD_FROM) < 0 ? null : Long.toString(age.toSeconds());
    }

    /** For the routes whose answers may be old. */
    public Route.Mark mark() {
        return new Route.Mark(header, () -> text);
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
