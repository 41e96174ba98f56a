package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** How long a flush waits, and for which events. */
class PublisherFlushTest {
    private static final Event EVENT = event("a:b:c");
    private static final Serializer<Object> TEXT =
            (topic, value) -> String.valueOf(value).getBytes(StandardCharsets.UTF_8);

    private static Event event(String puri) {
        return new Events("test").deleted(Puri.parse(puri)).build();
    }

    @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
    private static MockProducer<byte[], Object> producer(boolean finishesAtOnce) {
        return new MockProducer<>(finishesAtOnce, (Partitioner) null, new ByteArraySerializer(), TEXT);
    }

    /** It requests a producer id, expires nothing meanwhile, and does not return from its flush. */
    @Test
    void flushEndsAlthoughTheProducerSettlesNothing() throws Exception {
        CompletableFuture<Boolean> begun = new CompletableFuture<>();
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        Runnable flushing = () -> {
            begun.complete(true);
            end.join();
        };
        try (MockProducer<byte[], Object> kafka = unanswered(flushing)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            CompletionStage<Position> published = publisher.publish(EVENT);
            CompletableFuture.runAsync(publisher::flush).get(60, TimeUnit.SECONDS);
            assertThat(published.toCompletableFuture()).isCompletedExceptionally();
            assertThat(begun.get(60, TimeUnit.SECONDS))
                    .as("the producer's own flush")
                    .isTrue();
            assertThat(end).as("the end of the producer's own flush").isNotDone();
            end.complete(true);
        }
    }

    /** The producer's thread may finish an event before the caller's thread has returned from the producer. */
    @Test
    void flushDoesNotWaitForEventsThatTheProducerFinishedAtOnce() {
        try (MockProducer<byte[], Object> kafka = producer(true)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            for (int i = 0; i < 2 * EventSlots.CHUNK_SIZE; i++) {
                assertThat(publisher.publish(event("a:b:" + i)).toCompletableFuture())
                        .isCompleted();
            }
            assertThatCode(publisher::flush).doesNotThrowAnyException();
        }
    }

    @Test
    void flushIsNotHeldUpByACallerThatCancelsItsStage() {
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofSeconds(10), namespace -> false);
            CompletionStage<Position> published = publisher.publish(EVENT);
            assertThat(published.toCompletableFuture().cancel(true)).isTrue();
            assertThat(kafka.completeNext()).isTrue();
            assertThatCode(publisher::flush).doesNotThrowAnyException();
        }
    }

    @Test
    void onlyThePublisherCompletesItsStages() {
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofSeconds(10), namespace -> false);
            CompletableFuture<Position> cast = (CompletableFuture<Position>) publisher.publish(EVENT);
            Position other = Position.parse("0-1");
            List<ThrowingCallable> completions = List.of(
                    () -> cast.complete(other),
                    () -> cast.completeExceptionally(new IllegalStateException("a test's")),
                    () -> cast.cancel(true),
                    () -> cast.obtrudeValue(other),
                    () -> cast.obtrudeException(new IllegalStateException("a test's")),
                    () -> cast.completeAsync(() -> other),
                    () -> cast.orTimeout(1, TimeUnit.MILLISECONDS),
                    () -> cast.completeOnTimeout(other, 1, TimeUnit.MILLISECONDS));
            for (ThrowingCallable completion : completions) {
                assertThatThrownBy(completion).isInstanceOf(UnsupportedOperationException.class);
            }
            assertThat(kafka.completeNext()).isTrue();
            publisher.flush();
            assertThat(cast).isCompletedWithValueMatching(position -> position.offset() == 0);
        }
    }

    @Test
    void flushIsRefusedInAStageOfThePublisher() throws Exception {
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            CompletionStage<Position> flushed =
                    publisher.publish(EVENT).whenComplete((position, error) -> publisher.flush());
            kafka.completeNext();
            assertThatThrownBy(() -> flushed.toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would wait for that callback");
            publisher.flush();
        }
    }

    @Test
    void flushEndsAlthoughACallbackBlocks() throws Exception {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofSeconds(1), namespace -> false);
            CompletableFuture<Boolean> blocking = new CompletableFuture<>();
            CompletionStage<Boolean> blocked = publisher.publish(EVENT).handle((position, error) -> {
                blocking.complete(true);
                return end.join();
            });
            CompletableFuture<Boolean> completing = CompletableFuture.supplyAsync(kafka::completeNext);
            blocking.get(60, TimeUnit.SECONDS);
            assertThatThrownBy(publisher::flush)
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContaining("still runs");
            end.complete(true);
            assertThat(completing.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(blocked.toCompletableFuture()).isCompletedWithValue(true);
        }
    }

    @Test
    void eachEventFailsInTimeAlthoughACallbackBlocks() throws Exception {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            List<CompletionStage<Boolean>> blocked = List.of(
                    publisher.publish(event("a:b:1")).handle((position, error) -> end.join()),
                    publisher.publish(event("a:b:2")).handle((position, error) -> end.join()));
            assertThatThrownBy(() -> publisher
                            .publish(event("a:b:3"))
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(PublishException.class);
            assertThat(blocked)
                    .noneSatisfy(each -> assertThat(each.toCompletableFuture()).isDone());
            end.complete(true);
        }
    }

    /** Each check of the timer finds the expired events that have no thread yet. */
    @Test
    void callbacksThatBlockOccupyABoundedNumberOfThreads() {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        AtomicInteger running = new AtomicInteger();
        int events = 4 * InFlightEvents.MAX_EXPIRING_THREADS;
        try (MockProducer<byte[], Object> kafka = unanswered(() -> {})) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            for (int i = 0; i < events; i++) {
                var unused = publisher.publish(event("a:b:" + i)).handle((position, error) -> {
                    running.incrementAndGet();
                    return end.join();
                });
            }
            // The flush waits for more than a hundred checks of the timer.
            assertThatThrownBy(publisher::flush).isInstanceOf(TimeoutException.class);
            assertThat(running).hasPositiveValue();
            assertThat(running.get()).isLessThanOrEqualTo(InFlightEvents.MAX_EXPIRING_THREADS);
            end.complete(true);
            publisher.flush();
            assertThat(running).hasValue(events);
        }
    }

    @Test
    void flushSendsLingeringEventsAndWaitsForThem() {
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            List<CompletionStage<Position>> published =
                    List.of(publisher.publish(event("a:b:1")), publisher.publish(event("a:b:2")));
            publisher.flush();
            assertThat(published)
                    .allSatisfy(each -> assertThat(each.toCompletableFuture()).isCompleted());
        }
    }

    /** Like the command line, counts failures in a (slow) callback and reads the count after the flush. */
    @Test
    void flushReturnsAfterTheCallbacksOfItsEvents() {
        try (MockProducer<byte[], Object> kafka = producer(false)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            AtomicReference<Position> seen = new AtomicReference<>();
            var unused = publisher.publish(EVENT).whenComplete((position, error) -> {
                var unusedWait = new CompletableFuture<Boolean>()
                        .completeOnTimeout(true, 50, TimeUnit.MILLISECONDS)
                        .join();
                seen.set(position);
            });
            publisher.flush();
            assertThat(seen.get()).hasToString("0-0");
        }
    }

    /** A producer that acknowledges nothing. */
    @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
    private static MockProducer<byte[], Object> unanswered(Runnable onFlush) {
        return new MockProducer<>(false, (Partitioner) null, new ByteArraySerializer(), TEXT) {
            @Override
            public void flush() {
                onFlush.run();
            }
        };
    }
}
