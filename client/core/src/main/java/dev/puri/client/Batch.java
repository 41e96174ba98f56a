package dev.puri.client;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of one call. Sending may block for {@code max.block.ms}; once one event failed so, those that would fail
 * for the same reason are not sent, or a batch would block that long for each of them.
 */
final class Batch {
    private final IdentityPublisher publisher;
    private final List<Sent> sent = new ArrayList<>();
    private final Map<String, Throwable> failedTopics = new HashMap<>();
    private @Nullable Throwable publisherFailure;

    private record Sent(Event event, CompletableFuture<Position> result) {}

    Batch(IdentityPublisher publisher) {
        this.publisher = publisher;
    }

    void send(Event event, String topic) {
        Throwable failure = publisherFailure == null ? failedTopics.get(topic) : publisherFailure;
        if (failure != null) {
            sent.add(new Sent(event, CompletableFuture.failedFuture(publisher.failure(event, topic, failure))));
            return;
        }
        CompletableFuture<Position> result = publisher.send(event, topic, Map.of());
        sent.add(new Sent(event, result));
        if (result.isCompletedExceptionally() && delivery(event, result) instanceof Delivery.Failed failed) {
            note(topic, failed.error());
        }
    }

    private void note(String topic, PublishException error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        switch (error.scope()) {
            case EVENT -> {}
            case TOPIC -> failedTopics.put(topic, cause);
            case PUBLISHER -> publisherFailure = cause;
        }
    }

    /** Waits for all, in the order in which they were sent. */
    List<Delivery> deliveries() {
        List<Delivery> deliveries = new ArrayList<>(sent.size());
        for (Sent each : sent) {
            deliveries.add(delivery(each.event(), each.result()));
        }
        return deliveries;
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
