package dev.puri.registry;

import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schemas by id for a stream thread, which must neither wait long nor see an exception: under
 * exactly-once a time-out inside {@code process()} costs the whole task.
 *
 * <p>Threads of its own ask the registry and go on asking, each open id in every round, so that one
 * that never gets an answer holds up no other. The stream thread gets what is settled and otherwise
 * {@link Pending}, after a short wait as the first to ask; it parks the event and comes again. It waits only a few
 * times a second: whoever sends a new id in every event would otherwise hold up all the others in the partition.
 */
final class SchemaLookup implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SchemaLookup.class);

    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final int WAITS_PER_SECOND = 5;
    private static final int QUESTIONS_AT_ONCE = 8;
    private static final Duration RETRY = Duration.ofSeconds(1);

    /** "No such id" holds for a while and not for ever: ids are given out one after the other. */
    private static final Duration UNKNOWN_FOR = Duration.ofSeconds(5);

    private static final int MAX_OPEN_QUESTIONS = 1000;
    private static final int MAX_REMEMBERED_UNKNOWN = 10_000;

    /** What is known of an id. */
    sealed interface Answer {}

    /** What the registry said. */
    sealed interface Settled extends Answer {}

    record Known(Schema schema) implements Settled {}

    record Unknown(String detail) implements Settled {}

    /** Nobody has said yet. */
    record Pending() implements Answer {}

    private static final Pending PENDING = new Pending();

    private record Remembered(Unknown answer, Instant until) {}

    private final SchemaRegistry registry;
    private final InstantSource clock;
    private final Duration patience;
    private final int waitsPerSecond;
    private final Map<Integer, Known> known = new ConcurrentHashMap<>();
    private final Map<Integer, CountDownLatch> open = new ConcurrentHashMap<>();
    private final Map<Integer, Remembered> unknown = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Remembered> eldest) {
            return size() > MAX_REMEMBERED_UNKNOWN;
        }
    };
    private final ExecutorService askers = Executors.newFixedThreadPool(
            QUESTIONS_AT_ONCE,
            Thread.ofPlatform().daemon().name("schema-question-", 0).factory());
    private final Stop stop = new Stop();
    private final SupervisedThread asking =
            new SupervisedThread(
                    "schema-lookup", stop, RetryPolicy.fixed(RETRY), this::askRounds, SchemaLookup::failed);
    private long waitsCountedSince;
    private int waits;
    private volatile @Nullable Instant outOfReachSince;

    SchemaLookup(SchemaRegistry registry, InstantSource clock) {
        this(registry, clock, PATIENCE, WAITS_PER_SECOND);
    }

    /**
     * @param patience how long the first to ask for an id waits
     * @param waitsPerSecond how often anybody waits so
     */
    SchemaLookup(SchemaRegistry registry, InstantSource clock, Duration patience, int waitsPerSecond) {
        this.registry = registry;
        this.clock = clock;
        this.patience = patience;
        this.waitsPerSecond = waitsPerSecond;
        asking.start();
    }

    /** What is known of an id; the first to ask for it waits, briefly at most. */
    Answer schema(int id) {
        Settled settled = settled(id);
        if (settled != null) {
            return settled;
        }
        CountDownLatch question = new CountDownLatch(1);
        if (open.size() >= MAX_OPEN_QUESTIONS || open.putIfAbsent(id, question) != null) {
            return PENDING;
        }
        synchronized (open) {
            open.notifyAll();
        }
        if (outOfReachSince != null || !mayWait()) {
            return PENDING;
        }
        await(question, patience);
        settled = settled(id);
        return settled == null ? PENDING : settled;
    }

    private synchronized boolean mayWait() {
        long second = clock.millis() / 1000;
        if (second != waitsCountedSince) {
            waitsCountedSince = second;
            waits = 0;
        }
        return waits++ < waitsPerSecond;
    }

    /** For a thread that may wait as long as it takes. */
    Settled await(int id) {
        while (!stop.isAsked() && !Thread.currentThread().isInterrupted()) {
            if (schema(id) instanceof Settled settled) {
                return settled;
            }
            CountDownLatch question = open.get(id);
            // Without one the questions were too many: the next round makes room.
            await(question == null ? new CountDownLatch(1) : question, PATIENCE);
        }
        return new Unknown("the registry was not asked for schema " + id + ": the service stops");
    }

    /** Since when the registry has answered nothing that it was asked; null when it last did. */
    @Nullable
    Instant outOfReachSince() {
        return outOfReachSince;
    }

    private @Nullable Settled settled(int id) {
        if (id < 0) {
            // Asked for one, a registry may answer anything, for ever.
            return new Unknown("no schema has the id " + id);
        }
        Known schema = known.get(id);
        if (schema != null) {
            return schema;
        }
        synchronized (unknown) {
            Remembered remembered = unknown.get(id);
            if (remembered == null || remembered.until().isAfter(clock.instant())) {
                return remembered == null ? null : remembered.answer();
            }
            unknown.remove(id);
            return null;
        }
    }

    private static void await(CountDownLatch question, Duration patience) {
        try {
            boolean ignored = question.await(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void askRounds() throws InterruptedException {
        while (!stop.isAsked()) {
            boolean anyAnswer = false;
            boolean anySilence = false;
            for (Future<Boolean> question : askers.invokeAll(questions())) {
                boolean isAnswered = answered(question);
                anyAnswer |= isAnswered;
                anySilence |= !isAnswered;
            }
            judge(anyAnswer, anySilence);
            rest(anySilence);
        }
    }

    private static void failed(Throwable cause) {
        LOG.error("A round of questions to the schema registry failed and is begun again", cause);
    }

    private boolean answered(Future<Boolean> question) throws InterruptedException {
        try {
            return question.get();
        } catch (ExecutionException e) {
            if (!stop.isAsked()) {
                LOG.error("A question to the schema registry failed and is asked again", e.getCause());
            }
            return false;
        }
    }

    private List<Callable<Boolean>> questions() {
        List<Callable<Boolean>> questions = new ArrayList<>();
        for (int id : open.keySet()) {
            questions.add(() -> ask(id));
        }
        return questions;
    }

    /** Asks for one id; false when there was no answer to the question. */
    private boolean ask(int id) {
        // A caller opens a question again when the answer came between its look for the answer and its question.
        if (settled(id) == null && !learn(id)) {
            return false;
        }
        outOfReachSince = null;
        CountDownLatch question = open.remove(id);
        if (question != null) {
            question.countDown();
        }
        return true;
    }

    private boolean learn(int id) {
        try {
            known.put(id, new Known(registry.byId(id)));
        } catch (UnknownSchemaException e) {
            LOG.debug("Schema {} is unknown: {}", id, e.getMessage());
            Unknown answer = new Unknown(String.valueOf(e.getMessage()));
            synchronized (unknown) {
                unknown.put(id, new Remembered(answer, clock.instant().plus(UNKNOWN_FOR)));
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            LOG.debug("Schema {} is not told: {}", id, e.getMessage());
            return false;
        }
        return true;
    }

    private void judge(boolean anyAnswer, boolean anySilence) {
        if (anyAnswer || !anySilence) {
            outOfReachSince = null;
        } else if (outOfReachSince == null) {
            outOfReachSince = clock.instant();
        }
    }

    private void rest(boolean anySilence) throws InterruptedException {
        synchronized (open) {
            if (anySilence) {
                open.wait(RETRY.toMillis());
            } else if (open.isEmpty()) {
                open.wait();
            }
        }
    }

    @Override
    public void close() {
        stop.ask();
        asking.interrupt();
        askers.shutdownNow();
    }
}
