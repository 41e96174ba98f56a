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
 * Sends the events of one {@link IdentityPublisher#publishAll} call in waves. A wave has at most one event of each
 * pURI. The next wave begins when all events of the previous wave are acknowledged or failed:
 *
 * <pre>
 * events of a: a1 a2 a3      wave 1: a1 b1      wave 2: a2 b2 (failed)      wave 3: a3
 * events of b: b1 b2 b3                                                     b3 is not sent
 * </pre>
 *
 * <p>So an event reaches the log only after the earlier events of its pURI. If the caller repeats the batch, the last
 * event of a pURI is again the last in the log.
 *
 * <p>Sending an event may block for {@code max.block.ms}. After a failure, events that would fail for the same reason
 * are not sent; otherwise the batch would block that long for each of these events.
 */
final class EventBatch {
    private final IdentityPublisher publisher;
    private final List<BatchedEvent> events = new ArrayList<>();

    /** Events that are in no wave yet, in the order in which they were added. */
    private final Map<Puri, Deque<BatchedEvent>> unsentEvents = new LinkedHashMap<>();

    private final Map<String, Throwable> failedTopics = new HashMap<>();
    private @Nullable Throwable publisherFailure;

    /** One event of the batch. */
    private static final class BatchedEvent {
        private final Event event;

        /** The publisher's future once the event is sent. An event that is not sent keeps this future, which fails. */
        private CompletableFuture<Position> result = new CompletableFuture<>();

        BatchedEvent(Event event) {
            this.event = event;
        }
    }

    EventBatch(IdentityPublisher publisher) {
        this.publisher = publisher;
    }

    void add(Event event) {
        BatchedEvent batched = new BatchedEvent(event);
        events.add(batched);
        unsentEvents.computeIfAbsent(event.puri(), puri -> new ArrayDeque<>()).add(batched);
    }

    /**
     * Sends all events and waits for their results. Returns the results in the order in which the events were added.
     */
    List<Delivery> publish() {
        while (!unsentEvents.isEmpty()) {
            List<BatchedEvent> wave = nextWave();
            wave.forEach(this::send);
            wave.forEach(this::awaitResult);
        }
        return events.stream()
                .map(batched -> awaitDelivery(batched.event, batched.result))
                .toList();
    }

    private List<BatchedEvent> nextWave() {
        List<BatchedEvent> wave = new ArrayList<>(unsentEvents.size());
        unsentEvents.values().removeIf(eventsOfPuri -> {
            wave.add(eventsOfPuri.remove());
            return eventsOfPuri.isEmpty();
        });
        return wave;
    }

    private void send(BatchedEvent batched) {
        String topic;
        try {
            topic = publisher.topic(batched.event);
        } catch (PublishException e) {
            batched.result.completeExceptionally(e);
            return;
        }
        Throwable failure = publisherFailure == null ? failedTopics.get(topic) : publisherFailure;
        if (failure != null) {
            batched.result.completeExceptionally(publisher.failure(batched.event, topic, failure));
            return;
        }
        batched.result = publisher.send(batched.event, topic, Map.of());
        if (batched.result.isCompletedExceptionally()) {
            awaitResult(batched);
        }
    }

    /**
     * Waits for the result of an event. If the event failed, completes the results of the later events of its pURI with
     * this failure. These events are not sent.
     */
    private void awaitResult(BatchedEvent batched) {
        if (awaitDelivery(batched.event, batched.result) instanceof Delivery.Failed failed) {
            PublishException error = failed.error();
            recordFailure(error);
            Deque<BatchedEvent> later = unsentEvents.remove(batched.event.puri());
            if (later != null) {
                later.forEach(laterEvent -> laterEvent.result.completeExceptionally(
                        publisher.failure(laterEvent.event, error.topic(), error)));
            }
        }
    }

    private void recordFailure(PublishException error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        switch (error.scope()) {
            case EVENT -> {}
            case TOPIC -> failedTopics.put(error.topic(), cause);
            case PUBLISHER -> publisherFailure = cause;
        }
    }

    /** Waits for a result. The wait is bounded, because an event in flight fails after a time limit. */
    static Delivery awaitDelivery(Event event, CompletableFuture<Position> result) {
        try {
            Position position =
                    result instanceof InFlightEvents.InFlightEvent inFlight ? inFlight.awaitResult() : result.get();
            return new Delivery.Acknowledged(event, position);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PublishException failure) {
                return new Delivery.Failed(event, failure);
            }
            throw new IllegalStateException(
                    "bug: a publisher's result failed with something other than a PublishException", e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
