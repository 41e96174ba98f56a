package dev.puri.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.CollectionRegistry;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A client's cache stays correct while rows change in every way and its feed is cut repeatedly. */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
class ResolverCacheIT {
    private static final long SEED = Long.getLong("puri.cache.seed", System.nanoTime());
    private static final int WRITERS = 8;
    private static final int NAMES_EACH = 12;
    private static final int WRITES_EACH = Integer.getInteger("puri.cache.writes", 200);

    /** One of this number of writes is followed by a cut. */
    private static final int CUT_EVERY = 100;

    private static final Owner OWNER = new Owner("catalog");
    private static final Duration WAIT = Duration.ofSeconds(20);

    @TempDir
    private static Path folder;

    private final Events events = new Events("ResolverCacheIT");
    private final Identities identities = new Identities("cached", "tracks", new Prefix("cch"), Identifiers.nanoid());
    private final Queue<Ref> handles = new ConcurrentLinkedQueue<>();
    private final AtomicInteger cuts = new AtomicInteger();

    /** The expected state of a name, known by its only writer. */
    private enum State {
        ABSENT,
        ACTIVE,
        MERGED,
        DELETED
    }

    @Test
    void everyCachedAnswerIsTheResolversOwnAfterManyCutsUnderWrites() throws Exception {
        try (RunningDemo demo = new RunningDemo(folder);
                CuttableProxy proxy = new CuttableProxy(demo.resolver())) {
            Map<String, Object> properties =
                    Map.of("bootstrap.servers", demo.broker(), "schema.registry.url", demo.schemaRegistry());
            new CollectionRegistry(properties, Duration.ofSeconds(30))
                    .apply(List.of(
                            new Collection("cached", "tracks", new Prefix("cch"), Set.of(), false, false, "", false)));
            try (IdentityPublisher publisher = new IdentityPublisher(properties);
                    ResolverClient direct = ResolverClient.open(
                            ResolverOptions.at(demo.resolver()).build());
                    ResolverClient cached = ResolverClient.open(ResolverOptions.at(proxy.url())
                            .cacheSize(10_000)
                            .replicaLag(Duration.ZERO)
                            .deadline(Duration.ofSeconds(30))
                            .build())) {
                write(publisher, cached, proxy);
                compare(cached, direct);
            }
        } catch (AssertionError | Exception e) {
            throw new AssertionError("with -Dpuri.cache.seed=" + SEED, e);
        }
    }

    private void write(IdentityPublisher publisher, ResolverClient cached, CuttableProxy proxy) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                Writer writer = new Writer(i, publisher, cached, proxy);
                writers.add(threads.submit(() -> {
                    writer.run();
                    return null;
                }));
            }
            for (Future<?> each : writers) {
                each.get(9, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(cuts).as("feeds cut").hasPositiveValue();
        assertThat(cached.cacheStatistics().hits()).as("cache hits").isPositive();
    }

    private static Puri name(int writer, int number) {
        return Puri.of("cached", "tracks", "w" + writer + "-" + number);
    }

    /** Writes its own names, and reads everybody's. */
    private final class Writer {
        private final int number;
        private final IdentityPublisher publisher;
        private final ResolverClient cached;
        private final CuttableProxy proxy;
        private final Random random;
        private final State[] states = new State[NAMES_EACH];
        private int shards;

        Writer(int number, IdentityPublisher publisher, ResolverClient cached, CuttableProxy proxy) {
            this.number = number;
            this.publisher = publisher;
            this.cached = cached;
            this.proxy = proxy;
            this.random = new Random(SEED + number);
            Arrays.fill(states, State.ABSENT);
        }

        void run() throws Exception {
            for (int i = 0; i < WRITES_EACH; i++) {
                List<CompletionStage<List<Verdict>>> overtaken = new ArrayList<>();
                overtaken.add(cached.resolveAllAsync(anyRefs(), Duration.ZERO));
                writeOne(random.nextInt(NAMES_EACH), overtaken);
                if (random.nextInt(CUT_EVERY) == 0) {
                    cuts.addAndGet(proxy.cutFeeds());
                }
                for (CompletionStage<List<Verdict>> each : overtaken) {
                    each.toCompletableFuture().get(60, TimeUnit.SECONDS);
                }
                for (int hot = 0; hot < 20; hot++) {
                    cached.resolveAll(anyRefs(), Duration.ZERO);
                }
            }
        }

        private List<Ref> anyRefs() {
            List<Ref> refs = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                refs.add(Ref.of(name(random.nextInt(WRITERS), random.nextInt(NAMES_EACH))));
            }
            handles.stream().skip(random.nextInt(handles.size() + 1)).limit(1).forEach(refs::add);
            return refs;
        }

        private void writeOne(int name, List<CompletionStage<List<Verdict>>> overtaken) throws Exception {
            Puri puri = name(number, name);
            Shard shard = new Shard("w" + number + "-" + ++shards);
            Event event = draw(puri, name, shard);
            CompletionStage<Position> publishing = publisher.publish(event);
            overtaken.add(cached.resolveAllAsync(List.of(Ref.of(puri)), Duration.ZERO));
            Ref ref = Ref.of(puri).at(publishing.toCompletableFuture().get(60, TimeUnit.SECONDS));
            // Twice: the second may be answered by the cache.
            for (int i = 0; i < 2; i++) {
                Verdict verdict = cached.resolve(ref, WAIT);
                assertThat(isOf(verdict, states[name], shard))
                        .as("%s after %s is %s: %s", ref, event.change(), states[name], verdict)
                        .isTrue();
            }
        }

        /** Every active row has a shard that no write before has. */
        private boolean isOf(Verdict verdict, State state, Shard shard) {
            return switch (state) {
                case ABSENT -> verdict instanceof Verdict.Unknown;
                case ACTIVE ->
                    verdict instanceof Verdict.Found found
                            && found.placement().shard().equals(shard);
                // Its survivor may be deleted.
                case MERGED -> verdict instanceof Verdict.Merged || verdict instanceof Verdict.Deleted;
                case DELETED -> verdict instanceof Verdict.Deleted;
            };
        }

        private Event draw(Puri puri, int name, Shard shard) {
            int drawn = random.nextInt(10);
            if (states[name] == State.ABSENT || states[name] == State.DELETED && drawn < 7) {
                NewIdentity identity = identities.mint(puri.plainIdentifier());
                Handle handle = identity.handle();
                if (handle != null) {
                    handles.add(Ref.of(handle));
                }
                states[name] = State.ACTIVE;
                return events.created(identity, OWNER, shard).build();
            }
            if (states[name] == State.ACTIVE && drawn < 6) {
                return events.moved(puri, shard).build();
            }
            if (states[name] == State.ACTIVE && drawn < 8) {
                states[name] = State.MERGED;
                return events.merged(puri, survivorOf(name)).build();
            }
            if (drawn < 9 && states[name] != State.DELETED) {
                states[name] = State.DELETED;
                return events.deleted(puri).build();
            }
            states[name] = State.ABSENT;
            return events.erased(puri).build();
        }

        /** Any other name, so that there are chains, cycles and missing survivors. */
        private Puri survivorOf(int name) {
            int writer = random.nextInt(WRITERS);
            int other = random.nextInt(NAMES_EACH);
            return writer == number && other == name ? name(number, (name + 1) % NAMES_EACH) : name(writer, other);
        }
    }

    /** A row that is stale now would stay stale forever, because nothing changes any more. */
    private void compare(ResolverClient cached, ResolverClient direct) {
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(cached.cacheStatistics().feed())
                        .as("%s", cached.cacheStatistics())
                        .isEqualTo(CacheStatistics.Feed.CURRENT));
        List<Ref> refs = new ArrayList<>(handles);
        for (int writer = 0; writer < WRITERS; writer++) {
            for (int name = 0; name < NAMES_EACH; name++) {
                refs.add(Ref.of(name(writer, name)));
            }
        }
        CacheStatistics before = cached.cacheStatistics();
        // The last changes may still be on their way to the cache.
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(cached.resolveAll(refs)).isEqualTo(direct.resolveAll(refs)));
        CacheStatistics after = cached.cacheStatistics();
        assertThat(after.hits() - before.hits())
                .as("rows compared from the cache")
                .isPositive();
        assertThat(after.resets()).as("no cut made the cache empty").isEqualTo(1);
    }
}
