package dev.puri.search;

import dev.puri.search.ChangeDecoder.DecodedRecord;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The digests of the registrar in a batch that can be compared, at most one for each partition, and the batch divided
 * at them:
 *
 * <pre>
 * partition 0:  record record digest │ record
 * partition 1:  record               │
 * partition 2:  digest record digest │ record record
 *               first records        │ last records
 * </pre>
 *
 * Between the two parts, the index has of each partition with a digest exactly the records before that digest. So one
 * refresh and one computation of the digests of the index suffice for the whole batch. The records of different
 * partitions may be applied in any order, as the batch itself has them in any order.
 */
final class ComparableDigests {
    private final Map<EntryKind, Map<Integer, DecodedRecord>> latest = new EnumMap<>(EntryKind.class);
    private final List<DecodedRecord> firstRecords = new ArrayList<>();
    private final List<DecodedRecord> lastRecords = new ArrayList<>();

    /**
     * Divides a batch.
     *
     * @param isComparable whether the digest in a record can be compared
     */
    ComparableDigests(List<DecodedRecord> batch, Predicate<DecodedRecord> isComparable) {
        for (DecodedRecord record : batch) {
            if (record.digest() != null && isComparable.test(record)) {
                IndexChange change = record.change();
                latest.computeIfAbsent(change.kind(), kind -> new HashMap<>()).put(change.partition(), record);
            }
        }
        for (DecodedRecord record : batch) {
            if (record.digest() == null) {
                DecodedRecord digest = digestOfPartitionOf(record.change());
                boolean isAfterDigest = digest != null
                        && record.change().offset() > digest.change().offset();
                (isAfterDigest ? lastRecords : firstRecords).add(record);
            }
        }
    }

    private @Nullable DecodedRecord digestOfPartitionOf(IndexChange change) {
        return latest.getOrDefault(change.kind(), Map.of()).get(change.partition());
    }

    /** Returns the records with the last digest of each partition that has one. */
    List<DecodedRecord> digests() {
        return latest.values().stream()
                .map(Map::values)
                .flatMap(Collection::stream)
                .toList();
    }

    /** Returns the changes to apply before the digests are compared; all changes if there is no digest. */
    List<DecodedRecord> firstRecords() {
        return firstRecords;
    }

    /** Returns the changes to apply after the digests were compared. */
    List<DecodedRecord> lastRecords() {
        return lastRecords;
    }
}
