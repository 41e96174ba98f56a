package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.ProgressListener;
import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.LoadProgress;
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
 * Publishes the planned rows. After each batch it saves its progress in {@code load.json}. A load that was killed
 * continues after the last saved batch: it publishes the events of unsaved batches again, and their second outcome is
 * <i>unchanged</i>.
 *
 * <p>Rows that the registry had when the plan was made (existing rows) are skipped unless requested. The first load
 * that requests them begins again at the first row. From then on all loads of the plan publish them, requested or not.
 * If a later load could omit them again, it would skip the rest of them and still count as complete.
 *
 * <pre>
 * file ──lines──▶ workers ──rows──▶ this thread limits the rate ──▶ workers ──events──▶ brokers
 *      ──acknowledgements──▶ this thread, in order ──▶ load.json
 * </pre>
 *
 * Batches are published concurrently. This keeps the order of the events of a pURI, which are all in one batch.
 */
final class ImportLoader {
    /** Maximum number of rows of a batch. In larger batches some events would exceed delivery.timeout.ms. */
    private static final int MAX_BATCH = 2_500;

    private final IdentityPublisher publisher;
    private final RateLimiter limiter;
    private final boolean publishExisting;
    private final ProgressListener progress;

    /**
     * @param maxPerSecond maximum number of published rows per second; null for no limit
     * @param publishExisting whether to publish also the rows that the registry had when the plan was made
     * @param progress receives the number of loaded rows, after each batch
     */
    ImportLoader(
            IdentityPublisher publisher,
            @Nullable Integer maxPerSecond,
            boolean publishExisting,
            ProgressListener progress) {
        this.publisher = publisher;
        this.limiter = new RateLimiter(maxPerSecond);
        this.publishExisting = publishExisting;
        this.progress = progress;
    }

    /**
     * Some rows of the file.
     *
     * @param toPublish all rows, or those that the registry did not have when the plan was made
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
     * Publishes the rows that are not loaded yet.
     *
     * @throws ImportException if the file has another number of rows than the plan, or an event is not acknowledged;
     *     the next load begins again with the batch of this event
     */
    LoadProgress load(ImportFolder folder, Plan plan) throws IOException, InterruptedException {
        ProgressWriter progressWriter = new ProgressWriter(folder, plan);
        boolean publishesExisting = progressWriter.saved.publishesExisting();
        int batchSize = limiter.batchSize(MAX_BATCH);
        Instant plannedAt = Instant.parse(plan.plannedAt());
        try (Workers workers = new Workers();
                PlannedRows rows = new PlannedRows(folder.rows(), progressWriter.saved.bytes())) {
            OrderedTasks<Batch> batches = new OrderedTasks<>(progressWriter::awaitAndSave);
            OrderedTasks<Rows> selections = new OrderedTasks<>(selected -> {
                limiter.await(selected.toPublish().size());
                batches.add(workers.executor().submit(() -> publish(selected, plan.source(), plannedAt)));
            });
            for (Lines lines = rows.next(batchSize); lines.rowCount() > 0; lines = rows.next(batchSize)) {
                Lines current = lines;
                selections.add(workers.executor().submit(() -> select(current, publishesExisting)));
            }
            selections.finish();
            batches.finish();
        }
        if (progressWriter.saved.rows() != plan.rows()) {
            throw new ImportException(folder.rows() + " has " + progressWriter.saved.rows() + " rows, but the plan has "
                    + plan.rows() + "; plan again");
        }
        return progressWriter.saved;
    }

    private static Rows select(Lines lines, boolean publishesExisting) {
        List<ImportRow> rows = lines.rows();
        if (!publishesExisting) {
            rows.removeIf(ImportRow::existing);
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

    /** Saves the progress of the load after each acknowledged batch. */
    private final class ProgressWriter {
        private final ImportFolder folder;
        private final Plan plan;
        private LoadProgress saved;

        ProgressWriter(ImportFolder folder, Plan plan) throws IOException {
            this.folder = folder;
            this.plan = plan;
            LoadProgress earlier = folder.readLoad(plan);
            boolean beginsAgain = earlier.mustRestartFor(publishExisting);
            saved = beginsAgain ? LoadProgress.none(plan, true) : earlier;
            if (saved.rows() < plan.rows()) {
                folder.deleteVerification();
            }
            if (beginsAgain) {
                // The stored progress may be that of a complete load. It must not be found if this load is interrupted
                // before its first batch.
                folder.writeLoad(saved);
            }
        }

        /** Waits until the brokers have acknowledged a batch, and then saves the progress. */
        void awaitAndSave(Batch batch) throws IOException, InterruptedException {
            // By partition, the index of the event with the highest offset.
            Map<TopicPartition, Integer> lastEventIndexes = new HashMap<>();
            List<Position> positions = new ArrayList<>(batch.events().size());
            for (int i = 0; i < batch.events().size(); i++) {
                Position position =
                        await(batch.events().get(i), batch.acknowledgements().get(i));
                positions.add(position);
                lastEventIndexes.merge(
                        LogReader.partitionOf(position),
                        i,
                        (a, b) -> positions.get(a).offset() > positions.get(b).offset() ? a : b);
            }
            Map<String, LastEvent> lastTokens = new LinkedHashMap<>(saved.lastTokens());
            lastEventIndexes.forEach((partition, i) -> lastTokens.merge(
                    partition.toString(),
                    new LastEvent(
                            batch.events().get(i).puri().toString(),
                            positions.get(i).toString()),
                    ProgressWriter::later));
            saved = new LoadProgress(
                    plan.plannedAt(),
                    saved.rows() + batch.rows().lines().rowCount(),
                    batch.rows().lines().endBytes(),
                    saved.published() + batch.rows().toPublish().size(),
                    saved.publishesExisting(),
                    lastTokens);
            folder.writeLoad(saved);
            progress.show(saved.rows(), plan.rows());
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

        private static Position await(Event event, CompletableFuture<Position> acknowledgement)
                throws InterruptedException {
            try {
                return acknowledgement.get();
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw new ImportException(
                        "the event of " + event.puri() + " was not acknowledged: " + cause.getMessage()
                                + "; run puri import load again to continue with the batch of this event",
                        cause);
            }
        }
    }
}
