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
 * The position of an index in its two topics: the topics' ids, and the next offset to read in each partition. An engine
 * stores the checkpoint as text:
 *
 * <pre>
 * format;completeUpTo;"complete" or "part";purgeNeededSince or "-";kind=topic id@partition:next offset,…;…
 * 1;2026-11-20T10:00:00Z;complete;-;IDENTITY=id@0:12,1:44;DOCUMENT=id@0:7
 * </pre>
 *
 * @param topicIds Kafka's topic id by kind; the id of a topic changes if the topic is deleted and created again
 * @param offsets next offset to read by kind and partition
 * @param completeUpTo time up to which the index has all records; during the first fill, the time when the fill began
 * @param isComplete false during the first fill, while the index does not have all records yet
 * @param purgeNeededSince time since which files may contain erased entries, so that a purge is needed; null if not
 */
public record IndexCheckpoint(
        Map<EntryKind, String> topicIds,
        Map<EntryKind, Map<Integer, Long>> offsets,
        Instant completeUpTo,
        boolean isComplete,
        @Nullable Instant purgeNeededSince) {
    /** The checkpoint of an empty index. */
    public static final IndexCheckpoint NONE = new IndexCheckpoint(Map.of(), Map.of(), Instant.EPOCH, false, null);

    private static final String FORMAT = "1";
    private static final String COMPLETE = "complete";
    private static final String INCOMPLETE = "part";
    private static final String NULL = "-";

    public IndexCheckpoint {
        topicIds = Map.copyOf(topicIds);
        offsets = Map.copyOf(offsets);
    }

    /**
     * Parses the text of {@link #toString}.
     *
     * @throws IllegalArgumentException if the text has a different format, for example the format of a later version
     */
    public static IndexCheckpoint parse(String text) {
        String[] parts = text.split(";", -1);
        try {
            if (parts.length < 4 || !parts[0].equals(FORMAT)) {
                throw new IllegalArgumentException("its format is not " + FORMAT);
            }
            Map<EntryKind, String> topicIds = new EnumMap<>(EntryKind.class);
            Map<EntryKind, Map<Integer, Long>> offsets = new EnumMap<>(EntryKind.class);
            for (String part : List.of(parts).subList(4, parts.length)) {
                int equals = part.indexOf('=');
                int at = part.indexOf('@', equals);
                EntryKind kind = EntryKind.valueOf(part.substring(0, equals));
                topicIds.put(kind, part.substring(equals + 1, at));
                offsets.put(kind, parseOffsets(part.substring(at + 1)));
            }
            return new IndexCheckpoint(
                    topicIds,
                    offsets,
                    Instant.parse(parts[1]),
                    parts[2].equals(COMPLETE),
                    parts[3].equals(NULL) ? null : Instant.parse(parts[3]));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | DateTimeParseException e) {
            throw new IllegalArgumentException("not the checkpoint of an index: " + text, e);
        }
    }

    private static Map<Integer, Long> parseOffsets(String text) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (String pair : text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1))) {
            int colon = pair.indexOf(':');
            offsets.put(Integer.valueOf(pair.substring(0, colon)), Long.valueOf(pair.substring(colon + 1)));
        }
        return offsets;
    }

    /** Returns the canonical text, one line of printable ASCII. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>(List.of(
                FORMAT,
                completeUpTo.toString(),
                isComplete ? COMPLETE : INCOMPLETE,
                purgeNeededSince == null ? NULL : purgeNeededSince.toString()));
        for (EntryKind kind : EntryKind.values()) {
            String topicId = topicIds.get(kind);
            if (topicId != null) {
                StringBuilder part = new StringBuilder(kind.name())
                        .append('=')
                        .append(topicId)
                        .append('@');
                String separator = "";
                for (Map.Entry<Integer, Long> offset : new TreeMap<>(offsets.getOrDefault(kind, Map.of())).entrySet()) {
                    part.append(separator).append(offset.getKey()).append(':').append(offset.getValue());
                    separator = ",";
                }
                parts.add(part.toString());
            }
        }
        return String.join(";", parts);
    }
}
