package dev.puri.resolver;

import dev.puri.http.EventStream;
import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.resolver.live.ChangeFilter;
import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Sink;
import dev.puri.resolver.live.StatsView;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.live.Subscription;
import dev.puri.resolver.table.Table;
import dev.puri.tail.CollectionsView;
import dev.puri.tail.DeclaredCollections;
import dev.puri.tail.RefusalLog;
import dev.puri.tail.RejectedEvent;
import dev.puri.tail.RejectionsView;
import dev.puri.tail.wait.WaitParameters;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The routes of changes, rejections, declared collections and stats. */
final class Feeds {
    static final ProblemType INVALID_EVENT_ID =
            new ProblemType("invalid-event-id", "Last-Event-ID is none that this path has told", 400);
    static final ProblemType TOO_MANY_STREAMS = new ProblemType("too-many-streams", "Too many follow the changes", 503);
    static final ProblemType TOO_MANY_REPLAYS =
            new ProblemType("too-many-replays", "Too many are told older changes", 503);

    private final Subscribers subscribers;
    private final RefusalLog refusals;
    private final DeclaredCollections collections;
    private final Supplier<@Nullable Table> tables;
    private final Supplier<@Nullable Long> behind;
    private final Supplier<@Nullable Duration> lagAge;
    private final EventStream.Options streamOptions;

    /**
     * @param tables the serving table; null while none is complete
     * @param behind the table's lag, in records; null when not known
     * @param lagAge how long ago the brokers reported the end offsets; null when they never did
     */
    Feeds(
            Subscribers subscribers,
            RefusalLog refusals,
            DeclaredCollections collections,
            Supplier<@Nullable Table> tables,
            Supplier<@Nullable Long> behind,
            Supplier<@Nullable Duration> lagAge,
            ChangesOptions options) {
        this.subscribers = subscribers;
        this.refusals = refusals;
        this.collections = collections;
        this.tables = tables;
        this.behind = behind;
        this.lagAge = lagAge;
        this.streamOptions = options.streamOptions();
    }

    void changes(Exchange exchange) {
        ChangeFilter filter;
        ChangeId last;
        try {
            filter = ChangeFilter.parse(exchange.queryAll("collection"));
        } catch (IllegalArgumentException e) {
            exchange.problem(Problem.of(WaitParameters.INVALID_PARAMETER, "collection: " + e.getMessage() + "."));
            return;
        }
        try {
            String id = exchange.requestHeader("Last-Event-ID");
            last = id == null || id.isEmpty() ? null : ChangeId.parse(id);
        } catch (IllegalArgumentException e) {
            exchange.problem(Problem.of(INVALID_EVENT_ID, String.valueOf(e.getMessage()) + "."));
            return;
        }
        Subscribers.Admission admission =
                subscribers.subscribe(last, filter, subscription -> open(exchange, subscription));
        switch (admission) {
            case ADMITTED -> {}
            case NOT_READY -> later(exchange, LookUps.NOT_READY, "No table has been complete yet.");
            case TOO_MANY_STREAMS -> later(exchange, TOO_MANY_STREAMS, "As many follow the changes as may.");
            case TOO_MANY_REPLAYS -> later(exchange, TOO_MANY_REPLAYS, "As many are told older changes as may be.");
            case ENDING -> later(exchange, ProblemType.DRAINING, "Another instance tells the same changes.");
        }
    }

    private Sink open(Exchange exchange, Subscription subscription) {
        return Sink.of(exchange.events(streamOptions, end -> subscription.cancel()));
    }

    private static void later(Exchange exchange, ProblemType type, String detail) {
        exchange.header("Retry-After", "1").problem(Problem.of(type, detail));
    }

    void rejections(Exchange exchange) {
        try {
            RejectionsView view =
                    RejectionsView.parse(exchange.query("puri"), exchange.query("position"), exchange.query("limit"));
            // Read before the look-up: else a refusal that is read in between would be reported as missing.
            boolean complete = refusals.hasCaughtUp();
            List<RejectedEvent> found = view.find(refusals);
            exchange.json(200, json -> RejectionsView.write(json, found, complete));
        } catch (RejectionsView.InvalidParameterException e) {
            exchange.problem(Problem.of(WaitParameters.INVALID_PARAMETER, e.parameter() + ": " + e.getMessage() + "."));
        }
    }

    void collections(Exchange exchange) {
        if (!collections.hasCaughtUp()) {
            later(exchange, LookUps.NOT_READY, "Collections have not been read yet.");
            return;
        }
        exchange.json(200, json -> CollectionsView.write(json, collections.declarations()));
    }

    void stats(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            later(exchange, LookUps.NOT_READY, "No table has been complete yet.");
            return;
        }
        // On a worker, since the number of collections, owners and shards has no bound.
        exchange.jsonFromWorker(200, json -> StatsView.write(json, table.stats(), behind.get(), lagAge.get()));
    }
}
