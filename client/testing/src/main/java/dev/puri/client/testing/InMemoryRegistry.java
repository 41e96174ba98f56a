package dev.puri.client.testing;

import dev.puri.client.Delivery;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishOutcome;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.registry.InMemoryRegistrations;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * A fake of the registry for unit tests, in memory, without other processes and without Kafka. It decides events at
 * once, by the rules of the real topology: first claims, guards (uuid and epoch), handles, merges, erasures, and
 * refusals with their reasons. Thread-safe. Create a new instance for each test.
 *
 * <p>This class has the methods of {@link IdentityPublisher} except {@code close} and {@code metrics}. Its {@link
 * #resolver} fulfils the contract of {@link IdentityResolver}.
 *
 * <p>Differences: if the declaration of a collection does not allow an event, the registry waits 5 s for another
 * declaration before it refuses the event, and the fake refuses the event at once. The fake has no topics, so an event
 * cannot be in the wrong topic or unreadable.
 */
public final class InMemoryRegistry {
    /** Default number of partitions of the registry's events topics. */
    private static final int PARTITIONS = 8;

    private static final int MAX_PENDING = 20_000;

    private final InMemoryRegistrations registrations = new InMemoryRegistrations();
    private final Map<Position, Refusal> refusals = new HashMap<>();
    private final Map<Position, Puri> purisByPosition = new HashMap<>();
    private final Map<Puri, Position> lastPositions = new HashMap<>();
    private final Map<String, Long> endOffsets = new HashMap<>();
    private final List<Event> published = new ArrayList<>();
    private final List<InMemoryResolver> resolvers = new ArrayList<>();
    private final IdentityResolver resolverOfAwait;
    private Declarations declarations = Declarations.none();

    /** Creates a registry without identities and declarations. */
    public InMemoryRegistry() {
        this(MAX_PENDING);
    }

    /** Creates a registry with another maximum number of awaited events. */
    InMemoryRegistry(int maxPending) {
        resolverOfAwait = resolver(maxPending);
    }

    /**
     * Declares collections, as {@code puri collections apply} does.
     *
     * @return this
     * @throws IllegalArgumentException if a declaration conflicts with existing ones; the message lists all conflicts
     */
    public synchronized InMemoryRegistry declare(List<? extends Declaration> requested) {
        DeclarationResult planned = declarations.plan(requested);
        if (planned instanceof DeclarationResult.Changes changes) {
            declarations = changes.after();
            return this;
        }
        throw new IllegalArgumentException("conflicts with existing declarations:\n" + planned);
    }

    /**
     * Declares the collections and namespaces in a file.
     *
     * @param resource name of the file on the class path, such as {@code collections.yaml}
     * @return this
     * @throws IllegalArgumentException if the file is missing, has mistakes, or conflicts with existing declarations
     */
    public InMemoryRegistry declare(String resource) {
        return declare(Resources.declarations(resource));
    }

    /** Publishes an event. The registry has decided on the event when this method returns. */
    public CompletionStage<Position> publish(Event event) {
        return CompletableFuture.completedStage(publishSync(event));
    }

    /**
     * Publishes an event. The registry has decided on the event when this method returns.
     *
     * @param headers ignored, because the fake has no records
     */
    public CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        Objects.requireNonNull(headers);
        return publish(event);
    }

    /** Does nothing, because an event is decided when it is published. */
    public void flush() {}

    /**
     * Publishes an event. The registry has decided on the event when this method returns.
     *
     * @return the event's position in the log; the position's text is the token to resolve with
     */
    public Position publishSync(Event event) {
        Position position;
        List<Runnable> completions = new ArrayList<>();
        synchronized (this) {
            position = nextPosition(event.puri());
            published.add(event);
            purisByPosition.put(position, event.puri());
            lastPositions.put(event.puri(), position);
            Refusal refusal = registrations.apply(event, position, declarations);
            if (refusal != null) {
                refusals.put(position, refusal);
            }
            resolvers.forEach(resolver -> completions.addAll(resolver.removeAnswerable()));
        }
        completions.forEach(Runnable::run);
        return position;
    }

    /** Publishes events in their order, and acknowledges all of them. */
    public List<Delivery> publishAll(List<Event> events) {
        List<Delivery> deliveries = new ArrayList<>(events.size());
        for (Event event : events) {
            deliveries.add(new Delivery.Acknowledged(event, publishSync(event)));
        }
        return List.copyOf(deliveries);
    }

    private Position nextPosition(Puri puri) {
        String namespace = puri.namespace();
        String topic = Topics.eventsTopicOf(namespace, declarations.ownsTopic(namespace));
        int partition = partition(puri);
        long offset = endOffsets.merge(partitionKey(topic, partition), 1L, Long::sum) - 1;
        return new Position(topic, partition, offset);
    }

    private static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS;
    }

    private static String partitionKey(String topic, int partition) {
        return topic + ' ' + partition;
    }

    /** Returns all published events, including refused events, in the order in which they were published. */
    public synchronized List<Event> published() {
        return List.copyOf(published);
    }

    /**
     * Returns the outcome of a published event, as {@link IdentityPublisher#await} does.
     *
     * @param wait maximum time to wait for an event with this token
     */
    public CompletionStage<PublishOutcome> await(Puri puri, Position token, Duration wait) {
        CompletableFuture<PublishOutcome> outcome = new CompletableFuture<>();
        var unused = resolverOfAwait.resolveAsync(Ref.of(puri).at(token), wait).whenComplete((verdict, error) -> {
            if (error != null) {
                // The fake's resolver fails only if too many references are pending.
                outcome.completeExceptionally(new IllegalStateException(error.getMessage(), error));
            } else if (verdict instanceof Verdict.Malformed malformed) {
                outcome.completeExceptionally(new IllegalStateException(malformed.detail()));
            } else {
                outcome.complete(PublishOutcome.of(verdict));
            }
        });
        return outcome.minimalCompletionStage();
    }

    /**
     * Waits as {@link #await} does, and blocks the calling thread.
     *
     * @throws IllegalStateException if the token belongs to an event of another pURI, or 20,000 events are already
     *     awaited
     * @throws InterruptException if the thread is interrupted
     */
    public PublishOutcome awaitSync(Puri puri, Position token, Duration wait) {
        try {
            return await(puri, token, wait).toCompletableFuture().get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException(cause.getMessage(), cause);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Returns a resolver of this registry's identities. It knows each event as soon as the event is published. */
    public IdentityResolver resolver() {
        return resolver(MAX_PENDING);
    }

    /** Returns a resolver with another maximum number of references that wait for events. */
    synchronized IdentityResolver resolver(int maxPending) {
        InMemoryResolver resolver = new InMemoryResolver(this, maxPending);
        resolvers.add(resolver);
        return resolver;
    }

    synchronized void remove(InMemoryResolver resolver) {
        resolvers.remove(resolver);
    }

    /**
     * Returns the verdict on a reference; {@link Verdict.NotCaughtUp} if the event of its token has not been published
     * yet.
     */
    synchronized Verdict verdict(Ref ref) {
        if (ref.flaw() != null) {
            return new Verdict.Malformed(ref, ref.flaw());
        }
        Puri puri = puri(ref);
        Position token = ref.token();
        if (token != null) {
            Refusal refusal = refusal(ref, puri, token);
            if (refusal != null) {
                return refused(ref, refusal);
            }
            String foreignTokenReason = puri == null ? null : foreignTokenReason(puri, token);
            if (foreignTokenReason != null) {
                return new Verdict.Malformed(ref, foreignTokenReason);
            }
            if (puri == null || !isDecided(puri, token)) {
                return new Verdict.NotCaughtUp(ref);
            }
        }
        Row row = puri == null ? null : row(puri);
        return puri == null || row == null
                ? new Verdict.Unknown(ref, declarations.isImporting(ref.text()))
                : RowVerdicts.verdict(puri, row, this::row);
    }

    /**
     * Returns the refusal of the token's event; null if there is none for this reference. The event must be of the
     * reference's pURI, with two exceptions for references that are handles: no identity has the handle, or the event
     * was refused because the handle is taken.
     *
     * @param puri pURI of the reference; null if it is a handle that no identity has
     */
    private @Nullable Refusal refusal(Ref ref, @Nullable Puri puri, Position token) {
        Refusal refusal = refusals.get(token);
        if (refusal == null || puri == null || Objects.equals(puri, purisByPosition.get(token))) {
            return refusal;
        }
        return ref.handle() != null && refusal.reason() == Reason.HANDLE_TAKEN ? refusal : null;
    }

    /** Explains why a token cannot belong to an event of this pURI; null if it can. */
    private static @Nullable String foreignTokenReason(Puri puri, Position token) {
        String namespace = puri.namespace();
        if (!token.topic().equals(Topics.EVENTS)
                && !(Topics.mayOwnTopic(namespace) && token.topic().equals(Topics.eventsTopicOf(namespace)))) {
            return "the token " + token + " is from an events topic that has no events of " + puri;
        }
        return token.partition() == partition(puri)
                ? null
                : "the token " + token + " cannot belong to " + puri + ": events of " + puri + " are in partition "
                        + partition(puri);
    }

    /**
     * Returns whether the token's event, or a later event of this pURI, was decided. Events of other pURIs do not
     * count.
     */
    private boolean isDecided(Puri puri, Position token) {
        Position last = lastPositions.get(puri);
        return Objects.equals(puri, purisByPosition.get(token))
                || last != null
                        && last.topic().equals(token.topic())
                        && last.partition() == token.partition()
                        && last.offset() >= token.offset();
    }

    private @Nullable Puri puri(Ref ref) {
        Handle handle = ref.handle();
        return handle == null ? ref.puri() : registrations.puriOf(handle);
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
