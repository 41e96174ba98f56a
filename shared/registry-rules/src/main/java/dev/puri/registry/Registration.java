package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state that the registry stores for one pURI. The pure function {@link #fold} applies an event to it.
 *
 * <p>{@code fold} checks conditions in the order of the table in {@code docs/events.md}. The first condition that
 * matches decides the event.
 *
 * @param row the identity of the pURI; null before the first creation and after an erasure
 * @param recentEvents ids of the last {@value #REMEMBERED_EVENTS} applied events, oldest first. An event with such an
 *     id is a repetition and changes nothing
 * @param formerHashes hashes of the last {@value #REMEMBERED_UUIDS} deleted and erased identities, oldest first. The
 *     pURI cannot be created again with their uuids
 * @param hasDocument whether the pURI has a document and a stored text. {@code DocumentUpdate} sets it; {@code fold}
 *     leaves it unchanged
 */
record Registration(@Nullable Row row, List<UUID> recentEvents, List<IdentityHash> formerHashes, boolean hasDocument) {
    static final int REMEMBERED_EVENTS = 8;

    /** Bounds the size of a registration. When it is exceeded, the oldest hash is removed. */
    static final int REMEMBERED_UUIDS = 1000;

    /** The registration of a pURI before its first event. */
    static final Registration NONE = new Registration(null, List.of(), List.of(), false);

    Registration {
        recentEvents = List.copyOf(recentEvents);
        formerHashes = List.copyOf(formerHashes);
    }

    /**
     * Decides an event.
     *
     * @param before the registration before the event
     * @param rules the rules of the pURI's collection and namespace
     * @param clerkAnswer the clerk's answer if the event claims a handle, otherwise {@code UNASKED}
     */
    static Decision fold(
            Registration before, Event event, Position position, CollectionRules rules, ClerkAnswer clerkAnswer) {
        Refusal objection = rules.objectionTo(event.change());
        if (objection != null) {
            return new Decision.Refused(objection);
        }
        if (before.recentEvents.contains(event.eventId())) {
            return Decision.UNCHANGED;
        }
        if (event.change() instanceof Change.Erased) {
            return before.erase(event);
        }
        Refusal notWritable = rules.objectionToChangesBy(event.source());
        if (notWritable == null) {
            return before.decideChange(event, position, clerkAnswer);
        }
        // Decided as if the clerk was not asked, so that the outcome does not depend on the time of its answer.
        Decision decision = before.decideChange(event, position, ClerkAnswer.UNASKED);
        return decision instanceof Decision.Applied || decision instanceof Decision.Claim
                ? new Decision.Refused(notWritable)
                : decision;
    }

    private Decision decideChange(Event event, Position position, ClerkAnswer clerkAnswer) {
        if (row == null && !(event.change() instanceof Change.Created)) {
            return refused(Reason.UNKNOWN_PURI, "nothing was created under " + event.puri());
        }
        Decision failedGuard = checkGuards(row, event);
        if (failedGuard != null) {
            return failedGuard;
        }
        return applyChange(row, event, position, clerkAnswer);
    }

    /** Applies the change after all guards have passed. Uses no switch over types, because tests run it on Java 17. */
    private Decision applyChange(@Nullable Row row, Event event, Position position, ClerkAnswer clerkAnswer) {
        Change change = event.change();
        if (change instanceof Change.Created created) {
            return create(created, event, position, clerkAnswer);
        }
        if (change instanceof Change.Moved moved) {
            return move(requireRow(row), moved, event, position);
        }
        if (change instanceof Change.Described) {
            return describe(requireRow(row), event);
        }
        if (change instanceof Change.Merged merged) {
            return merge(requireRow(row), merged, event, position);
        }
        if (change instanceof Change.Deleted) {
            return delete(requireRow(row), event, position);
        }
        throw new IllegalStateException("fold() decides an erasure before this method");
    }

    private static @Nullable Decision checkGuards(@Nullable Row row, Event event) {
        UUID uuid = event.uuid();
        if (uuid != null && (row == null || !uuid.equals(row.uuid()))) {
            return refused(
                    Reason.OTHER_INCARNATION,
                    "the event expects uuid " + uuid + ", but " + event.puri() + " does not have this uuid");
        }
        Long epoch = event.expectedEpoch();
        long currentEpoch = row == null ? 0 : row.epoch();
        if (epoch != null && epoch != currentEpoch) {
            return refused(
                    Reason.STALE_EPOCH,
                    "the event expects epoch " + epoch + ", but the epoch of " + event.puri() + " is " + currentEpoch);
        }
        return null;
    }

    private Decision create(Change.Created created, Event event, Position position, ClerkAnswer clerkAnswer) {
        if (!formerHashes.isEmpty() && formerHashes.contains(IdentityHash.of(event.puri(), created.uuid()))) {
            return refused(Reason.ID_REUSED, "uuid " + created.uuid() + " belonged to a deleted or erased identity");
        }
        if (row == null || row.status() == Row.Status.DELETED) {
            return decideClaim(created.handle(), clerkAnswer, () -> createNew(created, event, position));
        }
        if (row.uuid().equals(created.uuid())) {
            return createExisting(row, created, event, position, clerkAnswer);
        }
        return new Decision.Refused(new Refusal(
                Reason.PURI_TAKEN,
                event.puri() + " is held by owner " + row.owner() + " on shard " + row.shard(),
                new Refusal.Holder(row.owner(), row.shard()),
                row.mergedInto()));
    }

    /** Decides a repeated creation, which may add a handle to an identity without a handle. */
    private Decision createExisting(
            Row row, Change.Created created, Event event, Position position, ClerkAnswer clerkAnswer) {
        Handle handle = created.handle();
        if (handle == null || handle.equals(row.handle())) {
            return Decision.UNCHANGED;
        }
        if (row.handle() != null) {
            return refused(
                    Reason.HANDLE_FIXED,
                    event.puri() + " has the handle " + row.handle() + ", and handles do not change");
        }
        return decideClaim(
                handle,
                clerkAnswer,
                () -> applied(
                        new Row(
                                row.uuid(),
                                row.owner(),
                                row.shard(),
                                handle,
                                row.status(),
                                row.epoch(),
                                row.createdAt(),
                                event.occurredAt(),
                                row.mergedInto(),
                                position),
                        event));
    }

    private Decision createNew(Change.Created created, Event event, Position position) {
        return applied(
                new Row(
                        created.uuid(),
                        created.owner(),
                        created.shard(),
                        created.handle(),
                        Row.Status.ACTIVE,
                        row == null ? 1 : row.epoch() + 1,
                        event.occurredAt(),
                        event.occurredAt(),
                        null,
                        position),
                event);
    }

    private Decision move(Row row, Change.Moved moved, Event event, Position position) {
        Decision refused = refuseIfNotActive(row, event.puri());
        if (refused != null) {
            return refused;
        }
        boolean sameOwner = moved.owner() == null || moved.owner().equals(row.owner());
        if (sameOwner && moved.shard().equals(row.shard())) {
            return Decision.UNCHANGED;
        }
        return applied(
                new Row(
                        row.uuid(),
                        moved.owner() == null ? row.owner() : moved.owner(),
                        moved.shard(),
                        row.handle(),
                        row.status(),
                        row.epoch() + 1,
                        row.createdAt(),
                        event.occurredAt(),
                        null,
                        position),
                event);
    }

    private Decision describe(Row row, Event event) {
        Decision refused = refuseIfNotActive(row, event.puri());
        return refused != null ? refused : applied(row, event);
    }

    private Decision merge(Row row, Change.Merged merged, Event event, Position position) {
        if (row.status() == Row.Status.DELETED) {
            return deleted(event.puri());
        }
        if (merged.into().equals(event.puri())) {
            return refused(Reason.SELF_MERGE, event.puri() + " cannot be merged into itself");
        }
        if (row.status() == Row.Status.MERGED) {
            return Objects.equals(row.mergedInto(), merged.into()) ? Decision.UNCHANGED : merged(row, event.puri());
        }
        return applied(changedRow(row, Row.Status.MERGED, merged.into(), event, position), event);
    }

    private Decision delete(Row row, Event event, Position position) {
        if (row.status() == Row.Status.DELETED) {
            return Decision.UNCHANGED;
        }
        Registration next = withAppliedEvent(changedRow(row, Row.Status.DELETED, null, event, position), event);
        return new Decision.Applied(next.withFormerHash(IdentityHash.of(event.puri(), row.uuid())));
    }

    private Decision erase(Event event) {
        Registration next = withAppliedEvent(null, event);
        return new Decision.Applied(
                row == null ? next : next.withFormerHash(IdentityHash.of(event.puri(), row.uuid())));
    }

    private static Row changedRow(
            Row row, Row.Status status, @Nullable Puri mergedInto, Event event, Position position) {
        return new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                row.handle(),
                status,
                row.epoch() + 1,
                row.createdAt(),
                event.occurredAt(),
                mergedInto,
                position);
    }

    private static @Nullable Decision refuseIfNotActive(Row row, Puri puri) {
        return switch (row.status()) {
            case ACTIVE -> null;
            case DELETED -> deleted(puri);
            case MERGED -> merged(row, puri);
        };
    }

    private static Decision deleted(Puri puri) {
        return refused(Reason.DELETED, puri + " is deleted");
    }

    private static Decision merged(Row row, Puri puri) {
        return new Decision.Refused(new Refusal(
                Reason.MERGED,
                puri + " was merged into " + row.mergedInto(),
                new Refusal.Holder(row.owner(), row.shard()),
                row.mergedInto()));
    }

    private static Decision decideClaim(
            @Nullable Handle handle, ClerkAnswer clerkAnswer, Supplier<Decision> ifGranted) {
        if (handle == null) {
            return ifGranted.get();
        }
        return switch (clerkAnswer) {
            case UNASKED -> new Decision.Claim(handle);
            case GRANTED -> ifGranted.get();
            case TAKEN -> refused(Reason.HANDLE_TAKEN, "the handle " + handle + " was granted to another identity");
        };
    }

    Registration withDocument(boolean newValue) {
        return newValue == hasDocument ? this : new Registration(row, recentEvents, formerHashes, newValue);
    }

    private Decision applied(Row next, Event event) {
        return new Decision.Applied(withAppliedEvent(next, event));
    }

    private Registration withAppliedEvent(@Nullable Row next, Event event) {
        return new Registration(
                next, append(recentEvents, event.eventId(), REMEMBERED_EVENTS), formerHashes, hasDocument);
    }

    private Registration withFormerHash(IdentityHash hash) {
        if (formerHashes.contains(hash)) {
            return this;
        }
        return new Registration(row, recentEvents, append(formerHashes, hash, REMEMBERED_UUIDS), hasDocument);
    }

    private static <T> List<T> append(List<T> list, T last, int maxSize) {
        if (list.isEmpty()) {
            return List.of(last);
        }
        List<T> result = new ArrayList<>(list.size() < maxSize ? list : list.subList(1, maxSize));
        result.add(last);
        return result;
    }

    private static Decision refused(Reason reason, String detail) {
        return new Decision.Refused(Refusal.of(reason, detail));
    }

    private static Row requireRow(@Nullable Row row) {
        if (row == null) {
            throw new IllegalStateException("fold() refuses a pURI without a row before this method");
        }
        return row;
    }
}
