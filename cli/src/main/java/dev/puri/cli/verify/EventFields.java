package dev.puri.cli.verify;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    /** The fields of each hash. */
    private static final List<List<String>> HASHED = List.of(
            List.of("uuid"), List.of("owner"), List.of("shard"), List.of("handle"), List.of("status", "mergedInto"));

    /** Number of hashes. */
    static final int HASHES = HASHED.size();

    /** Returns the hashes of a row. */
    static long[] hashes(Row row) {
        return hashes(RowFields.of(row));
    }

    private static long[] hashes(Map<String, String> fields) {
        return HASHED.stream()
                .mapToLong(names -> {
                    long hash = 0;
                    for (String name : names) {
                        String value = fields.get(name);
                        hash = Hashes.mix(hash, value == null ? RowHash.NONE : RowHash.ofText(value));
                    }
                    return hash;
                })
                .toArray();
    }

    /**
     * Whether a row has all fields of its last event. False for some rows that have them: an identity may get its
     * handle by a second {@code created} event, which does not determine owner, shard and status.
     *
     * @param rowHashes the hashes of the row by their number
     */
    static boolean agree(Event event, IntToLongFunction rowHashes) {
        EventFields expected = of(event, true);
        if (expected == null) {
            return false;
        }
        long[] hashes = hashes(expected.fields);
        for (int i = 0; i < HASHES; i++) {
            if (expected.names.contains(HASHED.get(i).getFirst()) && hashes[i] != rowHashes.applyAsLong(i)) {
                return false;
            }
        }
        return true;
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
        Map<String, String> found = RowFields.of(row);
        found.keySet().retainAll(names);
        return found;
    }
}
