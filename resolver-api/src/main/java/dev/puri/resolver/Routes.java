package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Health;
import dev.puri.http.Metrics;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import dev.puri.resolver.table.Table;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Every path that a resolver answers.
 *
 * <pre>
 * GET  /v1/identities/{ref}   200 found, merged · 400 malformed · 404 unknown · 410 deleted
 * POST /v1/resolve            200, a verdict for each reference · 400, 408, 413 for the batch itself
 *        both                 503 with Retry-After, until the table was complete once
 * GET  /openapi.json          200
 * GET  /health/started        200, or 503 while the first table is being filled
 * GET  /health/live           200
 * GET  /health/ready          200, or 503 while what is answered may be old
 * GET  /metrics               200
 * </pre>
 *
 * Verdicts are answered as results, what is wrong with a request as a problem (RFC 9457). What holds
 * for every path (404, 405, 414, 431, 500) is the listener's.
 */
final class Routes {
    private static final ProblemType NOT_READY = new ProblemType("not-ready", "The table is not complete yet", 503);

    private final Supplier<@Nullable Table> tables;
    private final Supplier<String> progress;
    private final int maxRefs;
    private final Map<Verdict, Counter> verdicts = new EnumMap<>(Verdict.class);

    private Routes(Supplier<@Nullable Table> tables, Supplier<String> progress, int maxRefs, MeterRegistry meters) {
        this.tables = tables;
        this.progress = progress;
        this.maxRefs = maxRefs;
        for (Verdict verdict : Verdict.values()) {
            verdicts.put(
                    verdict,
                    Counter.builder("puri.resolver.verdicts")
                            .description("References answered, by verdict")
                            .tag("verdict", verdict.toString())
                            .register(meters));
        }
    }

    /**
     * @param tables the table that answers now; null while none is complete
     * @param progress tells why there is none
     */
    static List<Route> of(
            Supplier<@Nullable Table> tables, Supplier<String> progress, int maxRefs, Health health, Metrics metrics) {
        Routes routes = new Routes(tables, progress, maxRefs, metrics.registry());
        byte[] openApi = openApi();
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/identities/{ref}", Scope.RESOLVE, routes::one));
        all.add(Route.post("/v1/resolve", Scope.RESOLVE, routes::batch));
        all.add(Route.get("/openapi.json", Scope.NONE, exchange -> exchange.answer(200, "application/json", openApi)));
        all.addAll(health.routes());
        all.add(metrics.route());
        return List.copyOf(all);
    }

    private void one(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        Result result = resolve(table, PathRef.decode(exchange.parameter()));
        exchange.json(result.verdict().status(), json -> ResultJson.write(json, result));
    }

    private void batch(Exchange exchange) {
        exchange.readBody(body -> {
            ResolveRequest request;
            try {
                request = ResolveRequest.parse(body, maxRefs);
            } catch (ResolveRequest.RefusedException e) {
                exchange.problem(e.problem());
                return;
            }
            // One table for the whole batch, so that its results belong together.
            Table table = tables.get();
            if (table == null) {
                notReady(exchange);
                return;
            }
            List<Result> results =
                    request.refs().stream().map(ref -> resolve(table, ref)).toList();
            exchange.json(200, json -> ResultJson.writeBatch(json, results, request.byShard()));
        });
    }

    private Result resolve(Table table, String ref) {
        Result result = Resolution.resolve(table, ref);
        Objects.requireNonNull(verdicts.get(result.verdict())).increment();
        return result;
    }

    private void notReady(Exchange exchange) {
        exchange.header("Retry-After", "1")
                .problem(Problem.of(NOT_READY, "Nothing is answered before the table is complete: " + progress.get()));
    }

    private static byte[] openApi() {
        try (InputStream resource =
                Objects.requireNonNull(Routes.class.getResourceAsStream("/openapi.json"), "openapi.json")) {
            return resource.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
