package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A feeder compares the digests of the registrar with those of its index. */
@Timeout(60)
final class IndexDigestTest {
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryIndex index = new MemoryIndex();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private IndexFeeder feeder = feeder();

    private IndexFeeder feeder() {
        try {
            return new IndexFeeder(
                    index,
                    index.committedCheckpoint(),
                    source(),
                    topics.feederContext(
                            new OutcomeCache(meters),
                            new Waiters(1),
                            Duration.ofHours(1),
                            Duration.ofHours(1),
                            InstantSource.fixed(NOW),
                            meters));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private SourceOffsets source() {
        return topics.source(InstantSource.fixed(NOW));
    }

    @AfterEach
    void close() {
        feeder.disconnect();
    }

    private void readAll() throws Exception {
        SourceOffsets source = source();
        while (source.lag(feeder.appliedOffsets()) > 0) {
            feeder.step(source, Duration.ofDays(1), Duration.ZERO);
            assertThat(feeder.waitReason()).isNull();
        }
    }

    private DigestCheck.State state(EntryKind kind, int partition) {
        return feeder.digestCheck(kind).state(partition);
    }

    @Test
    void comparesTheIndexAtTheOffsetOfTheDigest() throws Exception {
        int partition = MemoryTopics.partition("music:tracks:1");
        topics.write("music:tracks:1", 1, "One");
        topics.publishDigest(EntryKind.IDENTITY, partition, NOW);
        topics.publishDigest(EntryKind.DOCUMENT, partition, NOW);
        topics.write("music:tracks:1", 2, "Two");
        topics.write("music:tracks:2", 3, "Three");

        readAll();

        for (EntryKind kind : EntryKind.values()) {
            assertThat(state(kind, partition)).isEqualTo(DigestCheck.State.EQUAL);
            assertThat(state(kind, 1 - partition)).isEqualTo(DigestCheck.State.UNCHECKED);
        }
        assertThat(index.digestScans()).isEqualTo(1);
        assertThat(feeder.appliedCount()).isEqualTo(6);
        assertThat(feeder.readDigests().toString())
                .contains("state=equal, comparedOffset=1, comparedAt=2026-11-24T10:00:00Z")
                .contains("nextOffset=" + topics.end(EntryKind.IDENTITY, partition) + ", rows=");
    }

    @Test
    void aMissingRecordDiffersUntilALaterDigestIsEqual() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        int partition = MemoryTopics.partition("music:tracks:1");
        PartitionDigest lacking = topics.digest(EntryKind.DOCUMENT, partition);
        topics.publishDigest(EntryKind.DOCUMENT, partition, lacking.plus(7), NOW);
        topics.publishDigest(EntryKind.IDENTITY, partition, NOW);
        readAll();

        assertThat(state(EntryKind.IDENTITY, partition)).isEqualTo(DigestCheck.State.EQUAL);
        assertThat(state(EntryKind.DOCUMENT, partition)).isEqualTo(DigestCheck.State.DIFFERS);
        assertThat(feeder.digestCheck(EntryKind.DOCUMENT).reason())
                .contains("partition " + partition
                        + " of puri.documents.v1 differs from the registrar at offset 1: 1 rows");

        topics.write("music:tracks:1", 1, "Two");
        topics.publishDigest(EntryKind.DOCUMENT, partition, NOW);
        readAll();
        assertThat(feeder.digestCheck(EntryKind.DOCUMENT).reason()).isNull();
    }

    @Test
    void onlyFreshDigestsAreCompared() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        int partition = MemoryTopics.partition("music:tracks:1");
        PartitionDigest wrong = new PartitionDigest(9, 9);
        topics.publishDigest(EntryKind.DOCUMENT, partition, wrong, NOW.minusSeconds(61));
        readAll();

        assertThat(state(EntryKind.DOCUMENT, partition)).isEqualTo(DigestCheck.State.UNCHECKED);
        assertThat(index.digestScans()).isZero();

        topics.publishDigest(EntryKind.DOCUMENT, partition, wrong, NOW.minusSeconds(60));
        readAll();
        assertThat(state(EntryKind.DOCUMENT, partition)).isEqualTo(DigestCheck.State.DIFFERS);
    }

    /** After a crash the engine may have changes after the checkpoint. */
    @Test
    void anOpenedIndexIsComparedAfterTheRecordsThatItMayHave() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        int partition = MemoryTopics.partition("music:tracks:1");
        readAll();
        feeder.commit();
        IndexCheckpoint checkpoint = index.committedCheckpoint();
        topics.publishDigest(EntryKind.IDENTITY, partition, NOW);
        topics.write("music:tracks:1", 2, "Two");
        readAll();
        feeder.refresh();
        feeder.disconnect();

        assertThat(index.committedCheckpoint()).isEqualTo(checkpoint);
        feeder = feeder();
        readAll();
        assertThat(state(EntryKind.IDENTITY, partition)).isEqualTo(DigestCheck.State.UNCHECKED);
        topics.publishDigest(EntryKind.IDENTITY, partition, NOW);
        readAll();
        assertThat(state(EntryKind.IDENTITY, partition)).isEqualTo(DigestCheck.State.EQUAL);
    }

    /** Otherwise the digests of each minute would cause a commit, also while nothing changes. */
    @Test
    void digestsWithoutChangesNeedNoCommit() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        readAll();
        feeder.commit();
        IndexCheckpoint checkpoint = index.committedCheckpoint();
        int partition = MemoryTopics.partition("music:tracks:1");
        topics.publishDigest(EntryKind.IDENTITY, partition, NOW);
        readAll();
        feeder.close();
        assertThat(state(EntryKind.IDENTITY, partition)).isEqualTo(DigestCheck.State.EQUAL);
        assertThat(index.committedCheckpoint()).isEqualTo(checkpoint);

        feeder = feeder();
        topics.write("music:tracks:1", 1, "Two");
        readAll();
        feeder.close();
        assertThat(index.committedCheckpoint()).isNotEqualTo(checkpoint);
    }

    @Test
    void comparisonsTakeATwentiethOfTheTime() throws Exception {
        AtomicLong nanos = new AtomicLong();
        DigestComparison comparison =
                new DigestComparison(IndexCheckpoint.NONE, source(), InstantSource.fixed(NOW), nanos::get);
        ChangeDecoder.DecodedRecord digest = digestAt(NOW);
        // All digests of a minute, one shortly after the other.
        for (int i = 0; i < 10; i++) {
            assertThat(comparison.shouldCompare(digest)).isTrue();
            comparison.compare(List.of(digest), () -> scan(nanos, Duration.ofMillis(100)));
        }
        comparison.compare(List.of(digest), () -> scan(nanos, Duration.ofSeconds(12)));
        assertThat(comparison.shouldCompare(digest)).isFalse();
        nanos.addAndGet(Duration.ofMinutes(3).toNanos());
        assertThat(comparison.shouldCompare(digest)).isFalse();
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        assertThat(comparison.shouldCompare(digest)).isTrue();
        assertThat(comparison.check(EntryKind.IDENTITY).state(0)).isEqualTo(DigestCheck.State.EQUAL);
    }

    @Test
    void aFailedComparisonIsPaidToo() {
        AtomicLong nanos = new AtomicLong();
        DigestComparison comparison =
                new DigestComparison(IndexCheckpoint.NONE, source(), InstantSource.fixed(NOW), nanos::get);

        assertThatThrownBy(() -> comparison.compare(List.of(digestAt(NOW)), () -> {
                    nanos.addAndGet(Duration.ofHours(1).toNanos());
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");

        assertThat(comparison.shouldCompare(digestAt(NOW))).isFalse();
    }

    /** Otherwise digests of partitions that change often could use up the time of a partition at rest. */
    @Test
    void thePartitionThatWasSkippedForFiveMinutesIsComparedWithoutCredit() throws Exception {
        AtomicLong nanos = new AtomicLong();
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        DigestComparison comparison = new DigestComparison(IndexCheckpoint.NONE, source(), now::get, nanos::get);
        comparison.compare(List.of(digestAt(NOW)), () -> scan(nanos, Duration.ofHours(1)));
        assertThat(comparison.shouldCompare(digestAt(NOW))).isFalse();

        now.set(NOW.plus(DigestComparison.MAX_TIME_SKIPPED).plusSeconds(1));

        assertThat(comparison.shouldCompare(digestAt(now.get()))).isTrue();
        comparison.compare(List.of(digestAt(now.get())), () -> scan(nanos, Duration.ofMillis(100)));
        assertThat(comparison.shouldCompare(digestAt(now.get()))).isFalse();
        // Partition 1 was never compared.
        DigestCheck.meter(Topics.IDENTITIES, () -> comparison.check(EntryKind.IDENTITY), meters);
        assertThat(meters.get("puri.digest.unchecked.seconds").gauge().value()).isEqualTo(301);
    }

    private static ChangeDecoder.DecodedRecord digestAt(Instant writtenAt) {
        return new ChangeDecoder.DecodedRecord(
                new IndexChange(EntryKind.IDENTITY, 0, 0, Puri.parse("puri:marker:0"), null),
                null,
                writtenAt,
                PartitionDigest.EMPTY);
    }

    private static EntryDigests scan(AtomicLong nanos, Duration time) {
        nanos.addAndGet(time.toNanos());
        return new EntryDigests.Sum().toDigests();
    }

    @Test
    void aMalformedDigestIsSkipped() throws Exception {
        topics.publishDigestHeader(EntryKind.IDENTITY, 0, "3:xyz", NOW);
        readAll();

        assertThat(state(EntryKind.IDENTITY, 0)).isEqualTo(DigestCheck.State.UNCHECKED);
        assertThat(meters.get("puri.search.undecodable")
                        .tag("kind", "identity")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void anIndexWithAllRecordsEqualsEveryDigest() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 400; i++) {
            String puri = "music:tracks:" + random.nextInt(20);
            EntryKind kind = EntryKind.values()[random.nextInt(2)];
            switch (random.nextInt(6)) {
                case 0 -> topics.erase(puri);
                case 1 -> topics.publishDigest(kind, random.nextInt(MemoryTopics.PARTITIONS), NOW);
                case 2 -> readAll();
                default -> topics.write(puri, random.nextInt(1000), "title " + i);
            }
        }
        for (EntryKind kind : EntryKind.values()) {
            for (int partition = 0; partition < MemoryTopics.PARTITIONS; partition++) {
                topics.publishDigest(kind, partition, NOW);
            }
        }
        readAll();
        for (EntryKind kind : EntryKind.values()) {
            for (int partition = 0; partition < MemoryTopics.PARTITIONS; partition++) {
                assertThat(state(kind, partition)).as("seed %d", seed).isEqualTo(DigestCheck.State.EQUAL);
            }
        }
    }
}
