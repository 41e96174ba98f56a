package dev.puri.resolver;

import dev.puri.http.Download;
import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.live.ChangeFilter;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.tail.wait.WaitParameters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/export}, with a limit of exports at a time. */
final class Exports {
    static final ProblemType TOO_MANY_EXPORTS =
            new ProblemType("too-many-exports", "Too many exports are under way", 503);

    /** The cursor, for a client that begins without rows. */
    private static final String CHANGES_FROM = "Puri-Changes-From";

    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(30);

    /** A bound for the duration of an export, so that slow readers do not block others for ever. */
    static final Duration LONGEST = Duration.ofHours(2);

    /** About what an export takes. */
    private static final String RETRY_AFTER = "5";

    private final Supplier<@Nullable LiveTable<ChangeRing>> sources;
    private final int most;
    private final Duration stallTimeout;
    private final LongSupplier nanoClock;
    private final AtomicInteger running = new AtomicInteger();
    private final Map<Download.End, Counter> ends = new EnumMap<>(Download.End.class);
    private final Counter rows;

    /**
     * @param sources the serving table with its changes; null while none is complete
     * @param most exports at a time
     */
    Exports(Supplier<@Nullable LiveTable<ChangeRing>> sources, int most, MeterRegistry meters) {
        this(sources, most, STALL_TIMEOUT, System::nanoTime, meters);
    }

    /**
     * @param stallTimeout how long a client may read nothing before the export is aborted; it takes up to twice this time
     */
    Exports(
            Supplier<@Nullable LiveTable<ChangeRing>> sources,
            int most,
            Duration stallTimeout,
            LongSupplier nanoClock,
            MeterRegistry meters) {
        this.sources = sources;
        this.most = most;
        this.stallTimeout = stallTimeout;
        this.nanoClock = nanoClock;
        for (Download.End end : Download.End.values()) {
            ends.put(
                    end,
                    Counter.builder("puri.exports")
                            .description("Exports, by how they ended")
                            .tag("end", end.name().toLowerCase(Locale.ROOT))
                            .register(meters));
        }
        rows = Counter.builder("puri.exports.rows")
                .description("Rows that were exported")
                .register(meters);
        Gauge.builder("puri.exports.running", running, AtomicInteger::get)
                .description("Exports under way")
                .register(meters);
    }

    void export(Exchange exchange) {
        ChangeFilter filter;
        ExportFormat format;
        try {
            filter = ChangeFilter.parse(exchange.queryAll("collection"));
        } catch (IllegalArgumentException e) {
            exchange.problem(Problem.of(WaitParameters.INVALID_PARAMETER, "collection: " + e.getMessage() + "."));
            return;
        }
        try {
            format = ExportFormat.of(exchange.query("format"), exchange.requestHeader("Accept"));
        } catch (IllegalArgumentException e) {
            exchange.problem(Problem.of(WaitParameters.INVALID_PARAMETER, "format: " + e.getMessage() + "."));
            return;
        }
        LiveTable<ChangeRing> source = sources.get();
        if (source == null) {
            later(exchange, "1", LookUps.NOT_READY, "No table has been complete yet.");
        } else if (running.incrementAndGet() > most) {
            running.decrementAndGet();
            later(exchange, RETRY_AFTER, TOO_MANY_EXPORTS, "As many exports are under way as may be.");
        } else {
            begin(exchange, source, format, filter);
        }
    }

    private void begin(Exchange exchange, LiveTable<ChangeRing> source, ExportFormat format, ChangeFilter filter) {
        Export export;
        long begunAt = nanoClock.getAsLong();
        try {
            export = new Export(
                    source,
                    format,
                    filter.collections(),
                    // An export ends about a second after its table was replaced, since two tables need much memory.
                    () -> sources.get() == source && nanoClock.getAsLong() - begunAt < LONGEST.toNanos(),
                    this::ended);
        } catch (RuntimeException | Error e) {
            running.decrementAndGet();
            throw e;
        }
        exchange.header(CHANGES_FROM, export.cursor().toString());
        exchange.download(format.mediaType(), stallTimeout, export);
    }

    private void ended(Export.Ended ended) {
        running.decrementAndGet();
        Objects.requireNonNull(ends.get(ended.why())).increment();
        rows.increment(ended.rows());
    }

    private static void later(Exchange exchange, String seconds, ProblemType type, String detail) {
        exchange.header("Retry-After", seconds).problem(Problem.of(type, detail));
    }
}
