package dev.puri.client.testing;

import dev.puri.client.Delivery;
import dev.puri.client.Fate;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.registry.InMemoryRegistrations;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Declared;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * A fake of the registry for unit tests: no process, no Kafka. It decides events by the rules of the real topology, at once: first
 * claims, epochs, guards, handles, merges, erasure and refusals with their reasons. Its methods of publishing are those of {@link
 * IdentityPublisher}, and its {@link #resolver} keeps the contract of {@link IdentityResolver}. Thread-safe; one for each test.
 *
 * <p>The registry lets an event that its collection's declaration does not allow wait 5 s for another declaration; the fake refuses it at
 * once. The fake has no topics, so it publishes no event on a wrong one, and bytes that are no event do not reach it.
 */
public final class InMemoryRegistry {
    /** As many as the registry's topics have by default would do; few find mistakes sooner. */
    private static final int PARTITIONS = 3;

    private static final int MAX_PENDING = 20_000;

    private final InMemoryRegistrations registrations = new InMemoryRegistrations();
    private final Map<Position, Refusal> refusals = new HashMap<>();
    private final Map<String, Long> ends = new HashMap<>();
    private final List<Event> published = new ArrayList<>();
    private final List<InMemoryResolver> resolvers = new ArrayList<>();
    private final IdentityResolver ownResolver = resolver();
    private Declarations declarations = Declarations.none();

    /** Without identities and declarations. */
    public InMemoryRegistry() {}

    /**
     * Declares collections, as {@code puri collections apply} does.
     *
     * @return this
     * @throws IllegalArgumentException when one conflicts with what is declared; all conflicts are listed
     */
    public synchronized InMemoryRegistry declare(List<? extends Declaration> wanted) {
        Declared declared = declarations.declare(wanted);
        if (declared instanceof Declared.Changes changes) {
            declarations = changes.after();
            return this;
        }
        throw new IllegalArgumentException("conflicts with what is declared:\n" + declared);
    }

    /**
     * Declares what a file of declarations says.
     *
     * @param resource its name on the class path, such as {@code collections.yaml}
     * @return this
     * @throws IllegalArgumentException when there is no such resource, it has mistakes, or it conflicts with what is declared
     */
    public InMemoryRegistry declare(String resource) {
        try (InputStream file = Resources.open(resource)) {
            return declare(CollectionsFile.read(resource, new InputStreamReader(file, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(resource + " cannot be read", e);
        }
    }

    /** Publishes an event, and decides it before it returns. */
    public CompletionStage<Position> publish(Event event) {
        return CompletableFuture.completedStage(publishSync(event));
    }

    /**
     * Publishes an event, and decides it before it returns.
     *
     * @return its place in the log, whose text is the token to resolve with
     */
    public Position publishSync(Event event) {
        Position position;
        List<Runnable> answers = new ArrayList<>();
        synchronized (this) {
            position = next(event.puri());
            published.add(event);
            Refusal refusal = registrations.apply(event, position, declarations.collectionOf(event.puri()));
            if (refusal != null) {
                refusals.put(position, refusal);
            }
            resolvers.forEach(resolver -> answers.addAll(resolver.answersAfterEvent()));
        }
        answers.forEach(Runnable::run);
        return position;
    }

    /** Publishes events in their order; all are acknowledged. */
    public List<Delivery> publishAll(List<Event> events) {
        List<Delivery> deliveries = new ArrayList<>(events.size());
        for (Event event : events) {
            deliveries.add(new Delivery.Acknowledged(event, publishSync(event)));
        }
        return List.copyOf(deliveries);
    }

    private Position next(Puri puri) {
        String namespace = puri.namespace();
        String topic = Topics.eventsOf(namespace, declarations.ownsTopic(namespace));
        int partition = partition(puri);
        long offset = ends.merge(log(topic, partition), 1L, Long::sum) - 1;
        return new Position(topic, partition, offset);
    }

    private static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS;
    }

    private static String log(String topic, int partition) {
        return topic + ' ' + partition;
    }

    /** All events that were published, refused ones too, in their order. */
    public synchronized List<Event> published() {
        return List.copyOf(published);
    }

    /**
     * What became of a published event, as {@link IdentityPublisher#await} tells it.
     *
     * @param wait how long to wait at most for a token that no event has yet
     */
    public CompletionStage<Fate> await(Puri puri, Position token, Duration wait) {
        return ownResolver.resolveAsync(Ref.of(puri).at(token), wait).thenApply(Fates::of);
    }

    /** The same for the calling thread. */
    public Fate awaitSync(Puri puri, Position token, Duration wait) {
        return Fates.of(ownResolver.resolve(Ref.of(puri).at(token), wait));
    }

    /** A resolver of this registry's identities. Its events are seen at once. */
    public IdentityResolver resolver() {
        return resolver(MAX_PENDING);
    }

    /** With another bound on the references that wait for events. */
    synchronized IdentityResolver resolver(int maxPending) {
        InMemoryResolver resolver = new InMemoryResolver(this, maxPending);
        resolvers.add(resolver);
        return resolver;
    }

    synchronized void closed(InMemoryResolver resolver) {
        resolvers.remove(resolver);
    }

    /** What is known of a reference; {@link Verdict.NotCaughtUp} when its token's event was not published yet. */
    synchronized Verdict verdict(Ref ref) {
        if (ref.flaw() != null) {
            return new Verdict.Malformed(ref, ref.flaw());
        }
        Puri puri = puri(ref);
        Position token = ref.at();
        if (token != null) {
            if (puri != null && token.partition() != partition(puri)) {
                return new Verdict.Malformed(
                        ref,
                        "the token " + token + " is of another object than " + puri + ", whose events are in partition "
                                + partition(puri));
            }
            Refusal refusal = refusals.get(token);
            if (refusal != null) {
                return refused(ref, refusal);
            }
            if (token.offset() >= ends.getOrDefault(log(token.topic(), token.partition()), 0L)) {
                return new Verdict.NotCaughtUp(ref);
            }
        }
        Row row = puri == null ? null : row(puri);
        return puri == null || row == null ? new Verdict.Unknown(ref) : Rows.verdict(puri, row, this::row);
    }

    private @Nullable Puri puri(Ref ref) {
        Handle handle = ref.handle();
        return handle == null ? ref.puri() : registrations.bearer(handle);
    }

    private @Nullable Row row(Puri puri) {
        return registrations.row(puri);
    }

    private static Verdict refused(Ref ref, Refusal refusal) {
        Refusal.Holder holder = refusal.holder();
        return new Verdict.Refused(
                ref,
                refusal.reason().name(),
                refusal.detail(),
                holder == null ? null : holder.owner(),
                holder == null ? null : holder.shard(),
                refusal.survivor());
    }
}
