package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.DigestCheck.State;
import dev.puri.schemas.log.PartitionDigest;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class DigestCheckTest {
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");
    private static final PartitionDigest TEN = new PartitionDigest(10, 0xabcL);
    private static final PartitionDigest ELEVEN = new PartitionDigest(11, 0xdefL);

    private final DigestCheck check = new DigestCheck("topic", "rebuild it", Map.of(0, 0L, 5, 100L), fixed(NOW));

    private static InstantSource fixed(Instant time) {
        return InstantSource.fixed(time);
    }

    @Test
    void aPartitionIsUncheckedBeforeTheFirstComparison() {
        assertThat(check.state(3)).isEqualTo(State.UNCHECKED);
        assertThat(check.isDiffering()).isFalse();
        assertThat(check.reason()).isNull();
        assertThat(check.toJson(3, 7, TEN))
                .isEqualTo(Map.of(
                        "partition",
                        3,
                        "nextOffset",
                        7L,
                        "rows",
                        10L,
                        "digest",
                        "10:0000000000000abc",
                        "state",
                        "unchecked"));
    }

    @Test
    void onlyFreshDigestsAreComparable() {
        long now = NOW.toEpochMilli();

        assertThat(check.isComparable(0, 1, now - 60_000)).isTrue();
        assertThat(check.isComparable(0, 1, now - 60_001)).isFalse();
        assertThat(check.isComparable(0, 1, now + 5_000)).isTrue();
    }

    @Test
    void digestsBeforeTheLastRecordsOfAnOpenedFileAreNotComparable() {
        assertThat(check.isComparable(5, 99, NOW.toEpochMilli())).isFalse();
        assertThat(check.isComparable(5, 100, NOW.toEpochMilli())).isTrue();
    }

    @Test
    void equalDigestsAreNotedWithOffsetAndTime() {
        assertThat(check.compare(3, 120, TEN, TEN)).isEqualTo(State.EQUAL);

        assertThat(check.isDiffering()).isFalse();
        assertThat(check.toJson(3, 123, TEN))
                .containsEntry("state", "equal")
                .containsEntry("comparedOffset", 120L)
                .containsEntry("comparedAt", NOW.toString());
    }

    @Test
    void aDifferenceNamesPartitionOffsetAndRows() {
        assertThat(check.compare(3, 1234, ELEVEN, TEN)).isEqualTo(State.DIFFERS);

        String reason = "partition 3 of topic differs from the registrar at offset 1234: 10 rows, the registrar has 11"
                + " rows; rebuild it";
        assertThat(check.reason()).isEqualTo(reason);
        assertThat(check.toJson(3, 1300, TEN)).containsEntry("state", "differs").containsEntry("detail", reason);
        assertThat(check.differing()).isEqualTo(1);
    }

    @Test
    void aDifferenceOfRowsWithEqualCountsShowsBothDigests() {
        check.compare(3, 1234, new PartitionDigest(10, 1), TEN);

        assertThat(check.reason())
                .contains("10 rows in both, but the digests are 10:0000000000000abc and 10:0000000000000001");
    }

    @Test
    void aDifferenceLastsUntilALaterDigestIsEqual() {
        check.compare(3, 1234, ELEVEN, TEN);
        check.compare(4, 10, TEN, TEN);
        assertThat(check.state(3)).isEqualTo(State.DIFFERS);

        assertThat(check.compare(3, 1240, ELEVEN, ELEVEN)).isEqualTo(State.EQUAL);
        assertThat(check.reason()).isNull();
    }

    @Test
    void anEqualDigestDoesNotHideADifferenceOfStoredRows() {
        assertThat(check.storedRowsDiffer(3, "part 17")).isEqualTo(State.DIFFERS);
        assertThat(check.compare(3, 1240, TEN, TEN)).isEqualTo(State.DIFFERS);

        assertThat(check.reason()).contains("the stored rows of partition 3 of topic", "part 17");
        assertThat(check.storedRowsAgree(3)).isEqualTo(State.EQUAL);
    }

    @Test
    void theReasonCountsFurtherPartitions() {
        check.compare(3, 1234, ELEVEN, TEN);
        check.storedRowsDiffer(1, "part 17");
        check.storedRowsDiffer(2, "part 17");

        assertThat(check.reason()).contains("partition 1 of topic").endsWith("(and 2 more partitions)");
    }

    @Test
    void theMetricCountsDifferingPartitions() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        DigestCheck.meter("topic", () -> check, meters);
        Gauge differing =
                meters.get("puri.digest.differing").tag("topic", "topic").gauge();
        assertThat(differing.value()).isZero();

        check.compare(3, 1234, ELEVEN, TEN);

        assertThat(differing.value()).isEqualTo(1);
    }

    @Test
    void metricsOfAPartitionShowTheCopysDigestAtTheLastComparison() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        AtomicReference<DigestCheck> current = new AtomicReference<>();
        DigestMeters byPartition = DigestCheck.meter("topic", current::get, meters);
        byPartition.register(2);
        byPartition.register(2);
        assertThat(meters.find("puri.digest.rows").gauges()).hasSize(2);
        assertThat(valueOf("rows", 1, meters)).isNaN();
        current.set(check);
        assertThat(valueOf("rows", 1, meters)).isNaN();

        check.compare(1, 1234, ELEVEN, new PartitionDigest(10, 0xfedc_ba98_8765_4321L));

        assertThat(valueOf("offset", 1, meters)).isEqualTo(1234);
        assertThat(valueOf("rows", 1, meters)).isEqualTo(10);
        assertThat(valueOf("hash", 1, meters)).isEqualTo(0x8765_4321L);
        assertThat(valueOf("rows", 0, meters)).isNaN();
    }

    private static double valueOf(String name, int partition, SimpleMeterRegistry meters) {
        return meters.get("puri.digest." + name)
                .tag("topic", "topic")
                .tag("partition", Integer.toString(partition))
                .gauge()
                .value();
    }

    @Test
    void theIndexEntryThatDoesNotBelongToItsRowIsADifference() {
        assertThat(check.indexEntryDiffers(3, "part 17 of the index of handles"))
                .isEqualTo(State.DIFFERS);

        assertThat(check.reason())
                .startsWith("an entry in part 17 of the index of handles does not belong to its row, which is in"
                        + " partition 3 of topic");
        assertThat(check.storedRowsAgree(3)).isEqualTo(State.UNCHECKED);
    }

    /** The clock of the copy is ahead of the registrar's. */
    @Test
    void aCopyThatReadsOnlyOldDigestsIsReported() {
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        DigestCheck ahead = new DigestCheck("topic", "rebuild it", Map.of(3, 0L), now::get);
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        DigestCheck.meter("topic", () -> ahead, meters);
        Gauge unchecked = meters.get("puri.digest.unchecked.seconds")
                .tag("topic", "topic")
                .gauge();
        now.set(NOW.plus(DigestCheck.MAX_TIME_UNCHECKED));
        assertThat(ahead.mustLogOldDigest(3)).isFalse();
        now.updateAndGet(instant -> instant.plusSeconds(60));

        assertThat(ahead.isComparable(3, 7, now.get().minusSeconds(70).toEpochMilli()))
                .isFalse();

        assertThat(unchecked.value()).isEqualTo(660);
        // The call above has logged the old digest.
        assertThat(ahead.mustLogOldDigest(3)).isFalse();
        ahead.compare(3, 20, TEN, TEN);
        assertThat(unchecked.value()).isZero();
        now.updateAndGet(instant -> instant.plusSeconds(660));
        assertThat(ahead.mustLogOldDigest(3)).isTrue();
    }

    /** The registrar may have lost the digests of a partition. */
    @Test
    void thePartitionWithoutComparisonsIsReportedAlthoughOthersAreCompared() {
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        DigestCheck two = new DigestCheck("topic", "rebuild it", Map.of(0, 0L, 1, 0L), now::get);
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        DigestCheck.meter("topic", () -> two, meters);
        Gauge unchecked = meters.get("puri.digest.unchecked.seconds").gauge();
        now.set(NOW.plusSeconds(60));
        two.compare(0, 20, TEN, TEN);
        two.compare(1, 20, TEN, TEN);
        assertThat(unchecked.value()).isZero();

        now.set(NOW.plusSeconds(720));
        two.compare(0, 21, TEN, TEN);

        assertThat(unchecked.value()).isEqualTo(660);
        assertThat(two.timeUnchecked(0)).isZero();
        // Only the partition with old digests is logged, and only once.
        assertThat(two.mustLogOldDigest(0)).isFalse();
        assertThat(two.mustLogOldDigest(1)).isTrue();
        two.compare(0, 22, TEN, TEN);
        assertThat(two.mustLogOldDigest(1)).isFalse();
    }

    @Test
    void thePartitionThatWasNeverComparedIsReported() {
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        DigestCheck two = new DigestCheck("topic", "rebuild it", Map.of(0, 0L, 1, 0L), now::get);
        now.set(NOW.plusSeconds(660));

        two.compare(1, 20, TEN, TEN);

        assertThat(two.timeUnchecked()).isEqualTo(Duration.ofSeconds(660));
    }
}
