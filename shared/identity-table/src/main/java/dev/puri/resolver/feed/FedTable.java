package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.Staleness;
import dev.puri.projection.TopicEnds;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.log.Topics;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/**
 * A table that is filled from its topic and then kept current.
 *
 * @param endsAtStart the end offsets of the topic before the fill; the table is complete when it has reached them
 * @param digests the comparisons of the table with the registrar
 */
record FedTable(PackedTable table, TopicEnds endsAtStart, DigestCheck digests, Staleness<TopicEnds> staleness) {
    private static final String ADVICE = "run puri verify, then puri rebuild table";

    static FedTable of(PackedTable table, TopicEnds endsAtStart, InstantSource clock) {
        Map<Integer, Long> firstComparable = new HashMap<>(endsAtStart.byPartition());
        if (!table.isFromSnapshot()) {
            // A snapshot may have rows of records after its offsets, but of none after these end offsets.
            firstComparable.replaceAll((partition, end) -> 0L);
        }
        return new FedTable(
                table,
                endsAtStart,
                new DigestCheck(Topics.IDENTITIES, ADVICE, firstComparable, clock),
                new Staleness<>(TopicEnds::at, ends -> ends.ends().isReachedBy(table::nextOffset), clock));
    }

    int partitions() {
        return endsAtStart.byPartition().size();
    }
}
