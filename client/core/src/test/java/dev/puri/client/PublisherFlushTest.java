package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** How long a flush waits, and for which events. */
class PublisherFlushTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
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
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(250), namespace -> false);
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

    /** Publishes events of different pURIs with callbacks that block until a future completes. */
    private static final class BlockedEvents {
        private final Thread test = Thread.currentThread();
        private final CompletableFuture<Boolean> end = new CompletableFuture<>();
        private final AtomicInteger blocked = new AtomicInteger();
        private final CompletableFuture<?>[] stages;

        BlockedEvents(IdentityPublisher publisher, int count) {
            stages = IntStream.range(0, count)
                    .mapToObj(i -> publisher
                            .publish(event("a:blocked:" + i))
                            .handle((position, error) -> block())
                            .toCompletableFuture())
                    .toArray(CompletableFuture[]::new);
        }

        /** Does not block the thread of the test, which runs the callbacks of events that have already expired. */
        private boolean block() {
            if (Thread.currentThread() == test) {
                return true;
            }
            blocked.incrementAndGet();
            return end.join();
        }

        void awaitBlocked(int count) {
            await().atMost(LIMIT).until(() -> blocked.get() >= count);
        }

        void end() {
            end.complete(true);
            await().atMost(LIMIT).until(() -> CompletableFuture.allOf(stages).isDone());
        }
    }

    @Test
    void eachEventFailsInTimeAlthoughCallbacksBlock() {
        try (MockProducer<byte[], Object> kafka = unanswered(() -> {})) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            BlockedEvents events = new BlockedEvents(publisher, InFlightEvents.MAX_EXPIRING_THREADS - 1);
            events.awaitBlocked(1);
            assertThatThrownBy(
                            () -> publisher.publish(EVENT).toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(PublishException.class);
            events.end();
        }
    }

    /** The threads that wait fail their events, because callbacks block all threads that otherwise do so. */
    @Test
    void waitsForResultsEndAlthoughAllExpiringThreadsBlock() throws Exception {
        try (MockProducer<byte[], Object> kafka = unanswered(() -> {})) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            BlockedEvents events = new BlockedEvents(publisher, 4 * InFlightEvents.MAX_EXPIRING_THREADS);
            events.awaitBlocked(InFlightEvents.MAX_EXPIRING_THREADS);
            CompletableFuture<Position> single = CompletableFuture.supplyAsync(() -> publisher.publishSync(EVENT));
            assertThatThrownBy(() -> single.get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(PublishException.class)
                    .hasMessageContaining("no acknowledgement within 20 ms");
            CompletableFuture<List<Delivery>> batch = CompletableFuture.supplyAsync(
                    () -> publisher.publishAll(List.of(event("a:b:1"), event("a:b:2"), event("a:b:1"))));
            assertThat(batch.get(60, TimeUnit.SECONDS)).hasSize(3).hasOnlyElementsOfType(Delivery.Failed.class);
            events.end();
        }
    }

    /** Each check of the timer finds the expired events that have no thread yet. */
    @Test
    void callbacksThatBlockOccupyABoundedNumberOfThreads() {
        try (MockProducer<byte[], Object> kafka = unanswered(() -> {})) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false);
            BlockedEvents events = new BlockedEvents(publisher, 4 * InFlightEvents.MAX_EXPIRING_THREADS);
            // The flush waits for more than a hundred checks of the timer.
            assertThatThrownBy(publisher::flush).isInstanceOf(TimeoutException.class);
            assertThat(events.blocked).hasPositiveValue();
            assertThat(events.blocked.get()).isLessThanOrEqualTo(InFlightEvents.MAX_EXPIRING_THREADS);
            events.end();
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
