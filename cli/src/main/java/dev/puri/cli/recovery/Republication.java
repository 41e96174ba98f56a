package dev.puri.cli.recovery;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.io.LogReader;
import dev.puri.cli.verify.Repairs;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Makes the topology write rows to the identities topic again. For each pURI, it publishes an event that the registrar
 * always refuses ({@link Repairs}). The registrar writes the row of a pURI with each outcome, also with a refusal.
 *
 * <p>An event with the row of the export, and its uuid and epoch as guards, could be applied and change the row. Epochs
 * start again after a restore, so an old export may have the present epoch with an old shard.
 */
public final class Republication {
    private static final int BATCH = 10_000;
    private static final String SOURCE = "puri-republish";

    private final IdentityPublisher publisher;
    private final Instant now;
    private final LongConsumer progress;
    private final Repairs repairs = new Repairs(SOURCE);
    private final List<Event> batch = new ArrayList<>(BATCH);

    /** For each partition, the last event. */
    private final Map<TopicPartition, Delivery.Acknowledged> last = new HashMap<>();

    private long published;

    /**
     * @param now the time of the events
     * @param progress gets the number of published events
     */
    public Republication(IdentityPublisher publisher, Instant now, LongConsumer progress) {
        this.publisher = publisher;
        this.now = now;
        this.progress = progress;
    }

    /**
     * Publishes an event for each row of an export.
     *
     * @param otherNames names that are published later; those of the export are removed
     */
    public void republish(ExportFile export, Set<Puri> otherNames) throws IOException {
        for (JsonNode row = export.next(); row != null; row = export.next()) {
            Puri puri = Puri.parse(row.path("puri").asText());
            otherNames.remove(puri);
            add(puri);
        }
        flush();
    }

    /** Publishes an event for each name. */
    public void republish(Set<Puri> names) {
        names.forEach(this::add);
        flush();
    }

    /** Returns the number of published events. */
    public long published() {
        return published;
    }

    /**
     * Waits until a resolver has read the outcomes of all events.
     *
     * @param wait how long the resolver may take for one partition
     * @return the last event of a partition that it has not read; null if it has read all
     */
    public @Nullable Position awaitRead(IdentityResolver resolver, Duration wait) {
        for (Delivery.Acknowledged event : last.values()) {
            Verdict verdict = resolver.resolve(Ref.of(event.event().puri()).at(event.token()), wait);
            if (verdict instanceof Verdict.NotCaughtUp) {
                return event.token();
            }
        }
        return null;
    }

    private void add(Puri puri) {
        batch.add(repairs.event(puri, now));
        if (batch.size() == BATCH) {
            flush();
        }
    }

    private void flush() {
        for (Delivery delivery : publisher.publishAll(batch)) {
            switch (delivery) {
                case Delivery.Acknowledged acknowledged ->
                    last.put(LogReader.partitionOf(acknowledged.token()), acknowledged);
                // A second run publishes all of them again, which does no harm.
                case Delivery.Failed failed -> throw failed.error();
            }
        }
        published += batch.size();
        batch.clear();
        progress.accept(published);
    }
}
