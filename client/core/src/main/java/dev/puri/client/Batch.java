package dev.puri.client;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of one call in waves. A wave has one event of each pURI at most, and the next wave begins when all of the
 * last one are answered:
 *
 * <pre>
 * events of a: a1 a2 a3      wave 1: a1 b1      wave 2: a2 b2 (failed)      wave 3: a3
 * events of b: b1 b2 b3                                                     b3 is not sent
 * </pre>
 *
 * <p>So a later event of a pURI never reaches the log while an earlier one does not: when the caller repeats the batch, the last
 * event of a pURI is the last one in the log again.
 *
 * <p>Sending may block for {@code max.block.ms}. Once one event failed so, those that would fail for the same reason are not
 * sent, or a batch would block that long for each of them.
 */
final class Batch {
    private final IdentityPublisher publisher;
    private final List<Entry> all = new ArrayList<>();

    /** Entries that are in no wave yet, in their order. */
    private final Map<Puri, Deque<Entry>> left = new LinkedHashMap<>();

    private final Map<String, Throwable> failedTopics = new HashMap<>();
    private @Nullable Throwable publisherFailure;

    /** One event of the batch. */
    private static final class Entry {
        private final Event event;

        /** Replaced when the event is sent. */
        private CompletableFuture<Position> result = new CompletableFuture<>();

        Entry(Event event) {
            this.event = event;
        }
    }

    Batch(IdentityPublisher publisher) {
        this.publisher = publisher;
    }

    void add(Event event) {
        Entry entry = new Entry(event);
        all.add(entry);
        left.computeIfAbsent(event.puri(), puri -> new ArrayDeque<>()).add(entry);
    }

    /** Sends all and waits for all. The results are in the order in which the events were added. */
    List<Delivery> publish() {
        while (!left.isEmpty()) {
            List<Entry> wave = nextWave();
            wave.forEach(this::send);
            wave.forEach(this::settle);
        }
        return all.stream().map(each -> delivery(each.event, each.result)).toList();
    }

    private List<Entry> nextWave() {
        List<Entry> wave = new ArrayList<>(left.size());
        left.values().removeIf(entries -> {
            wave.add(entries.remove());
            return entries.isEmpty();
        });
        return wave;
    }

    private void send(Entry entry) {
        String topic;
        try {
            topic = publisher.topic(entry.event);
        } catch (PublishException e) {
            entry.result.completeExceptionally(e);
            return;
        }
        Throwable failure = publisherFailure == null ? failedTopics.get(topic) : publisherFailure;
        if (failure != null) {
            entry.result.completeExceptionally(publisher.failure(entry.event, topic, failure));
            return;
        }
        entry.result = publisher.send(entry.event, topic, Map.of());
        if (entry.result.isCompletedExceptionally()) {
            settle(entry);
        }
    }

    /** Waits for an event. If it failed, no later one of its pURI is sent. */
    private void settle(Entry entry) {
        if (delivery(entry.event, entry.result) instanceof Delivery.Failed failed) {
            PublishException error = failed.error();
            note(error);
            Deque<Entry> later = left.remove(entry.event.puri());
            if (later != null) {
                later.forEach(
                        each -> each.result.completeExceptionally(publisher.failure(each.event, error.topic(), error)));
            }
        }
    }

    private void note(PublishException error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        switch (error.scope()) {
            case EVENT -> {}
            case TOPIC -> failedTopics.put(error.topic(), cause);
            case PUBLISHER -> publisherFailure = cause;
        }
    }

    /** Waits for one; the publisher settles every result within a bound. */
    static Delivery delivery(Event event, CompletableFuture<Position> result) {
        try {
            return new Delivery.Acknowledged(event, result.get());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PublishException failure) {
                return new Delivery.Failed(event, failure);
            }
            throw new IllegalStateException("a publisher fails in one way only", e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
