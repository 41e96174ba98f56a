package dev.puri.resolver;

import dev.puri.http.Download;
import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.live.CollectionFilter;
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

/** Handles {@code GET /v1/export}, and limits the number of exports at a time. */
final class Exports {
    static final ProblemType TOO_MANY_EXPORTS = new ProblemType("too-many-exports", "Too many exports run", 503);

    /** The response header with the cursor, so that a client has the cursor without parsing the rows. */
    private static final String CHANGES_FROM_HEADER = "Puri-Changes-From";

    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(30);

    /** Maximum duration of an export, so that slow clients do not block other exports for ever. */
    static final Duration MAX_DURATION = Duration.ofHours(2);

    /** About the duration of an export. */
    private static final String RETRY_AFTER_SECONDS = "5";

    private final Supplier<@Nullable LiveTable<ChangeRing>> liveTables;
    private final int maxExports;
    private final Duration stallTimeout;
    private final LongSupplier nanoClock;
    private final AtomicInteger running = new AtomicInteger();
    private final Map<Download.End, Counter> ends = new EnumMap<>(Download.End.class);
    private final Counter rows;

    /**
     * @param liveTables supplies the serving table with its changes; null before the first table is complete
     * @param maxExports maximum number of exports at a time
     */
    Exports(Supplier<@Nullable LiveTable<ChangeRing>> liveTables, int maxExports, MeterRegistry meters) {
        this(liveTables, maxExports, STALL_TIMEOUT, System::nanoTime, meters);
    }

    /**
     * @param stallTimeout how long a client may read nothing before the export is aborted; the abort may take
     *     twice this time
     */
    Exports(
            Supplier<@Nullable LiveTable<ChangeRing>> liveTables,
            int maxExports,
            Duration stallTimeout,
            LongSupplier nanoClock,
            MeterRegistry meters) {
        this.liveTables = liveTables;
        this.maxExports = maxExports;
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
                .description("Exports that run")
                .register(meters);
    }

    void startExport(Exchange exchange) {
        CollectionFilter filter;
        ExportFormat format;
        try {
            filter = CollectionFilter.parse(exchange.queryAll("collection"));
        } catch (IllegalArgumentException e) {
            Problems.invalidParameter(exchange, "collection", e);
            return;
        }
        try {
            format = ExportFormat.of(exchange.query("format"), exchange.requestHeader("Accept"));
        } catch (IllegalArgumentException e) {
            Problems.invalidParameter(exchange, "format", e);
            return;
        }
        LiveTable<ChangeRing> liveTable = liveTables.get();
        if (liveTable == null) {
            Problems.temporary(exchange, LookUps.NOT_READY, "The first table is not complete yet.");
        } else if (running.incrementAndGet() > maxExports) {
            running.decrementAndGet();
            exchange.header("Retry-After", RETRY_AFTER_SECONDS)
                    .problem(Problem.of(TOO_MANY_EXPORTS, maxExports + " exports run already, which is the maximum."));
        } else {
            start(exchange, liveTable, format, filter);
        }
    }

    private void start(
            Exchange exchange, LiveTable<ChangeRing> liveTable, ExportFormat format, CollectionFilter filter) {
        Export export;
        long startNanos = nanoClock.getAsLong();
        try {
            export = new Export(
                    liveTable,
                    format,
                    filter.collections(),
                    // An export of a replaced table is aborted, since two tables need much memory.
                    () -> liveTables.get() == liveTable && nanoClock.getAsLong() - startNanos < MAX_DURATION.toNanos(),
                    this::countEnd);
        } catch (RuntimeException | Error e) {
            running.decrementAndGet();
            throw e;
        }
        exchange.header(CHANGES_FROM_HEADER, export.cursor().toString());
        exchange.download(format.mediaType(), stallTimeout, export);
    }

    private void countEnd(Export.Result result) {
        running.decrementAndGet();
        Objects.requireNonNull(ends.get(result.end())).increment();
        rows.increment(result.rowCount());
    }
}
