package dev.puri.search.index;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The position of an index in its two topics: the topics' ids, and for each partition the next offset to read.
 *
 * <p>An engine stores it as text, {@code 1;2026-11-20T10:00:00Z;complete;-;IDENTITY=id@0:12,1:44;…}.
 *
 * @param topicIds Kafka's topic id by kind; another id means that the topic was deleted and created again
 * @param offsets next offset by kind and partition
 * @param asOf time up to which the index has all records; during the first fill, the time when the fill began
 * @param complete false during the first fill
 * @param owedSince time since which files may contain erased entries that a purge must remove; null if there are none
 */
public record IndexCheckpoint(
        Map<EntryKind, String> topicIds,
        Map<EntryKind, Map<Integer, Long>> offsets,
        Instant asOf,
        boolean complete,
        @Nullable Instant owedSince) {
    /** The checkpoint of an empty index. */
    public static final IndexCheckpoint NONE = new IndexCheckpoint(Map.of(), Map.of(), Instant.EPOCH, false, null);

    private static final String FORMAT = "1";
    private static final String COMPLETE = "complete";
    private static final String PARTIAL = "part";
    private static final String ABSENT = "-";

    public IndexCheckpoint {
        topicIds = Map.copyOf(topicIds);
        offsets = Map.copyOf(offsets);
    }

    /** Returns the next offset to read of a partition; 0 if nothing was read. */
    public long next(EntryKind kind, int partition) {
        return offsets.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }

    /**
     * Parses the text of {@link #toString}.
     *
     * @throws IllegalArgumentException if the text has another format, such as that of a later version
     */
    public static IndexCheckpoint parse(String text) {
        String[] parts = text.split(";", -1);
        try {
            if (parts.length < 4 || !parts[0].equals(FORMAT)) {
                throw new IllegalArgumentException("another format");
            }
            Map<EntryKind, String> ids = new EnumMap<>(EntryKind.class);
            Map<EntryKind, Map<Integer, Long>> offsets = new EnumMap<>(EntryKind.class);
            for (String part : List.of(parts).subList(4, parts.length)) {
                int equals = part.indexOf('=');
                int at = part.indexOf('@', equals);
                EntryKind kind = EntryKind.valueOf(part.substring(0, equals));
                ids.put(kind, part.substring(equals + 1, at));
                offsets.put(kind, offsets(part.substring(at + 1)));
            }
            return new IndexCheckpoint(
                    ids,
                    offsets,
                    Instant.parse(parts[1]),
                    parts[2].equals(COMPLETE),
                    parts[3].equals(ABSENT) ? null : Instant.parse(parts[3]));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | DateTimeParseException e) {
            throw new IllegalArgumentException("not the checkpoint of an index: " + text, e);
        }
    }

    private static Map<Integer, Long> offsets(String text) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (String each : text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1))) {
            int colon = each.indexOf(':');
            offsets.put(Integer.valueOf(each.substring(0, colon)), Long.valueOf(each.substring(colon + 1)));
        }
        return offsets;
    }

    /** Returns the canonical text, one line of printable ASCII. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>(List.of(
                FORMAT, asOf.toString(), complete ? COMPLETE : PARTIAL, owedSince == null ? ABSENT : "" + owedSince));
        for (EntryKind kind : EntryKind.values()) {
            String id = topicIds.get(kind);
            if (id != null) {
                StringBuilder part =
                        new StringBuilder(kind.name()).append('=').append(id).append('@');
                String comma = "";
                for (Map.Entry<Integer, Long> each : new TreeMap<>(offsets.getOrDefault(kind, Map.of())).entrySet()) {
                    part.append(comma).append(each.getKey()).append(':').append(each.getValue());
                    comma = ",";
                }
                parts.add(part.toString());
            }
        }
        return String.join(";", parts);
    }
}
