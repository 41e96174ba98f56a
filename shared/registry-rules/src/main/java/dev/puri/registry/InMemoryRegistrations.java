package dev.puri.registry;

import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A registry in memory, for tests of services. Applies each event immediately, by the rules of the topology. Not
 * thread-safe.
 */
public final class InMemoryRegistrations {
    private final Map<Puri, Registration> registrations = new HashMap<>();

    /** The first identity to which each handle was granted. An erasure does not remove the entry. */
    private final Map<Handle, IdentityHash> holders = new HashMap<>();

    private final Map<Handle, Puri> purisByHandle = new HashMap<>();

    /** Creates an empty registry. */
    public InMemoryRegistrations() {}

    /**
     * Applies an event.
     *
     * @param position the position of the event in its topic
     * @param declarations all declarations of collections and namespaces
     * @return the refusal; null if the event was applied or changed nothing
     */
    public @Nullable Refusal apply(Event event, Position position, Declarations declarations) {
        Refusal tooLarge = AttributeBounds.objectionTo(event.change());
        if (tooLarge != null) {
            return tooLarge;
        }
        CollectionRules rules = new CollectionRules(
                declarations.namespace(event.puri().namespace()), declarations.collectionOf(event.puri()));
        Registration previous = registrations.getOrDefault(event.puri(), Registration.NONE);
        Decision decision = Registration.fold(previous, event, position, rules, ClerkAnswer.UNASKED);
        if (decision instanceof Decision.Claim claim) {
            decision = Registration.fold(previous, event, position, rules, answerClaim(claim.handle(), event));
        }
        if (decision instanceof Decision.Applied applied) {
            registrations.put(event.puri(), applied.registration());
            Row row = applied.registration().row();
            if (row != null && row.handle() != null) {
                purisByHandle.put(row.handle(), event.puri());
            }
        }
        return decision instanceof Decision.Refused refused ? refused.refusal() : null;
    }

    private ClerkAnswer answerClaim(Handle handle, Event event) {
        if (!(event.change() instanceof Change.Created created)) {
            throw new IllegalStateException("only a created event claims a handle");
        }
        IdentityHash claimant = IdentityHash.of(event.puri(), created.uuid());
        IdentityHash holder = holders.putIfAbsent(handle, claimant);
        return holder == null || holder.equals(claimant) ? ClerkAnswer.GRANTED : ClerkAnswer.TAKEN;
    }

    /** Returns the row of a pURI, or null if there is none or it was erased. */
    public @Nullable Row row(Puri puri) {
        return registrations.getOrDefault(puri, Registration.NONE).row();
    }

    /** Returns the pURI of the identity with this handle, or null if there is none. */
    public @Nullable Puri puriOf(Handle handle) {
        Puri puri = purisByHandle.get(handle);
        Row row = puri == null ? null : row(puri);
        return row != null && handle.equals(row.handle()) ? puri : null;
    }
}
