package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.registry.TopologySupervisor.Failed;
import dev.puri.registry.TopologySupervisor.Instance;
import dev.puri.registry.TopologySupervisor.Started;
import dev.puri.registry.TopologySupervisor.Starting;
import dev.puri.registry.TopologySupervisor.State;
import dev.puri.registry.TopologySupervisor.Stopped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TopologySupervisorTest {
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Instance instance = new Instance(started::countDown, () -> KafkaStreams.State.RUNNING, timeout -> {
        closed.countDown();
        return true;
    });
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** The states at the beginning of each preparation. */
    private final List<State> statesBefore = Collections.synchronizedList(new ArrayList<>());

    private Supplier<Supplier<Instance>> preparation = () -> () -> instance;
    private final TopologySupervisor supervisor =
            new TopologySupervisor(this::prepare, Duration.ofMillis(1), failure::complete);

    private Supplier<Instance> prepare() {
        statesBefore.add(supervisor.state());
        return preparation.get();
    }

    @AfterEach
    void stop() {
        supervisor.requestStop();
        supervisor.awaitStop();
    }

    private void startAndAwaitInstance() throws InterruptedException {
        supervisor.start();
        started.await();
    }

    @Test
    void repeatsThePreparationWhileADependencyIsMissing() throws Exception {
        preparation = () -> {
            if (statesBefore.size() < 3) {
                throw new KafkaException("no client", new IllegalStateException("no broker"));
            }
            return () -> instance;
        };

        startAndAwaitInstance();

        assertThat(statesBefore)
                .containsExactly(
                        new Starting("the broker and its topics"),
                        new Starting("no client: no broker"),
                        new Starting("no client: no broker"));
        assertThat(supervisor.state()).isEqualTo(new Started(instance, TopologySupervisor.RESTORE));
        assertThat(failure).isNotDone();
    }

    @Test
    void anyOtherThrowableOfThePreparationIsFinal() {
        Throwable cause = new OutOfMemoryError("Java heap space");
        preparation = () -> {
            throw (Error) cause;
        };

        supervisor.start();

        assertThat(failure.join()).isSameAs(cause);
        assertThat(supervisor.state()).isEqualTo(new Failed(null, cause));
        assertThat(statesBefore).hasSize(1);
    }

    @Test
    void anExceptionOfTheCreationIsFinalEvenIfItIsOneOfKafka() {
        KafkaException cause = new KafkaException("invalid configuration");
        preparation = () -> () -> {
            throw cause;
        };

        supervisor.start();

        assertThat(failure.join()).isSameAs(cause);
        assertThat(supervisor.state()).isEqualTo(new Failed(null, cause));
    }

    @Test
    void aFailedInstanceIsClosedByTheStop() throws Exception {
        startAndAwaitInstance();
        KafkaException cause = new KafkaException("a store is broken");
        supervisor.fail(cause);
        supervisor.fail(new KafkaException("a later failure"));

        assertThat(failure).isCompletedWithValue(cause);
        assertThat(supervisor.state()).isEqualTo(new Failed(instance, cause));
        assertThat(closed.getCount()).isEqualTo(1);

        stop();

        assertThat(closed.getCount()).isZero();
        assertThat(supervisor.state()).isEqualTo(new Stopped(instance));
    }

    @Test
    void aStopInterruptsThePreparation() throws Exception {
        CountDownLatch preparing = new CountDownLatch(1);
        CompletableFuture<KafkaException> interrupt = new CompletableFuture<>();
        preparation = () -> {
            preparing.countDown();
            try {
                new CountDownLatch(1).await();
                throw new AssertionError();
            } catch (InterruptedException e) {
                interrupt.complete(new InterruptException(e));
                throw interrupt.join();
            }
        };

        supervisor.start();
        preparing.await();
        supervisor.requestStop();

        assertThat(interrupt).succeedsWithin(Duration.ofSeconds(5));
        assertThat(supervisor.state()).isEqualTo(new Stopped(null));
    }

    @Test
    void aStopDuringTheCreationClosesTheInstanceWithoutAStartOrAnInterrupt() throws Exception {
        CompletableFuture<Boolean> wasInterrupted = new CompletableFuture<>();
        preparation = () -> () -> {
            supervisor.requestStop();
            wasInterrupted.complete(Thread.currentThread().isInterrupted());
            return instance;
        };

        supervisor.start();
        closed.await();

        assertThat(wasInterrupted).isCompletedWithValue(false);
        assertThat(started.getCount()).isEqualTo(1);
        assertThat(supervisor.state()).isEqualTo(new Stopped(null));
    }

    @Test
    void aFailureAfterTheStopIsReported() {
        assertThat(supervisor.requestStop()).isTrue();
        assertThat(supervisor.requestStop()).isFalse();
        KafkaException cause = new KafkaException("cannot commit");
        supervisor.fail(cause);
        supervisor.waitFor("a dependency");

        assertThat(failure).isCompletedWithValue(cause);
        assertThat(supervisor.state()).isEqualTo(new Stopped(null));
    }

    @Test
    void aCheckBeforeARestoreIsRepeatedWhileNoBrokerAnswers() throws Exception {
        startAndAwaitInstance();
        List<State> states = new ArrayList<>();

        String result = supervisor.awaitRestore(() -> {
            states.add(supervisor.state());
            if (states.size() == 1) {
                throw new KafkaException("no broker");
            }
            return "complete";
        });

        assertThat(result).isEqualTo("complete");
        assertThat(states.get(1)).isEqualTo(new Started(instance, "no broker"));
        assertThat(supervisor.state()).isEqualTo(new Started(instance, TopologySupervisor.RESTORE));
    }

    @Test
    void aFailureEndsTheCheckBeforeARestore() throws Exception {
        startAndAwaitInstance();

        String result = supervisor.awaitRestore(() -> {
            supervisor.fail(new KafkaException("another thread failed"));
            throw new KafkaException("no broker");
        });

        assertThat(result).isNull();
        assertThat(supervisor.state()).isInstanceOf(Failed.class);
    }
}
