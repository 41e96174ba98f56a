package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Puri;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The two ways in which the public may ask the table: by handles, of what is there now. */
final class PublicLookUps {
    private final Supplier<@Nullable Table> tables;
    private final PublicAnswer answer;
    private final int maxRefs;
    private final Verdicts alone;
    private final Verdicts inBatches;

    /**
     * @param tables the table that answers now; null while none is complete
     * @param isPublic whether a pURI may be named
     * @param maxRefs of a batch
     */
    PublicLookUps(Supplier<@Nullable Table> tables, Predicate<Puri> isPublic, int maxRefs, MeterRegistry meters) {
        this.tables = tables;
        this.answer = new PublicAnswer(isPublic);
        this.maxRefs = maxRefs;
        alone = new Verdicts(PublicAnswer.LISTENER, "/v1/identities/{ref}", meters);
        inBatches = new Verdicts(PublicAnswer.LISTENER, "/v1/resolve", meters);
    }

    void one(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        Result result = PublicAnswer.resolve(table, PathRef.decode(exchange.parameter()));
        alone.count(result.verdict());
        exchange.json(result.verdict().status(), json -> answer.write(json, result));
    }

    void batch(Exchange exchange) {
        exchange.readBody(body -> {
            Table table = tables.get();
            try {
                List<String> refs = ResolveRequest.parseHandles(body, maxRefs);
                if (table == null) {
                    notReady(exchange);
                    return;
                }
                List<Result> results = new ArrayList<>(refs.size());
                for (String ref : refs) {
                    Result result = PublicAnswer.resolve(table, ref);
                    inBatches.count(result.verdict());
                    results.add(result);
                }
                exchange.json(200, json -> answer.writeBatch(json, results));
            } catch (ResolveRequest.RefusedException e) {
                exchange.problem(e.problem());
            }
        });
    }

    /** Without how far it is, which tells how much there is. */
    private static void notReady(Exchange exchange) {
        exchange.header("Retry-After", "1").problem(Problem.of(LookUps.NOT_READY, "Nothing is answered yet."));
    }
}
