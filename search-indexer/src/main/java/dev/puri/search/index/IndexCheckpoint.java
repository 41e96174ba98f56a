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
 * How far an index goes: of each kind's topic which it is, and for each partition the offset before
 * which everything is in.
 *
 * <p>As text, in which an engine keeps it, {@code 1;2026-11-20T10:00:00Z;complete;-;IDENTITY=id@0:12,1:44;…}.
 *
 * @param topicIds by kind Kafka's id of the topic; another id is another topic of the same name
 * @param offsets by kind and partition
 * @param asOf a moment up to which nothing is missing; while it is filled for the first time, when that began
 * @param complete whether it had all at that moment; false while it is filled for the first time
 * @param owedSince since when it holds what was erased and may still stand in files; null when there is none
 */
public record IndexCheckpoint(
        Map<EntryKind, String> topicIds,
        Map<EntryKind, Map<Integer, Long>> offsets,
        Instant asOf,
        boolean complete,
        @Nullable Instant owedSince) {
    /** Of an index that has nothing yet. */
    public static final IndexCheckpoint NOTHING = new IndexCheckpoint(Map.of(), Map.of(), Instant.EPOCH, false, null);

    private static final String FORM = "1";
    private static final String COMPLETE = "complete";
    private static final String PART = "part";
    private static final String NONE = "-";

    public IndexCheckpoint {
        topicIds = Map.copyOf(topicIds);
        offsets = Map.copyOf(offsets);
    }

    /** The offset that is read next; 0 where nothing was read. */
    public long next(EntryKind kind, int partition) {
        return offsets.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }

    /**
     * Reads what {@link #toString} writes.
     *
     * @throws IllegalArgumentException when it is of another form, which later versions may write
     */
    public static IndexCheckpoint parse(String text) {
        String[] parts = text.split(";", -1);
        try {
            if (parts.length < 4 || !parts[0].equals(FORM)) {
                throw new IllegalArgumentException("another form");
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
                    parts[3].equals(NONE) ? null : Instant.parse(parts[3]));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | DateTimeParseException e) {
            throw new IllegalArgumentException("not how far an index goes: " + text, e);
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

    /** The same in one line of printable ASCII. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>(
                List.of(FORM, asOf.toString(), complete ? COMPLETE : PART, owedSince == null ? NONE : "" + owedSince));
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
