package dev.puri.cli.imports;

import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.Load;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the planned rows. After each batch it writes how far it is, so a load that was killed continues there. The
 * events of the batch under way are published twice, and the registry answers the second ones as unchanged.
 */
final class ImportLoader {
    private static final int MAX_BATCH = 10_000;

    private final IdentityPublisher publisher;
    private final @Nullable Integer maxPerSecond;
    private final boolean includesPresent;
    private final Consumer<Load> progress;

    /**
     * @param maxPerSecond maximum number of events per second; null for no limit
     * @param includesPresent whether to publish the rows too that the registry had when the plan was made
     * @param progress gets how far the load is, after each batch
     */
    ImportLoader(
            IdentityPublisher publisher,
            @Nullable Integer maxPerSecond,
            boolean includesPresent,
            Consumer<Load> progress) {
        this.publisher = publisher;
        this.maxPerSecond = maxPerSecond;
        this.includesPresent = includesPresent;
        this.progress = progress;
    }

    /**
     * Publishes the rows that are not done.
     *
     * @throws ImportException if an event is not acknowledged; the next load continues before its batch
     */
    Load load(ImportFolder folder, Plan plan) throws IOException, InterruptedException {
        Load done = folder.readLoad(plan);
        int batchSize = maxPerSecond == null ? MAX_BATCH : Math.min(MAX_BATCH, maxPerSecond);
        Instant plannedAt = Instant.parse(plan.plannedAt());
        long startNanos = System.nanoTime();
        long publishedBefore = done.published();
        try (PlannedRows rows = new PlannedRows(folder.rows(), done.bytes())) {
            for (List<ImportRow> batch = rows.next(batchSize); !batch.isEmpty(); batch = rows.next(batchSize)) {
                List<Event> events = new ArrayList<>();
                for (ImportRow row : batch) {
                    if (!row.present() || includesPresent) {
                        events.addAll(row.events(plan.source(), plannedAt));
                    }
                }
                Map<String, LastEvent> lastTokens = new LinkedHashMap<>(done.lastTokens());
                publish(events, lastTokens);
                done = new Load(
                        plan.plannedAt(),
                        done.rows() + batch.size(),
                        rows.bytes(),
                        done.published() + events.size(),
                        lastTokens);
                folder.writeLoad(done);
                progress.accept(done);
                pace(startNanos, done.published() - publishedBefore);
            }
        }
        return done;
    }

    private void publish(List<Event> events, Map<String, LastEvent> lastTokens) {
        for (Delivery delivery : publisher.publishAll(events)) {
            switch (delivery) {
                case Delivery.Acknowledged acknowledged -> {
                    Position token = acknowledged.token();
                    lastTokens.put(
                            token.topic() + "-" + token.partition(),
                            new LastEvent(acknowledged.event().puri().toString(), token.toString()));
                }
                case Delivery.Failed failed ->
                    throw new ImportException(
                            "the event of " + failed.event().puri() + " was not acknowledged: "
                                    + failed.error().getMessage()
                                    + "; run puri import load again, and it continues here",
                            failed.error());
            }
        }
    }

    /** Waits until the events so far are within the limit. */
    private void pace(long startNanos, long published) throws InterruptedException {
        if (maxPerSecond != null) {
            long dueNanos = startNanos + Duration.ofSeconds(1).toNanos() * published / maxPerSecond;
            TimeUnit.NANOSECONDS.sleep(dueNanos - System.nanoTime());
        }
    }
}
