package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.Progress;
import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.Load;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.PlannedRows.Lines;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the planned rows. After each batch it writes how far it is, so a load that was killed continues there. The
 * events of the batches under way are published twice, and the registry answers the second ones as unchanged.
 *
 * <pre>
 * file ──lines──▶ workers ──events──▶ this thread ──▶ brokers ──acknowledgements──▶ this thread ──▶ load.json
 * </pre>
 */
final class ImportLoader {
    private static final int MAX_BATCH = 5_000;

    /** While one batch is acknowledged, the next one is published. */
    private static final int MAX_UNACKNOWLEDGED_BATCHES = 2;

    private final IdentityPublisher publisher;
    private final Pace pace;
    private final boolean includesPresent;
    private final Progress progress;
    private final Queue<Published> unacknowledged = new ArrayDeque<>();

    /**
     * @param maxPerSecond maximum number of events per second; null for no limit
     * @param includesPresent whether to publish the rows too that the registry had when the plan was made
     * @param progress gets the number of loaded rows, after each batch
     */
    ImportLoader(
            IdentityPublisher publisher, @Nullable Integer maxPerSecond, boolean includesPresent, Progress progress) {
        this.publisher = publisher;
        this.pace = new Pace(maxPerSecond);
        this.includesPresent = includesPresent;
        this.progress = progress;
    }

    /** The events of some rows. */
    private record Batch(List<Event> events, int rowCount, long endBytes) {}

    /** A batch with the acknowledgement of each of its events. */
    private record Published(Batch batch, List<CompletableFuture<Position>> acknowledgements) {}

    private record Partition(String topic, int number) {}

    /**
     * Publishes the rows that are not done.
     *
     * @throws ImportException if an event is not acknowledged; the next load continues before its batch
     */
    Load load(ImportFolder folder, Plan plan) throws IOException, InterruptedException {
        State state = new State(folder, plan);
        if (plan.rows() == 0) {
            throw new ImportException("the plan has no rows: each row has a conflict; see " + folder.conflicts());
        }
        int batchSize = pace.batchSize(MAX_BATCH);
        Instant plannedAt = Instant.parse(plan.plannedAt());
        try (Workers workers = new Workers();
                PlannedRows rows = new PlannedRows(folder.rows(), state.done.bytes())) {
            OrderedTasks<Batch> batches = new OrderedTasks<>(batch -> {
                if (unacknowledged.size() == MAX_UNACKNOWLEDGED_BATCHES) {
                    state.acknowledge(unacknowledged.remove());
                }
                unacknowledged.add(publish(batch));
            });
            for (Lines lines = rows.next(batchSize); lines.rowCount() > 0; lines = rows.next(batchSize)) {
                Lines batch = lines;
                batches.add(workers.executor().submit(() -> events(batch, plan.source(), plannedAt)));
            }
            batches.finish();
            while (!unacknowledged.isEmpty()) {
                state.acknowledge(unacknowledged.remove());
            }
        }
        if (state.done.rows() != plan.rows()) {
            throw new ImportException(folder.rows() + " has " + state.done.rows() + " rows, but the plan has "
                    + plan.rows() + "; plan again");
        }
        return state.done;
    }

    private Batch events(Lines lines, String source, Instant plannedAt) {
        List<Event> events = new ArrayList<>(lines.rowCount());
        for (ImportRow row : lines.rows()) {
            if (!row.present() || includesPresent) {
                events.addAll(row.events(source, plannedAt));
            }
        }
        return new Batch(events, lines.rowCount(), lines.endBytes());
    }

    private Published publish(Batch batch) throws InterruptedException {
        pace.await(batch.events().size());
        List<CompletableFuture<Position>> acknowledgements =
                new ArrayList<>(batch.events().size());
        for (Event event : batch.events()) {
            acknowledgements.add(publisher.publish(event).toCompletableFuture());
        }
        return new Published(batch, acknowledgements);
    }

    /** How far a load is. */
    private final class State {
        private final ImportFolder folder;
        private final Plan plan;
        private Load done;

        State(ImportFolder folder, Plan plan) throws IOException {
            this.folder = folder;
            this.plan = plan;
            this.done = folder.readLoad(plan);
        }

        /** Waits until the brokers have a batch, and writes that its rows are done. */
        void acknowledge(Published published) throws IOException, InterruptedException {
            Batch batch = published.batch();
            Map<Partition, Integer> lastOfPartition = new LinkedHashMap<>();
            List<Position> tokens = new ArrayList<>(batch.events().size());
            for (int i = 0; i < batch.events().size(); i++) {
                Position token = token(
                        batch.events().get(i), published.acknowledgements().get(i));
                tokens.add(token);
                lastOfPartition.put(new Partition(token.topic(), token.partition()), i);
            }
            Map<String, LastEvent> lastTokens = new LinkedHashMap<>(done.lastTokens());
            lastOfPartition.forEach((partition, i) -> lastTokens.put(
                    partition.topic() + "-" + partition.number(),
                    new LastEvent(
                            batch.events().get(i).puri().toString(),
                            tokens.get(i).toString())));
            done = new Load(
                    plan.plannedAt(),
                    done.rows() + batch.rowCount(),
                    batch.endBytes(),
                    done.published() + batch.events().size(),
                    lastTokens);
            folder.writeLoad(done);
            progress.show(done.rows(), plan.rows());
        }

        private static Position token(Event event, CompletableFuture<Position> acknowledgement)
                throws InterruptedException {
            try {
                return acknowledgement.get();
            } catch (ExecutionException e) {
                throw new ImportException(
                        "the event of " + event.puri() + " was not acknowledged: "
                                + (e.getCause() == null ? e : e.getCause()).getMessage()
                                + "; run puri import load again, and it continues here",
                        e.getCause());
            }
        }
    }
}
