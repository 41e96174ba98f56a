package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.RefusedException;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.answer.PublicAnswer;
import dev.puri.resolver.answer.Scratch;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Look-ups of the public: by handle, without tokens. */
final class PublicLookUps {
    /** The listener's name in metrics. */
    static final String LISTENER = "public";

    private final Supplier<@Nullable Table> tables;
    private final Predicate<String> isPublic;
    private final int maxRefs;
    private final Verdicts alone;
    private final Verdicts inBatches;

    /**
     * @param tables the serving table; null while none is complete
     * @param isPublic whether the pURIs of a {@code namespace:collection} are public
     * @param maxRefs of a batch
     */
    PublicLookUps(Supplier<@Nullable Table> tables, Predicate<String> isPublic, int maxRefs, MeterRegistry meters) {
        this.tables = tables;
        this.isPublic = isPublic;
        this.maxRefs = maxRefs;
        alone = new Verdicts(LISTENER, "/v1/identities/{ref}", meters);
        inBatches = new Verdicts(LISTENER, "/v1/resolve", meters);
    }

    void one(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        JsonOut out = Scratch.ofThread().out();
        Verdict verdict = new PublicAnswer(table, out, isPublic).write(PathRef.decode(exchange.parameter()));
        alone.count(verdict, 1);
        exchange.json(verdict.status(), out.bytes(), out.length());
    }

    void batch(Exchange exchange) {
        exchange.readBody(body -> {
            PlainBatch plain = Scratch.ofThread().batch();
            boolean isPlain = plain.read(body, maxRefs) && !plain.isGrouped();
            try {
                List<String> refs = isPlain ? List.of() : ResolveRequest.parseHandles(body, maxRefs);
                Table table = tables.get();
                if (table == null) {
                    notReady(exchange);
                    return;
                }
                JsonOut out = Scratch.ofThread().out();
                PublicAnswer answer = new PublicAnswer(table, out, isPublic);
                if (isPlain) {
                    inBatches.count(plain.write(answer));
                } else {
                    answer.beginBatch();
                    refs.forEach(ref -> inBatches.count(answer.write(ref), 1));
                    answer.endBatch();
                }
                exchange.json(200, out.bytes(), out.length());
            } catch (RefusedException e) {
                exchange.problem(e.problem());
            }
        });
    }

    /** Leaves out the progress, which would reveal the number of identities. */
    private static void notReady(Exchange exchange) {
        exchange.header("Retry-After", "1").problem(Problem.of(LookUps.NOT_READY, "Nothing is answered yet."));
    }
}
