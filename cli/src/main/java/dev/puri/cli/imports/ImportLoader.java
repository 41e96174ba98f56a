package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.Progress;
import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.Load;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.PlannedRows.Lines;
import dev.puri.cli.io.LogReader;
import dev.puri.cli.io.RateLimiter;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the planned rows. After each batch it writes how far it is, so a load that was killed continues there. The
 * events of the batches under way are published twice, and the registry answers the second ones as unchanged.
 *
 * <p>Rows that the registry had when the plan was made (present rows) are skipped unless requested. The first load that
 * requests them begins at the first row, and all later loads of the plan include them. Otherwise a later load that
 * continues there would count as complete without them.
 *
 * <pre>
 * file ──lines──▶ workers ──rows──▶ this thread: rate ──▶ workers ──events──▶ brokers
 *      ──acknowledgements──▶ this thread, in order ──▶ load.json
 * </pre>
 *
 * Batches are published concurrently. This keeps the order of the events of a pURI, which are all in one batch.
 */
final class ImportLoader {
    /** Few enough rows that the events of the batches under way do not expire before the brokers have them. */
    private static final int MAX_BATCH = 2_500;

    private final IdentityPublisher publisher;
    private final RateLimiter limiter;
    private final boolean requestsPresent;
    private final Progress progress;

    /**
     * @param maxPerSecond maximum number of published rows per second; null for no limit
     * @param requestsPresent whether to publish also the rows that the registry had when the plan was made
     * @param progress receives the number of loaded rows, after each batch
     */
    ImportLoader(
            IdentityPublisher publisher, @Nullable Integer maxPerSecond, boolean requestsPresent, Progress progress) {
        this.publisher = publisher;
        this.limiter = new RateLimiter(maxPerSecond);
        this.requestsPresent = requestsPresent;
        this.progress = progress;
    }

    /**
     * Some rows of the file.
     *
     * @param toPublish all rows, or those that are not present
     * @param lines the lines of all rows
     */
    private record Rows(List<ImportRow> toPublish, Lines lines) {}

    /**
     * The published events of some rows.
     *
     * @param acknowledgements one for each event; a row may have two
     */
    private record Batch(Rows rows, List<Event> events, List<CompletableFuture<Position>> acknowledgements) {}

    /**
     * Publishes the rows that are not done.
     *
     * @throws ImportException if the file has another number of rows than the plan, or an event is not acknowledged;
     *     the next load begins again with the batch of this event
     */
    Load load(ImportFolder folder, Plan plan) throws IOException, InterruptedException {
        State state = new State(folder, plan);
        boolean includesPresent = state.done.includesPresent();
        int batchSize = limiter.batchSize(MAX_BATCH);
        Instant plannedAt = Instant.parse(plan.plannedAt());
        try (Workers workers = new Workers();
                PlannedRows rows = new PlannedRows(folder.rows(), state.done.bytes())) {
            OrderedTasks<Batch> batches = new OrderedTasks<>(state::awaitAndSave);
            OrderedTasks<Rows> selections = new OrderedTasks<>(selected -> {
                limiter.await(selected.toPublish().size());
                batches.add(workers.executor().submit(() -> publish(selected, plan.source(), plannedAt)));
            });
            for (Lines lines = rows.next(batchSize); lines.rowCount() > 0; lines = rows.next(batchSize)) {
                Lines current = lines;
                selections.add(workers.executor().submit(() -> select(current, includesPresent)));
            }
            selections.finish();
            batches.finish();
        }
        if (state.done.rows() != plan.rows()) {
            throw new ImportException(folder.rows() + " has " + state.done.rows() + " rows, but the plan has "
                    + plan.rows() + "; plan again");
        }
        return state.done;
    }

    private static Rows select(Lines lines, boolean includesPresent) {
        List<ImportRow> rows = lines.rows();
        if (!includesPresent) {
            rows.removeIf(ImportRow::present);
        }
        return new Rows(rows, lines);
    }

    private Batch publish(Rows rows, String source, Instant plannedAt) {
        List<Event> events = new ArrayList<>(rows.toPublish().size());
        List<CompletableFuture<Position>> acknowledgements =
                new ArrayList<>(rows.toPublish().size());
        for (ImportRow row : rows.toPublish()) {
            for (Event event : row.events(source, plannedAt)) {
                events.add(event);
                acknowledgements.add(publisher.publish(event).toCompletableFuture());
            }
        }
        return new Batch(rows, events, acknowledgements);
    }

    /** The progress of a load. */
    private final class State {
        private final ImportFolder folder;
        private final Plan plan;
        private Load done;

        State(ImportFolder folder, Plan plan) throws IOException {
            this.folder = folder;
            this.plan = plan;
            Load earlier = folder.readLoad(plan);
            boolean beginsAgain = earlier.lacksPresent(requestsPresent);
            done = beginsAgain ? Load.none(plan, true) : earlier;
            if (done.rows() < plan.rows()) {
                folder.deleteVerification();
            }
            if (beginsAgain) {
                // The earlier load may be complete. It must not count if this one is interrupted before its first
                // batch.
                folder.writeLoad(done);
            }
        }

        /** Waits until the brokers have a batch, and writes that its rows are done. */
        void awaitAndSave(Batch batch) throws IOException, InterruptedException {
            Map<TopicPartition, Integer> last = new HashMap<>();
            List<Position> tokens = new ArrayList<>(batch.events().size());
            for (int i = 0; i < batch.events().size(); i++) {
                Position token =
                        token(batch.events().get(i), batch.acknowledgements().get(i));
                tokens.add(token);
                last.merge(
                        LogReader.partitionOf(token),
                        i,
                        (a, b) -> tokens.get(a).offset() > tokens.get(b).offset() ? a : b);
            }
            Map<String, LastEvent> lastTokens = new LinkedHashMap<>(done.lastTokens());
            last.forEach((partition, i) -> lastTokens.merge(
                    partition.toString(),
                    new LastEvent(
                            batch.events().get(i).puri().toString(),
                            tokens.get(i).toString()),
                    State::later));
            done = new Load(
                    plan.plannedAt(),
                    done.rows() + batch.rows().lines().rowCount(),
                    batch.rows().lines().endBytes(),
                    done.published() + batch.rows().toPublish().size(),
                    done.includesPresent(),
                    lastTokens);
            folder.writeLoad(done);
            progress.show(done.rows(), plan.rows());
        }

        /**
         * Returns the later one of two events of a partition. Batches overtake each other on the way to the brokers.
         */
        private static LastEvent later(LastEvent a, LastEvent b) {
            return Position.parse(a.token()).offset()
                            > Position.parse(b.token()).offset()
                    ? a
                    : b;
        }

        private static Position token(Event event, CompletableFuture<Position> acknowledgement)
                throws InterruptedException {
            try {
                return acknowledgement.get();
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw new ImportException(
                        "the event of " + event.puri() + " was not acknowledged: " + cause.getMessage()
                                + "; run puri import load again, and it continues here",
                        cause);
            }
        }
    }
}
