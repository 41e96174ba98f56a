package dev.puri.search.index;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Both topics in memory, of {@value #PARTITIONS} partitions, and what they say in the end. */
public final class FakeTopics {
    public static final int PARTITIONS = 3;

    private final List<IndexChange> changes = new ArrayList<>();
    private final Map<EntryKind, Map<Integer, Long>> ends = new EnumMap<>(EntryKind.class);
    private SearchedAttributes declared = SearchedAttributes.DEFAULT;

    /** A row and, unless it is deleted, a document. */
    public FakeTopics write(Item... items) {
        for (Item item : items) {
            writeRow(item);
            writeDocument(item);
        }
        return this;
    }

    /** The same in a collection that declares how its attributes are searched. */
    public FakeTopics write(SearchedAttributes declaredFromHere, Item... items) {
        declared = declaredFromHere;
        return write(items);
    }

    public FakeTopics writeRow(Item item) {
        long offset = end(EntryKind.IDENTITY, item.puri());
        return add(EntryKind.IDENTITY, item.puri(), new Entry.OfIdentity(item.row(offset)));
    }

    public FakeTopics writeDocument(Item item) {
        boolean gone = item.status() == Row.Status.DELETED;
        long offset = end(EntryKind.DOCUMENT, item.puri());
        return add(EntryKind.DOCUMENT, item.puri(), gone ? null : new Entry.OfDocument(item.document(offset)));
    }

    /** Both tombstones. */
    public FakeTopics erase(String puri) {
        add(EntryKind.IDENTITY, Puri.parse(puri), null);
        return add(EntryKind.DOCUMENT, Puri.parse(puri), null);
    }

    /** All of it, or what came since a size that it had. */
    public List<IndexChange> since(int size) {
        return List.copyOf(changes.subList(size, changes.size()));
    }

    /** What comes after an index's commit. */
    public List<IndexChange> after(IndexCheckpoint reached) {
        return changes.stream()
                .filter(change -> change.offset() >= reached.next(change.kind(), change.partition()))
                .toList();
    }

    public int size() {
        return changes.size();
    }

    /** How far an index is that has all. */
    public IndexCheckpoint reached() {
        return reachedBy(changes);
    }

    /** How far an index is that has these changes, the last of each partition. */
    public static IndexCheckpoint reachedBy(List<IndexChange> taken) {
        Map<EntryKind, Map<Integer, Long>> offsets = new EnumMap<>(EntryKind.class);
        for (IndexChange change : taken) {
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

    /** What the topics say in the end, of one kind. */
    public Map<Puri, Entry> entries(EntryKind kind) {
        return entries(kind, changes);
    }

    /** What changes come to, of one kind. */
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
        long offset = end(kind, puri);
        // Offsets have gaps, as transactions and compaction leave them.
        ends.get(kind).put(partition(puri), offset + 2);
        changes.add(new IndexChange(kind, partition(puri), offset, puri, entry, declared));
        return this;
    }

    private long end(EntryKind kind, Puri puri) {
        return ends.computeIfAbsent(kind, each -> new HashMap<>()).computeIfAbsent(partition(puri), partition -> 0L);
    }

    private static int partition(Puri puri) {
        return Math.floorMod(puri.hashCode(), PARTITIONS);
    }
}
