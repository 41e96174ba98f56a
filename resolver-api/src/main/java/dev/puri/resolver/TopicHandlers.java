package dev.puri.resolver;

import dev.puri.http.EventStream;
import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.projection.CollectionsView;
import dev.puri.projection.DeclaredCollections;
import dev.puri.projection.RefusalLog;
import dev.puri.projection.RejectedEvent;
import dev.puri.projection.RejectionsQuery;
import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.CollectionFilter;
import dev.puri.resolver.live.Sink;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.live.Subscription;
import dev.puri.resolver.table.Table;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Handles the routes of changes, rejections, declared collections and stats. */
final class TopicHandlers {
    static final ProblemType INVALID_EVENT_ID =
            new ProblemType("invalid-event-id", "Last-Event-ID is not an id that this path has sent", 400);
    static final ProblemType TOO_MANY_STREAMS =
            new ProblemType("too-many-streams", "Too many change streams are open", 503);
    static final ProblemType TOO_MANY_REPLAYS =
            new ProblemType("too-many-replays", "Too many replays of older changes run", 503);

    private final Subscribers subscribers;
    private final RefusalLog refusals;
    private final DeclaredCollections collections;
    private final Supplier<@Nullable Table> tables;
    private final Supplier<@Nullable Long> lagRecords;
    private final Supplier<@Nullable Duration> lagAge;
    private final EventStream.Options streamOptions;

    /**
     * @param tables supplies the serving table; null before the first table is complete
     * @param lagRecords supplies the lag of the table, in records; null if unknown
     * @param lagAge supplies how long ago the brokers reported the end offsets; null if they never did
     */
    TopicHandlers(
            Subscribers subscribers,
            RefusalLog refusals,
            DeclaredCollections collections,
            Supplier<@Nullable Table> tables,
            Supplier<@Nullable Long> lagRecords,
            Supplier<@Nullable Duration> lagAge,
            ChangesOptions options) {
        this.subscribers = subscribers;
        this.refusals = refusals;
        this.collections = collections;
        this.tables = tables;
        this.lagRecords = lagRecords;
        this.lagAge = lagAge;
        this.streamOptions = options.streamOptions();
    }

    void openChanges(Exchange exchange) {
        CollectionFilter filter;
        ChangeId lastId;
        try {
            filter = CollectionFilter.parse(exchange.queryAll("collection"));
        } catch (IllegalArgumentException e) {
            Problems.invalidParameter(exchange, "collection", e);
            return;
        }
        try {
            String id = exchange.requestHeader("Last-Event-ID");
            lastId = id == null || id.isEmpty() ? null : ChangeId.parse(id);
        } catch (IllegalArgumentException e) {
            exchange.problem(Problem.of(INVALID_EVENT_ID, String.valueOf(e.getMessage()) + "."));
            return;
        }
        Subscribers.Admission admission =
                subscribers.subscribe(lastId, filter, subscription -> open(exchange, subscription));
        switch (admission) {
            case ADMITTED -> {}
            case NOT_READY -> Problems.temporary(exchange, LookUps.NOT_READY, "The first table is not complete yet.");
            case TOO_MANY_STREAMS ->
                Problems.temporary(exchange, TOO_MANY_STREAMS, "The maximum number of change streams are open.");
            case TOO_MANY_REPLAYS ->
                Problems.temporary(exchange, TOO_MANY_REPLAYS, "The maximum number of replays run.");
            case DRAINING ->
                Problems.temporary(exchange, ProblemType.DRAINING, "Another instance sends the same changes.");
        }
    }

    private Sink open(Exchange exchange, Subscription subscription) {
        return Sink.of(exchange.events(streamOptions, end -> subscription.cancel()));
    }

    void answerRejections(Exchange exchange) {
        try {
            RejectionsQuery query =
                    RejectionsQuery.parse(exchange.query("puri"), exchange.query("position"), exchange.query("limit"));
            // Asked before the look-up: a refusal that is read between the two must not seem to be missing.
            boolean isComplete = refusals.follower().hasCaughtUp();
            List<RejectedEvent> found = query.find(refusals);
            exchange.json(200, json -> RejectionsQuery.write(json, found, isComplete));
        } catch (RejectionsQuery.InvalidParameterException e) {
            Problems.invalidParameter(exchange, e.parameter(), e);
        }
    }

    void answerCollections(Exchange exchange) {
        if (!collections.follower().hasCaughtUp()) {
            Problems.temporary(exchange, LookUps.NOT_READY, "The collections are not read yet.");
            return;
        }
        exchange.json(200, json -> CollectionsView.write(json, collections.declarations()));
    }

    void answerStats(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            Problems.temporary(exchange, LookUps.NOT_READY, "The first table is not complete yet.");
            return;
        }
        // On a worker thread, since the number of collections, owners and shards has no bound.
        exchange.jsonFromWorker(200, json -> StatsJson.write(json, table.stats(), lagRecords.get(), lagAge.get()));
    }
}
