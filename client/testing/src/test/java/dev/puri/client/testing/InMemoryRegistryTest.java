package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.Delivery;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.resolve.ContractRegistry;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.IdentityResolverContract;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class InMemoryRegistryTest {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final Fake FAKE = new Fake();

    private static Collection collection(String namespace, String name, String prefix) {
        return new Collection(namespace, name, new Prefix(prefix), Set.of(), false, false, "", false);
    }

    /** The contract that a client over HTTP and an embedded resolver keep. */
    @Nested
    class Resolving extends IdentityResolverContract {
        Resolving() {
            super(FAKE);
        }

        @Override
        protected IdentityResolver open(int maxPending) {
            return FAKE.registry.resolver(maxPending);
        }
    }

    private static final class Fake implements ContractRegistry {
        private final InMemoryRegistry registry =
                new InMemoryRegistry().declare(List.of(collection(NAMESPACE, COLLECTION, PREFIX.text())));
        private final Identities identities = new Identities(NAMESPACE, COLLECTION, PREFIX, Identifiers.nanoid());

        @Override
        public NewIdentity mint() {
            return identities.mint();
        }

        @Override
        public Position publish(Events.Draft draft) {
            return registry.publishSync(draft.build());
        }

        @Override
        public void declare(Collection collection) {
            registry.declare(List.of(collection));
        }
    }

    /** The contract that the real registry keeps. */
    @Nested
    class Publishing extends PublishOutcomeContract {
        private final InMemoryRegistry registry = new InMemoryRegistry().declare("collections.yaml");

        @Override
        Position publish(Event event) throws Exception {
            return registry.publish(event).toCompletableFuture().get();
        }

        @Override
        List<Delivery> publishAll(List<Event> events) {
            return registry.publishAll(events);
        }

        @Override
        PublishOutcome await(Puri puri, Position token) {
            return registry.awaitSync(puri, token, WAIT);
        }

        @Override
        IdentityResolver resolver() {
            return registry.resolver();
        }
    }

    @Test
    void aCollectionThatIsImportedAcceptsOnlyItsImporter() {
        InMemoryRegistry registry =
                new InMemoryRegistry().declare(List.of(new Namespace("music", false, WriteMode.importBy("importer"))));
        NewIdentity track = new Identities("music", "tracks", null, Identifiers.nanoid()).mint();
        Event created = new Events("catalog")
                .created(track, new Owner("catalog"), new Shard("eu-1"))
                .build();
        assertThat(registry.awaitSync(track.puri(), registry.publishSync(created), WAIT))
                .isInstanceOfSatisfying(
                        PublishOutcome.Refused.NotWritable.class,
                        refused -> assertThat(refused.detail()).contains("the namespace music is being imported"));
        Ref ref = Ref.of(track.puri());
        assertThat(registry.resolver().resolve(ref)).isEqualTo(new Verdict.Unknown(ref, true));

        registry.publishSync(new Events("importer")
                .created(track, new Owner("catalog"), new Shard("eu-1"))
                .build());
        assertThat(registry.resolver().resolve(ref)).isInstanceOf(Verdict.Found.class);
    }

    @Test
    void keepsPublishedEventsInTheirOrder() {
        InMemoryRegistry registry = new InMemoryRegistry();
        Puri track = Puri.parse("music:tracks:1");
        Event moved = new Events("test").moved(track, new Shard("us-1")).build();
        Event deleted = new Events("test").deleted(track).build();
        registry.publishAll(List.of(moved, deleted));
        assertThat(registry.published()).containsExactly(moved, deleted);
    }

    @Test
    void anEventThatIsPublishedLaterCompletesItsWait() throws Exception {
        InMemoryRegistry registry = new InMemoryRegistry();
        Identities tracks = new Identities("music", "tracks", null, Identifiers.nanoid());
        NewIdentity track = tracks.mint();
        Event created = new Events("test")
                .created(track, new Owner("catalog"), new Shard("eu-1"))
                .build();
        Position first = registry.publishSync(created);
        Position next = new Position(first.topic(), first.partition(), first.offset() + 1);
        CompletableFuture<Verdict> answer = registry.resolver()
                .resolveAsync(Ref.of(track.puri()).at(next), WAIT)
                .toCompletableFuture();
        assertThat(answer).isNotDone();

        registry.publishSync(
                new Events("test").moved(track.puri(), new Shard("us-1")).build());

        assertThat(answer.get(60, TimeUnit.SECONDS).placement())
                .satisfies(placement -> assertThat(placement.shard()).isEqualTo(new Shard("us-1")));
    }

    private static WeakReference<InMemoryRegistry> registryWithAnsweredWait() {
        InMemoryRegistry registry = new InMemoryRegistry();
        Puri track = Puri.parse("music:tracks:1");
        Event deleted = new Events("test").deleted(track).build();
        Position first = registry.publishSync(deleted);
        Position next = new Position(first.topic(), first.partition(), first.offset() + 1);
        CompletableFuture<PublishOutcome> outcome =
                registry.await(track, next, Duration.ofDays(1)).toCompletableFuture();
        registry.publishSync(deleted);
        assertThat(outcome).isCompleted();
        return new WeakReference<>(registry);
    }

    /** A test may wait long for an event that comes soon, and each test has its own registry. */
    @Test
    void anAnsweredWaitKeepsNoRegistryInMemory() {
        WeakReference<InMemoryRegistry> registry = registryWithAnsweredWait();
        await().atMost(WAIT).until(() -> {
            System.gc();
            return registry.get() == null;
        });
    }

    @Test
    void aTokenOfAnotherPartitionOrNamespaceHasNoOutcome() {
        InMemoryRegistry registry = new InMemoryRegistry();
        Puri track = Puri.parse("music:tracks:1");
        Position token = registry.publishSync(new Events("test").deleted(track).build());
        Position foreign = new Position(token.topic(), (token.partition() + 1) % 8, 0);
        assertThatThrownBy(() -> registry.awaitSync(track, foreign, WAIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot belong to");
        Position ofFilms = new Position("puri.events.v1.films", token.partition(), 0);
        assertThatThrownBy(() -> registry.awaitSync(track, ofFilms, WAIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is from an events topic that has no events of");
    }

    /** Two that were never created, in one partition. */
    private static List<Puri> neighbours(InMemoryRegistry registry) {
        Map<Integer, Puri> byPartition = new HashMap<>();
        for (int i = 0; ; i++) {
            Puri puri = Puri.parse("music:tracks:" + i);
            Position token =
                    registry.publishSync(new Events("test").deleted(puri).build());
            Puri neighbour = byPartition.putIfAbsent(token.partition(), puri);
            if (neighbour != null) {
                return List.of(neighbour, puri);
            }
        }
    }

    @Test
    void anEventOfAnotherPuriInThePartitionProvesNothing() {
        InMemoryRegistry registry = new InMemoryRegistry();
        List<Puri> neighbours = neighbours(registry);
        Position refused = registry.publishSync(
                new Events("test").deleted(neighbours.get(1)).build());
        assertThat(registry.awaitSync(neighbours.get(1), refused, Duration.ZERO))
                .isInstanceOf(PublishOutcome.Refused.UnknownPuri.class);
        assertThat(registry.awaitSync(neighbours.get(0), refused, Duration.ZERO))
                .isEqualTo(new PublishOutcome.NotCaughtUp());
    }

    @Test
    void aLaterEventOfAPuriAnswersAnEarlierTokenOfItsPartition() {
        InMemoryRegistry registry = new InMemoryRegistry();
        List<Puri> neighbours = neighbours(registry);
        Position refused = registry.publishSync(
                new Events("test").deleted(neighbours.get(1)).build());
        registry.publishSync(new Events("test").deleted(neighbours.get(0)).build());
        assertThat(registry.awaitSync(neighbours.get(0), refused, Duration.ZERO))
                .isEqualTo(new PublishOutcome.Accepted());
    }

    @Test
    void awaitingFailsAsAPublisherFails() throws Exception {
        InMemoryRegistry registry = new InMemoryRegistry(1);
        Puri track = Puri.parse("music:tracks:1");
        Position first = registry.publishSync(new Events("test").deleted(track).build());
        Position next = new Position(first.topic(), first.partition(), first.offset() + 1);
        CompletableFuture<PublishOutcome> pending =
                registry.await(track, next, Duration.ofHours(1)).toCompletableFuture();
        assertThatThrownBy(() ->
                        registry.await(track, next, WAIT).toCompletableFuture().get(60, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasCauseInstanceOf(ResolverException.class);

        registry.publishSync(new Events("test").deleted(track).build());
        assertThat(pending.get(60, TimeUnit.SECONDS)).isInstanceOf(PublishOutcome.Refused.UnknownPuri.class);
    }

    @Test
    void acceptsHeadersAndFlushDoesNothing() throws Exception {
        InMemoryRegistry registry = new InMemoryRegistry();
        Event event = new Events("test").deleted(Puri.parse("music:tracks:1")).build();
        Position token = registry.publish(event, Map.of("traceparent", "00"))
                .toCompletableFuture()
                .get();
        registry.flush();
        assertThat(registry.published()).containsExactly(event);
        assertThat(registry.awaitSync(event.puri(), token, WAIT))
                .isInstanceOf(PublishOutcome.Refused.UnknownPuri.class);
    }

    @Test
    void aPrefixIsDeclaredOnce() {
        InMemoryRegistry registry = new InMemoryRegistry().declare(List.of(collection("music", "tracks", "trk")));
        assertThatThrownBy(() -> registry.declare(List.of(collection("music", "albums", "trk"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("trk belongs to music:tracks");
        assertThatThrownBy(() -> registry.declare("no.yaml"))
                .hasMessage("no.yaml is not on the class path of the tests");
    }
}
