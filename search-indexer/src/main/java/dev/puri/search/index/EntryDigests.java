package dev.puri.search.index;

import dev.puri.schemas.log.PartitionDigest;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * The digests of an index: for each kind of entry and each partition of its topic, the digest of the entries of this
 * partition.
 *
 * @param byKind partitions without entries may be absent
 */
public record EntryDigests(Map<EntryKind, Map<Integer, PartitionDigest>> byKind) {
    /** Copies the maps. */
    public EntryDigests {
        Map<EntryKind, Map<Integer, PartitionDigest>> copy = new EnumMap<>(EntryKind.class);
        byKind.forEach((kind, byPartition) -> copy.put(kind, Map.copyOf(byPartition)));
        byKind = Map.copyOf(copy);
    }

    /** Returns the digest of the entries of a partition. */
    public PartitionDigest of(EntryKind kind, int partition) {
        return byKind.getOrDefault(kind, Map.of()).getOrDefault(partition, PartitionDigest.EMPTY);
    }

    /** Adds up the digests of parts of an index. */
    public static final class Sum {
        private final Map<EntryKind, Map<Integer, PartitionDigest>> byKind = new EnumMap<>(EntryKind.class);

        /** Adds a digest to that of a partition. */
        public void add(EntryKind kind, int partition, PartitionDigest digest) {
            byKind.computeIfAbsent(kind, each -> new HashMap<>()).merge(partition, digest, PartitionDigest::plus);
        }

        /** Returns the digests. */
        public EntryDigests toDigests() {
            return new EntryDigests(byKind);
        }
    }
}
