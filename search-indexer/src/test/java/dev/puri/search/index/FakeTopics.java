package dev.puri.search.index;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Both topics in memory, with {@value #PARTITIONS} partitions each, and the entries that result from them. */
public final class FakeTopics {
    public static final int PARTITIONS = 3;

    private final List<IndexChange> changes = new ArrayList<>();
    private final Map<EntryKind, Map<Integer, Long>> endOffsets = new EnumMap<>(EntryKind.class);
    private SearchedAttributes declared = SearchedAttributes.DEFAULT;

    /** Writes rows and, for identities that are not deleted, documents. */
    public FakeTopics write(Item... items) {
        for (Item item : items) {
            writeRow(item);
            writeDocument(item);
        }
        return this;
    }

    /** Writes rows and documents in a collection with a search declaration; it also applies to later documents. */
    public FakeTopics write(SearchedAttributes newDeclared, Item... items) {
        declared = newDeclared;
        return write(items);
    }

    public FakeTopics writeRow(Item item) {
        long offset = endOffset(EntryKind.IDENTITY, item.puri());
        return add(EntryKind.IDENTITY, item.puri(), item.row(offset));
    }

    public FakeTopics writeDocument(Item item) {
        boolean deleted = item.status() == Row.Status.DELETED;
        long offset = endOffset(EntryKind.DOCUMENT, item.puri());
        return add(EntryKind.DOCUMENT, item.puri(), deleted ? null : item.document(offset));
    }

    /** Writes both tombstones. */
    public FakeTopics erase(String puri) {
        add(EntryKind.IDENTITY, Puri.parse(puri), null);
        return add(EntryKind.DOCUMENT, Puri.parse(puri), null);
    }

    /** Returns the changes after the first ones. */
    public List<IndexChange> since(int first) {
        return List.copyOf(changes.subList(first, changes.size()));
    }

    /** Returns the changes after a checkpoint. */
    public List<IndexChange> after(IndexCheckpoint checkpoint) {
        return changes.stream().filter(change -> isAfter(checkpoint, change)).toList();
    }

    /** Whether a checkpoint does not include a change. */
    public static boolean isAfter(IndexCheckpoint checkpoint, IndexChange change) {
        return change.offset()
                >= checkpoint.offsets().getOrDefault(change.kind(), Map.of()).getOrDefault(change.partition(), 0L);
    }

    public int size() {
        return changes.size();
    }

    /** Returns the checkpoint of an index with all changes. */
    public IndexCheckpoint checkpoint() {
        return checkpointOf(changes);
    }

    /** Returns the checkpoint of an index with these changes. */
    public static IndexCheckpoint checkpointOf(List<IndexChange> applied) {
        Map<EntryKind, Map<Integer, Long>> offsets = new EnumMap<>(EntryKind.class);
        for (IndexChange change : applied) {
            offsets.computeIfAbsent(change.kind(), kind -> new HashMap<>())
                    .put(change.partition(), change.offset() + 1);
        }
        return new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, "identities", EntryKind.DOCUMENT, "documents"),
                offsets,
                Instant.ofEpochMilli(1_760_000_000_123L),
                true,
                null);
    }

    /** Returns the entries of a kind after all changes. */
    public Map<Puri, Entry> entries(EntryKind kind) {
        return entries(kind, changes);
    }

    /** Returns the entries of a kind after some changes. */
    public static Map<Puri, Entry> entries(EntryKind kind, List<IndexChange> changes) {
        Map<Puri, Entry> entries = new HashMap<>();
        for (IndexChange change : changes) {
            if (change.kind() == kind) {
                if (change.entry() == null) {
                    entries.remove(change.puri());
                } else {
                    entries.put(change.puri(), change.entry());
                }
            }
        }
        return entries;
    }

    private FakeTopics add(EntryKind kind, Puri puri, Entry entry) {
        long offset = endOffset(kind, puri);
        // Offsets have gaps, as after transactions and compaction.
        endOffsets.get(kind).put(partition(puri), offset + 2);
        changes.add(new IndexChange(kind, partition(puri), offset, puri, entry, declared));
        return this;
    }

    private long endOffset(EntryKind kind, Puri puri) {
        return endOffsets
                .computeIfAbsent(kind, each -> new HashMap<>())
                .computeIfAbsent(partition(puri), partition -> 0L);
    }

    static int partition(Puri puri) {
        return Math.floorMod(puri.hashCode(), PARTITIONS);
    }
}
