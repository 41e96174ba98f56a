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
 * The registry's state of one pURI, and {@link #fold}, which applies an event to it.
 *
 * <p>{@code fold} is a pure function. It checks conditions in the order of the contract's table, and the first that
 * matches decides.
 *
 * @param row the pURI's identity; null before the first creation and after an erasure
 * @param recentEvents ids of the last {@value #REMEMBERED_EVENTS} applied events, oldest first, so that a repeated
 *     publish changes nothing
 * @param formerUuids hashes of the last {@value #REMEMBERED_UUIDS} deleted and erased identities, oldest first; their
 *     uuids are not accepted again
 * @param hasDocument whether the pURI has a document and a stored text; {@code DocumentUpdate} decides it, and {@code
 *     fold} copies it
 */
record Registration(@Nullable Row row, List<UUID> recentEvents, List<UuidHash> formerUuids, boolean hasDocument) {
    static final int REMEMBERED_EVENTS = 8;

    /** Bounds the size of a registration; beyond it the oldest uuid is dropped. */
    static final int REMEMBERED_UUIDS = 1000;

    /** The registration of a pURI before its first event. */
    static final Registration NONE = new Registration(null, List.of(), List.of(), false);

    Registration {
        recentEvents = List.copyOf(recentEvents);
        formerUuids = List.copyOf(formerUuids);
    }

    /**
     * Decides an event.
     *
     * @param rules the rules of the pURI's collection
     * @param clerk the clerk's answer to the event's claim, if it has one
     */
    static Decision fold(
            Registration before, Event event, Position position, CollectionRules rules, ClerkAnswer clerk) {
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
        Row row = before.row;
        if (row == null && !(event.change() instanceof Change.Created)) {
            return refused(Reason.UNKNOWN_PURI, "nothing was created under " + event.puri());
        }
        Decision failedGuard = checkGuards(row, event);
        if (failedGuard != null) {
            return failedGuard;
        }
        return before.change(row, event, position, clerk);
    }

    /** Applies the change; all guards have passed. No switch over types: fakes in services' tests run on Java 17. */
    private Decision change(@Nullable Row row, Event event, Position position, ClerkAnswer clerk) {
        Change change = event.change();
        if (change instanceof Change.Created created) {
            return create(created, event, position, clerk);
        }
        if (change instanceof Change.Moved moved) {
            return move(present(row), moved, event, position);
        }
        if (change instanceof Change.Described) {
            return describe(present(row), event);
        }
        if (change instanceof Change.Merged merged) {
            return merge(present(row), merged, event, position);
        }
        if (change instanceof Change.Deleted) {
            return delete(present(row), event, position);
        }
        throw new IllegalStateException("fold() handles an erasure earlier");
    }

    private static @Nullable Decision checkGuards(@Nullable Row row, Event event) {
        UUID uuid = event.uuid();
        if (uuid != null && (row == null || !uuid.equals(row.uuid()))) {
            return refused(
                    Reason.OTHER_INCARNATION,
                    "the event expects uuid " + uuid + ", which " + event.puri() + " has not");
        }
        Long epoch = event.expectedEpoch();
        long present = row == null ? 0 : row.epoch();
        if (epoch != null && epoch != present) {
            return refused(
                    Reason.STALE_EPOCH, "the event expects epoch " + epoch + ", " + event.puri() + " has " + present);
        }
        return null;
    }

    private Decision create(Change.Created created, Event event, Position position, ClerkAnswer clerk) {
        if (!formerUuids.isEmpty() && formerUuids.contains(UuidHash.of(event.puri(), created.uuid()))) {
            return refused(Reason.ID_REUSED, "uuid " + created.uuid() + " belonged to a deleted or erased identity");
        }
        if (row == null || row.status() == Row.Status.DELETED) {
            return decideClaim(created.handle(), clerk, () -> createNew(created, event, position));
        }
        if (row.uuid().equals(created.uuid())) {
            return createExisting(row, created, event, position, clerk);
        }
        return new Decision.Refused(new Refusal(
                Reason.PURI_TAKEN,
                event.puri() + " is held by owner " + row.owner() + " on shard " + row.shard(),
                new Refusal.Holder(row.owner(), row.shard()),
                row.mergedInto()));
    }

    /** Handles a retry, or adds a handle to an identity that was created without one. */
    private Decision createExisting(
            Row row, Change.Created created, Event event, Position position, ClerkAnswer clerk) {
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
                clerk,
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
        return applied(changed(row, Row.Status.MERGED, merged.into(), event, position), event);
    }

    private Decision delete(Row row, Event event, Position position) {
        if (row.status() == Row.Status.DELETED) {
            return Decision.UNCHANGED;
        }
        Registration next = with(changed(row, Row.Status.DELETED, null, event, position), event);
        return new Decision.Applied(next.withFormerUuid(UuidHash.of(event.puri(), row.uuid())));
    }

    private Decision erase(Event event) {
        Registration next = with(null, event);
        return new Decision.Applied(row == null ? next : next.withFormerUuid(UuidHash.of(event.puri(), row.uuid())));
    }

    private static Row changed(Row row, Row.Status status, @Nullable Puri mergedInto, Event event, Position position) {
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

    private static Decision decideClaim(@Nullable Handle handle, ClerkAnswer clerk, Supplier<Decision> granted) {
        if (handle == null) {
            return granted.get();
        }
        return switch (clerk) {
            case UNASKED -> new Decision.Claim(handle);
            case GRANTED -> granted.get();
            case TAKEN -> refused(Reason.HANDLE_TAKEN, "the handle " + handle + " was granted to another identity");
        };
    }

    Registration withDocument(boolean hasOne) {
        return hasOne == hasDocument ? this : new Registration(row, recentEvents, formerUuids, hasOne);
    }

    private Decision applied(Row next, Event event) {
        return new Decision.Applied(with(next, event));
    }

    private Registration with(@Nullable Row next, Event event) {
        return new Registration(
                next, appended(recentEvents, event.eventId(), REMEMBERED_EVENTS), formerUuids, hasDocument);
    }

    private Registration withFormerUuid(UuidHash uuid) {
        if (formerUuids.contains(uuid)) {
            return this;
        }
        return new Registration(row, recentEvents, appended(formerUuids, uuid, REMEMBERED_UUIDS), hasDocument);
    }

    private static <T> List<T> appended(List<T> list, T last, int most) {
        if (list.isEmpty()) {
            return List.of(last);
        }
        List<T> longer = new ArrayList<>(list.size() < most ? list : list.subList(1, most));
        longer.add(last);
        return longer;
    }

    private static Decision refused(Reason reason, String detail) {
        return new Decision.Refused(Refusal.of(reason, detail));
    }

    private static Row present(@Nullable Row row) {
        if (row == null) {
            throw new IllegalStateException("fold() refuses an unknown pURI earlier");
        }
        return row;
    }
}
