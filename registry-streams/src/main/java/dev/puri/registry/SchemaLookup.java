package dev.puri.registry;

import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Schemas by id for a stream thread, which must neither wait long nor see an exception: under
 * exactly-once a time-out inside {@code process()} costs the whole task.
 *
 * <p>A thread of its own asks the registry and goes on asking. The stream thread gets what is settled
 * and otherwise {@link Pending}, after a short wait when the registry was last seen well; it parks the
 * event and comes again.
 */
final class SchemaLookup implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMillis(500);
    private static final Duration RETRY = Duration.ofSeconds(1);
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

    private final SchemaRegistry registry;
    private final InstantSource clock;
    private final Map<Integer, Known> known = new ConcurrentHashMap<>();
    private final Map<Integer, CountDownLatch> open = new ConcurrentHashMap<>();
    private final Map<Integer, Unknown> unknown = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Unknown> eldest) {
            return size() > MAX_REMEMBERED_UNKNOWN;
        }
    };
    private final Thread asking;
    private volatile @Nullable Instant outOfReachSince;
    private volatile boolean closed;

    SchemaLookup(SchemaRegistry registry, InstantSource clock) {
        this.registry = registry;
        this.clock = clock;
        this.asking = Thread.ofPlatform().daemon().name("schema-lookup").start(this::askForEver);
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
        if (outOfReachSince == null) {
            awaitBriefly(question);
        }
        settled = settled(id);
        return settled == null ? PENDING : settled;
    }

    /** For a thread that may wait as long as it takes. */
    Settled await(int id) {
        while (true) {
            if (schema(id) instanceof Settled settled) {
                return settled;
            }
            CountDownLatch question = open.get(id);
            if (question != null) {
                awaitBriefly(question);
            }
            if (closed || Thread.currentThread().isInterrupted()) {
                return new Unknown("the registry was not asked for schema " + id + ": the service stops");
            }
        }
    }

    /** Since when the registry has not answered; null when it last did, or was not asked. */
    @Nullable
    Instant outOfReachSince() {
        return outOfReachSince;
    }

    private @Nullable Settled settled(int id) {
        Known schema = known.get(id);
        if (schema != null) {
            return schema;
        }
        synchronized (unknown) {
            return unknown.get(id);
        }
    }

    private static void awaitBriefly(CountDownLatch question) {
        try {
            boolean ignored = question.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void askForEver() {
        while (!closed) {
            try {
                boolean reachable = true;
                for (int id : open.keySet()) {
                    reachable = reachable && ask(id);
                }
                rest(reachable);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Asks for one id; false when the registry is out of reach. */
    private boolean ask(int id) {
        try {
            known.put(id, new Known(registry.byId(id)));
        } catch (UnknownSchemaException e) {
            synchronized (unknown) {
                unknown.put(id, new Unknown(String.valueOf(e.getMessage())));
            }
        } catch (RegistryUnavailableException e) {
            if (outOfReachSince == null) {
                outOfReachSince = clock.instant();
            }
            return false;
        }
        outOfReachSince = null;
        CountDownLatch question = open.remove(id);
        if (question != null) {
            question.countDown();
        }
        return true;
    }

    private void rest(boolean reachable) throws InterruptedException {
        synchronized (open) {
            if (!reachable) {
                open.wait(RETRY.toMillis());
            } else if (open.isEmpty()) {
                open.wait();
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        asking.interrupt();
    }
}
