package dev.puri.cli.verify;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The fields that a row must have after the last event that changed it. The event determines which fields these are. A
 * row is hashed before its event is read, so each field has a hash of its own, of 64 bits.
 *
 * @param fields the values; a field that must be absent has none
 * @param names the fields that the event determines
 */
record EventFields(Map<String, String> fields, Set<String> names) {
    /** Number of hashes: uuid, owner, shard, handle, and the status with mergedInto. */
    static final int HASHES = 5;

    private static final int UUID_HASH = 0;
    private static final int OWNER_HASH = 1;
    private static final int SHARD_HASH = 2;
    private static final int HANDLE_HASH = 3;
    private static final int STATE_HASH = 4;

    /** The hash of a field that an event does not determine. */
    private static final long ANY = Long.MIN_VALUE;

    /** Returns the hashes of a row. */
    static long[] hashes(Row row) {
        long[] hashes = new long[HASHES];
        hashes[UUID_HASH] = hash(row.uuid());
        hashes[OWNER_HASH] = RowHash.ofText(row.owner().text());
        hashes[SHARD_HASH] = RowHash.ofText(row.shard().text());
        hashes[HANDLE_HASH] = RowHash.ofHandle(row.handle());
        hashes[STATE_HASH] = hash(row.status(), row.mergedInto());
        return hashes;
    }

    /**
     * Whether a row has all fields of its last event. False for some rows that have them: an identity may get its
     * handle by a second {@code created} event, which does not determine owner, shard and status.
     *
     * @param rowHashes the hashes of the row by their number
     */
    static boolean agree(Event event, IntToLongFunction rowHashes) {
        long[] hashes = hashes(event.change());
        if (hashes == null) {
            return false;
        }
        for (int i = 0; i < HASHES; i++) {
            if (hashes[i] != ANY && hashes[i] != rowHashes.applyAsLong(i)) {
                return false;
            }
        }
        return true;
    }

    private static long @Nullable [] hashes(Change change) {
        return switch (change) {
            case Change.Created created ->
                new long[] {
                    hash(created.uuid()),
                    RowHash.ofText(created.owner().text()),
                    RowHash.ofText(created.shard().text()),
                    RowHash.ofHandle(created.handle()),
                    hash(Row.Status.ACTIVE, null)
                };
            case Change.Moved moved ->
                new long[] {
                    ANY,
                    moved.owner() == null ? ANY : RowHash.ofText(moved.owner().text()),
                    RowHash.ofText(moved.shard().text()),
                    ANY,
                    hash(Row.Status.ACTIVE, null)
                };
            case Change.Merged merged -> state(hash(Row.Status.MERGED, merged.into()));
            case Change.Deleted ignored -> state(hash(Row.Status.DELETED, null));
            case Change.Described ignored -> null;
            case Change.Erased ignored -> null;
        };
    }

    private static long[] state(long hash) {
        return new long[] {ANY, ANY, ANY, ANY, hash};
    }

    private static long hash(UUID uuid) {
        return Hashes.mix(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
    }

    private static long hash(Row.Status status, @Nullable Puri mergedInto) {
        return Hashes.mix(
                status.ordinal() + 1, mergedInto == null ? RowHash.NONE : RowHash.ofText(mergedInto.toBytes()));
    }

    /**
     * Returns the fields that a row must have; null if such an event never changes a row.
     *
     * @param isFirst whether no earlier event was applied to the pURI, so that a {@code created} event created the row.
     *     Otherwise it may have added the handle to an identity that was moved or merged before
     */
    static @Nullable EventFields of(Event event, boolean isFirst) {
        Map<String, String> fields = new LinkedHashMap<>();
        Set<String> names = new LinkedHashSet<>();
        switch (event.change()) {
            case Change.Created created -> {
                fields.put("uuid", created.uuid().toString());
                if (created.handle() != null) {
                    fields.put("handle", created.handle().text());
                } else {
                    names.add("handle");
                }
                if (created.handle() == null || isFirst) {
                    fields.put("owner", created.owner().text());
                    fields.put("shard", created.shard().text());
                    fields.put("status", Row.Status.ACTIVE.name());
                }
            }
            case Change.Moved moved -> {
                fields.put("shard", moved.shard().text());
                if (moved.owner() != null) {
                    fields.put("owner", moved.owner().text());
                }
                fields.put("status", Row.Status.ACTIVE.name());
            }
            case Change.Merged merged -> {
                fields.put("status", Row.Status.MERGED.name());
                fields.put("mergedInto", merged.into().toString());
            }
            case Change.Deleted ignored -> fields.put("status", Row.Status.DELETED.name());
            case Change.Described ignored -> {
                return null;
            }
            case Change.Erased ignored -> {
                return null;
            }
        }
        fields.put("changedAt", event.occurredAt().toString());
        names.addAll(fields.keySet());
        return new EventFields(fields, names);
    }

    /** Returns those fields of a row that the event determines. */
    Map<String, String> in(Row row) {
        Map<String, String> found = Fields.of(row);
        found.keySet().retainAll(names);
        return found;
    }
}
