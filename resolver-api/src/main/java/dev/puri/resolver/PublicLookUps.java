package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.RefusedException;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.answer.PublicResultWriter;
import dev.puri.resolver.answer.ThreadBuffers;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers look-ups by handle on the public listener, which accepts no tokens of events. */
final class PublicLookUps {
    /** The listener's name in metrics. */
    static final String LISTENER = "public";

    private final Supplier<@Nullable Table> tables;
    private final Predicate<String> isPublic;
    private final int maxRefs;
    private final VerdictCounters singleCounters;
    private final VerdictCounters batchCounters;

    /**
     * @param tables supplies the serving table; null before the first table is complete
     * @param isPublic whether the pURIs of a {@code namespace:collection} are public
     * @param maxRefs maximum number of references in a batch
     */
    PublicLookUps(Supplier<@Nullable Table> tables, Predicate<String> isPublic, int maxRefs, MeterRegistry meters) {
        this.tables = tables;
        this.isPublic = isPublic;
        this.maxRefs = maxRefs;
        singleCounters = new VerdictCounters(LISTENER, "/v1/identities/{ref}", meters);
        batchCounters = new VerdictCounters(LISTENER, "/v1/resolve", meters);
    }

    void answerOne(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        JsonOut out = ThreadBuffers.ofThread().emptyOut();
        Verdict verdict = new PublicResultWriter(table, out, isPublic).write(PathRef.decode(exchange.parameter()));
        singleCounters.add(verdict, 1);
        exchange.json(verdict.status(), out.bytes(), out.length());
    }

    void answerBatch(Exchange exchange) {
        exchange.readBody(body -> {
            PlainBatch plain = ThreadBuffers.ofThread().batch();
            // Bodies of any other form go to ResolveRequest, which refuses groupBy.
            boolean hasPlainForm = plain.read(body, maxRefs) && !plain.hasGroupBy();
            try {
                List<String> refs = hasPlainForm ? List.of() : ResolveRequest.parseHandles(body, maxRefs);
                Table table = tables.get();
                if (table == null) {
                    notReady(exchange);
                    return;
                }
                JsonOut out = ThreadBuffers.ofThread().emptyOut();
                PublicResultWriter answer = new PublicResultWriter(table, out, isPublic);
                if (hasPlainForm) {
                    batchCounters.add(plain.write(answer));
                } else {
                    answer.beginBatch();
                    refs.forEach(ref -> batchCounters.add(answer.write(ref), 1));
                    answer.endBatch();
                }
                exchange.json(200, out.bytes(), out.length());
            } catch (RefusedException e) {
                exchange.problem(e.problem());
            }
        });
    }

    /** Answers without the progress of the restore, which would reveal the number of identities. */
    private static void notReady(Exchange exchange) {
        Problems.temporary(exchange, LookUps.NOT_READY, "The resolver cannot answer yet.");
    }
}
