package dev.puri.registry;

import dev.puri.schemas.collection.Collection;
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
 * All identities in memory, for fakes of the registry: decides each event at once, by the rules of the topology. Not thread-safe.
 */
public final class InMemoryRegistrations {
    private final Map<Puri, Registration> registrations = new HashMap<>();

    /** Who was granted a handle first; kept after an erasure. */
    private final Map<Handle, UuidHash> holders = new HashMap<>();

    private final Map<Handle, Puri> bearers = new HashMap<>();

    /** Without any identity. */
    public InMemoryRegistrations() {}

    /**
     * Decides an event.
     *
     * @param position its place in the log
     * @param collection what is declared of the pURI's collection; null when nothing is
     * @return why it is refused; null when it is applied or changes nothing
     */
    public @Nullable Refusal apply(Event event, Position position, @Nullable Collection collection) {
        Refusal tooLarge = AttributeBounds.objectionTo(event.change());
        if (tooLarge != null) {
            return tooLarge;
        }
        Terms terms = collection == null ? Terms.UNREGISTERED : new Terms(collection);
        Registration before = registrations.getOrDefault(event.puri(), Registration.NONE);
        Decision decision = Registration.fold(before, event, position, terms, ClerkAnswer.UNASKED);
        if (decision instanceof Decision.Claim claim) {
            decision = Registration.fold(before, event, position, terms, grant(claim.handle(), event));
        }
        if (decision instanceof Decision.Applied applied) {
            registrations.put(event.puri(), applied.registration());
            Row row = applied.registration().row();
            if (row != null && row.handle() != null) {
                bearers.put(row.handle(), event.puri());
            }
        }
        return decision instanceof Decision.Refused refused ? refused.refusal() : null;
    }

    private ClerkAnswer grant(Handle handle, Event event) {
        if (!(event.change() instanceof Change.Created created)) {
            throw new IllegalStateException("only a creation claims a handle");
        }
        UuidHash claimant = UuidHash.of(event.puri(), created.uuid());
        UuidHash holder = holders.putIfAbsent(handle, claimant);
        return holder == null || holder.equals(claimant) ? ClerkAnswer.GRANTED : ClerkAnswer.TAKEN;
    }

    /** The identity under a pURI; null when there is none, or it was erased. */
    public @Nullable Row row(Puri puri) {
        return registrations.getOrDefault(puri, Registration.NONE).row();
    }

    /** The pURI of the identity that has a handle; null when none has. */
    public @Nullable Puri bearer(Handle handle) {
        Puri puri = bearers.get(handle);
        Row row = puri == null ? null : row(puri);
        return row != null && handle.equals(row.handle()) ? puri : null;
    }
}
