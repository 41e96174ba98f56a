package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A second, simple implementation of the contract: one mutable object per pURI and a list of conditions. Its inputs are
 * the first claimant of each handle and whether a collection was searchable; it knows nothing of queues, crashes or
 * Kafka.
 */
final class Model {
    /** The declarations of collections, in the model's own types. */
    interface Rules {
        boolean mayClaim(Puri puri, String owner);

        @Nullable
        String prefixOf(Puri puri);
    }

    private static final class Identity {
        private @Nullable UUID uuid;
        private String owner = "";
        private String shard = "";
        private @Nullable String handle;
        private String status = "none";
        private long epoch;
        private long createdAt;
        private long changedAt;
        private @Nullable Puri survivor;
        private @Nullable Position position;
        private @Nullable Map<String, String> text;
        private @Nullable Position documented;
        private final Deque<UUID> recent = new ArrayDeque<>();
        private final Set<UUID> burnt = new HashSet<>();
    }

    private final Rules rules;
    private final Map<String, IdentityHash> firstToAsk;
    private final Map<Puri, Identity> identities = new HashMap<>();

    Model(Rules rules, Map<String, IdentityHash> firstToAsk) {
        this.rules = rules;
        this.firstToAsk = firstToAsk;
    }

    Map<Puri, Row> rows() {
        Map<Puri, Row> rows = new HashMap<>();
        identities.forEach((puri, i) -> {
            if (!i.status.equals("none")) {
                rows.put(puri, row(i));
            }
        });
        return rows;
    }

    Map<Puri, Document> documents() {
        Map<Puri, Document> documents = new HashMap<>();
        identities.forEach((puri, i) -> {
            if (i.text != null) {
                documents.put(puri, document(i));
            }
        });
        return documents;
    }

    /**
     * @param isSearched whether the pURI's collection was searched when the registry decided the event
     * @param isWritable whether the mode at that time let the event's source change identities
     */
    Outcome decide(Event event, Position position, boolean isSearched, boolean isWritable) {
        Identity i = identities.computeIfAbsent(event.puri(), ignored -> new Identity());
        Outcome outcome = decide(i, event, position, isWritable);
        if (outcome.equals(Outcome.APPLIED)) {
            i.recent.addLast(event.eventId());
            if (i.recent.size() > 8) {
                i.recent.removeFirst();
            }
            describe(i, event.change(), position, isSearched);
        } else if (outcome.equals(Outcome.UNCHANGED) && event.change() instanceof Change.Merged) {
            // The document is written again.
            i.documented = position;
        }
        return outcome;
    }

    private static void describe(Identity i, Change change, Position position, boolean isSearched) {
        if (!isSearched || i.status.equals("none") || i.status.equals("DELETED")) {
            i.text = null;
        } else if (change instanceof Change.Described d) {
            i.text = d.attributes();
        } else if (change instanceof Change.Created c && i.text == null) {
            i.text = c.attributes();
        }
        i.documented = position;
    }

    private Outcome decide(Identity i, Event event, Position position, boolean isWritable) {
        Puri puri = event.puri();
        long at = event.occurredAt().toEpochMilli();
        boolean exists = !i.status.equals("none");
        if (event.change() instanceof Change.Created c) {
            if (!rules.mayClaim(puri, c.owner().text())) {
                return Outcome.refused(Reason.NOT_ALLOWED);
            }
            if (c.handle() != null && !c.handle().prefix().text().equals(rules.prefixOf(puri))) {
                return Outcome.refused(Reason.WRONG_PREFIX);
            }
        }
        if (event.change() instanceof Change.Moved m
                && m.owner() != null
                && !rules.mayClaim(puri, m.owner().text())) {
            return Outcome.refused(Reason.NOT_ALLOWED);
        }
        if (i.recent.contains(event.eventId())) {
            return Outcome.UNCHANGED;
        }
        if (event.change() instanceof Change.Erased) {
            if (exists) {
                i.burnt.add(Objects.requireNonNull(i.uuid));
            }
            i.status = "none";
            i.epoch = 0;
            i.handle = null;
            i.survivor = null;
            return Outcome.APPLIED;
        }
        if (!exists && !(event.change() instanceof Change.Created)) {
            return Outcome.refused(Reason.UNKNOWN_PURI);
        }
        if (event.uuid() != null && !(exists && event.uuid().equals(i.uuid))) {
            return Outcome.refused(Reason.OTHER_INCARNATION);
        }
        if (event.expectedEpoch() != null && event.expectedEpoch() != i.epoch) {
            return Outcome.refused(Reason.STALE_EPOCH);
        }
        if (event.change() instanceof Change.Created c) {
            return create(i, c, puri, at, position, isWritable);
        }
        if (event.change() instanceof Change.Deleted) {
            if (i.status.equals("DELETED")) {
                return Outcome.UNCHANGED;
            }
            if (!isWritable) {
                return Outcome.refused(Reason.NOT_WRITABLE);
            }
            i.burnt.add(Objects.requireNonNull(i.uuid));
            i.survivor = null;
            return change(i, "DELETED", at, position);
        }
        if (i.status.equals("DELETED")) {
            return Outcome.refused(Reason.DELETED);
        }
        if (event.change() instanceof Change.Merged m) {
            if (m.into().equals(puri)) {
                return Outcome.refused(Reason.SELF_MERGE);
            }
            if (i.status.equals("MERGED")) {
                return m.into().equals(i.survivor) ? Outcome.UNCHANGED : Outcome.refused(Reason.MERGED);
            }
            if (!isWritable) {
                return Outcome.refused(Reason.NOT_WRITABLE);
            }
            i.survivor = m.into();
            return change(i, "MERGED", at, position);
        }
        if (i.status.equals("MERGED")) {
            return Outcome.refused(Reason.MERGED);
        }
        if (event.change() instanceof Change.Moved m) {
            String owner = m.owner() == null ? i.owner : m.owner().text();
            if (owner.equals(i.owner) && m.shard().text().equals(i.shard)) {
                return Outcome.UNCHANGED;
            }
            if (!isWritable) {
                return Outcome.refused(Reason.NOT_WRITABLE);
            }
            i.owner = owner;
            i.shard = m.shard().text();
            return change(i, "ACTIVE", at, position);
        }
        return isWritable ? Outcome.APPLIED : Outcome.refused(Reason.NOT_WRITABLE);
    }

    private Outcome create(Identity i, Change.Created c, Puri puri, long at, Position position, boolean isWritable) {
        if (i.burnt.contains(c.uuid())) {
            return Outcome.refused(Reason.ID_REUSED);
        }
        boolean isFree = i.status.equals("none") || i.status.equals("DELETED");
        if (!isFree && !c.uuid().equals(i.uuid)) {
            return Outcome.refused(Reason.PURI_TAKEN);
        }
        String wanted = c.handle() == null ? null : c.handle().text();
        if (!isFree && (wanted == null || wanted.equals(i.handle))) {
            return Outcome.UNCHANGED;
        }
        if (!isFree && i.handle != null) {
            return Outcome.refused(Reason.HANDLE_FIXED);
        }
        if (!isWritable) {
            return Outcome.refused(Reason.NOT_WRITABLE);
        }
        if (wanted != null && !IdentityHash.of(puri, c.uuid()).equals(firstToAsk.get(wanted))) {
            return Outcome.refused(Reason.HANDLE_TAKEN);
        }
        i.handle = wanted;
        i.changedAt = at;
        i.position = position;
        if (isFree) {
            i.uuid = c.uuid();
            i.owner = c.owner().text();
            i.shard = c.shard().text();
            i.status = "ACTIVE";
            i.epoch++;
            i.createdAt = at;
            i.survivor = null;
        }
        return Outcome.APPLIED;
    }

    private static Outcome change(Identity i, String status, long at, Position position) {
        i.status = status;
        i.epoch++;
        i.changedAt = at;
        i.position = position;
        return Outcome.APPLIED;
    }

    private static Row row(Identity i) {
        return new Row(
                Objects.requireNonNull(i.uuid),
                new Owner(i.owner),
                new Shard(i.shard),
                i.handle == null ? null : new Handle(i.handle),
                Row.Status.valueOf(i.status),
                i.epoch,
                Instant.ofEpochMilli(i.createdAt),
                Instant.ofEpochMilli(i.changedAt),
                i.survivor,
                Objects.requireNonNull(i.position));
    }

    private static Document document(Identity i) {
        return new Document(
                new Owner(i.owner),
                new Shard(i.shard),
                i.handle == null ? null : new Handle(i.handle),
                Row.Status.valueOf(i.status),
                i.survivor,
                Objects.requireNonNull(i.text),
                Objects.requireNonNull(i.documented));
    }
}
