package dev.puri.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

class RowHashTest {
    private static final Puri PURI = Puri.parse("music:tracks:1");
    private static final UUID UUID_1 = UUID.fromString("0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f");
    private static final Instant CREATED = Instant.parse("2026-11-20T09:30:00Z");
    private static final Position POSITION = new Position(Topics.EVENTS, 3, 1042);

    private static Row row(
            UUID uuid, String owner, String shard, String handle, long epoch, long created, long changed) {
        return new Row(
                uuid,
                new Owner(owner),
                new Shard(shard),
                handle == null ? null : new Handle(handle),
                Row.Status.ACTIVE,
                epoch,
                CREATED.plusMillis(created),
                CREATED.plusMillis(changed),
                null,
                POSITION);
    }

    private static Row row() {
        return row(UUID_1, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 0, 0);
    }

    private static Row withStatus(Row.Status status, Puri mergedInto) {
        Row row = row();
        return new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                row.handle(),
                status,
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                mergedInto,
                row.position());
    }

    /** Releases compare digests with one another, so these numbers never change. */
    @Test
    void hashesOfRowsAndDocumentsStayTheSameInEveryRelease() {
        assertThat(Long.toHexString(RowHash.of(PURI, row()))).isEqualTo("abbc686bc9f00abd");
        assertThat(Long.toHexString(RowHash.of(PURI, document("Blue")))).isEqualTo("2aaf877236e55686");
    }

    @Test
    void everyFieldChangesTheHash() {
        List<Long> hashes = new ArrayList<>();
        hashes.add(RowHash.of(PURI, row()));
        hashes.add(RowHash.of(Puri.parse("music:tracks:2"), row()));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-2", "trk_4k7vx9tz2nqr8w3", 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "users", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "br-1", "catalog", "trk_4k7vx9tz2nqr8w3", 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", "trk_4k7vx9tz2nqr8w4", 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", "trl_4k7vx9tz2nqr8w3", 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", null, 1, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 2, 0, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 1, 0)));
        hashes.add(RowHash.of(PURI, row(UUID_1, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 0, 1)));
        hashes.add(RowHash.of(PURI, withStatus(Row.Status.DELETED, null)));
        hashes.add(RowHash.of(PURI, withStatus(Row.Status.MERGED, Puri.parse("music:tracks:2"))));
        hashes.add(RowHash.of(PURI, withStatus(Row.Status.MERGED, Puri.parse("music:tracks:3"))));
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long flip = 1L << bit;
            UUID high = new UUID(UUID_1.getMostSignificantBits() ^ flip, UUID_1.getLeastSignificantBits());
            UUID low = new UUID(UUID_1.getMostSignificantBits(), UUID_1.getLeastSignificantBits() ^ flip);
            hashes.add(RowHash.of(PURI, row(high, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 0, 0)));
            hashes.add(RowHash.of(PURI, row(low, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", 1, 0, 0)));
        }
        assertThat(new HashSet<>(hashes)).hasSameSizeAs(hashes);
    }

    @Test
    void thePositionIsNotPartOfTheHash() {
        Row row = row();
        Row elsewhere = new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                row.handle(),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                null,
                new Position(Topics.EVENTS, 3, 2000));
        assertThat(RowHash.of(PURI, elsewhere)).isEqualTo(RowHash.of(PURI, row));
    }

    @Test
    void theHashOfADocumentDependsOnItsAttributesAndNotOnTheirOrder() {
        assertThat(RowHash.of(PURI, document("Blue"))).isNotEqualTo(RowHash.of(PURI, document("Green")));
        assertThat(RowHash.of(PURI, document("Blue"))).isEqualTo(RowHash.of(PURI, document("Blue")));
    }

    /** The last bytes of a text are read one by one if fewer than eight bytes are before its end, else at once. */
    @Test
    void aShortTextHasTheSameHashBehindOtherBytes() {
        byte[] buffer = new byte[2 * Long.BYTES];
        new Random(1).nextBytes(buffer);
        for (int length = 0; length < Long.BYTES; length++) {
            byte[] text = Arrays.copyOfRange(buffer, Long.BYTES, Long.BYTES + length);
            assertThat(RowHash.ofText(buffer, Long.BYTES, Long.BYTES + length))
                    .as("%d bytes", length)
                    .isEqualTo(RowHash.ofText(text));
        }
    }

    /** Texts of every length, because the hash reads 16, 8 or fewer bytes at once. */
    @Test
    void everyBitAndTheLengthOfATextChangeItsHash() {
        byte[] text = new byte[5 * Long.BYTES];
        new Random(2).nextBytes(text);
        Set<Long> hashes = new HashSet<>();
        int texts = 0;
        for (int length = 0; length <= text.length; length++) {
            hashes.add(RowHash.ofText(text, 0, length));
            texts++;
            for (int bit = 0; bit < Byte.SIZE * length; bit++) {
                byte[] changed = text.clone();
                changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                hashes.add(RowHash.ofText(changed, 0, length));
                texts++;
            }
        }
        assertThat(hashes).hasSize(texts);
    }

    /** Similar names are what a table consists of: equal hashes of two of them would hide a fault. */
    @Test
    void consecutiveNumbersHaveDifferentHashes() {
        // Sorted, because a set of a million objects takes much longer.
        long[] hashes = new long[1_000_000];
        Arrays.setAll(hashes, i -> RowHash.ofText("music:tracks:" + i));
        Arrays.sort(hashes);
        for (int i = 1; i < hashes.length; i++) {
            if (hashes[i] == hashes[i - 1]) {
                fail("two texts have the hash %x", hashes[i]);
            }
        }
    }

    @Test
    void aTextInTheMiddleOfABufferHasTheHashOfTheText() {
        byte[] buffer = "__music:tracks:1__".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        assertThat(RowHash.ofText(buffer, 2, buffer.length - 2)).isEqualTo(RowHash.ofText(PURI.toString()));
    }

    @Test
    void aDigestForgetsTheRowThatIsReplaced() {
        PartitionDigest updated = PartitionDigest.EMPTY.plus(1).plus(2).minus(1).plus(5);
        assertThat(updated).isEqualTo(PartitionDigest.EMPTY.plus(5).plus(2));
        assertThat(updated.minus(5).minus(2)).isEqualTo(PartitionDigest.EMPTY);
    }

    @Test
    void aDigestIsTheTextOfAHeader() {
        PartitionDigest digest = new PartitionDigest(12, -2);
        assertThat(digest).hasToString("12:fffffffffffffffe");
        RecordHeaders headers = new RecordHeaders(new org.apache.kafka.common.header.Header[] {digest.toHeader()});
        assertThat(PartitionDigest.of(headers)).isEqualTo(digest);
        assertThat(PartitionDigest.of(new RecordHeaders())).isNull();
    }

    @Test
    void anotherTextIsNotADigest() {
        for (String text :
                List.of("", "12", ":fffffffffffffffe", "12:ff", "x:fffffffffffffffe", "12:gffffffffffffffe")) {
            assertThatThrownBy(() -> PartitionDigest.parse(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageEndingWith("not: " + text);
        }
    }

    private static Document document(String title) {
        return new Document(
                new Owner("catalog"),
                new Shard("br-1"),
                new Handle("trk_4k7vx9tz2nqr8w3"),
                Row.Status.ACTIVE,
                null,
                Map.of("title", title, "artist", "Joni Mitchell"),
                POSITION);
    }
}
