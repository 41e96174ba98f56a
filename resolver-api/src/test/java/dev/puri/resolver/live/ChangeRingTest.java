package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.feed.ChangeRecords;
import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

final class ChangeRingTest {
    private static final Uuid TOPIC = new Uuid(1, 2);

    private final ChangeRing ring =
            new ChangeRing(TOPIC, new long[] {10, 20}, Instant.ofEpochSecond(1_000), 3, LiveRows.VALUES, () -> {});

    @Test
    void keepsChangesUntilLaterOnesReplaceThem() {
        add(0, 12);
        add(1, 25);
        assertThat(ring.covers(new long[] {10, 20})).isTrue();
        assertThat(ring.covers(new long[] {9, 20})).isFalse();

        add(1, 26);
        add(0, 14);

        assertThat(ring.oldestNumber()).isEqualTo(1);
        assertThat(ring.get(0)).isNull();
        assertThat(ring.get(1)).isNotNull().extracting(Change::offset).isEqualTo(25L);
        assertThat(ring.get(4)).isNull();
        assertThat(ring.covers(new long[] {12, 20})).isFalse();
        assertThat(ring.covers(new long[] {13, 20})).isTrue();
    }

    @Test
    void anErasureRemovesEarlierChangesOfItsName() {
        ring.changed(0, 12, LiveRows.track(1), LiveRows.row("br-1", 12));
        ring.changed(0, 14, LiveRows.track(2).toBytes(), LiveRows.bytes(LiveRows.row("br-1", 14)), null);
        ring.changed(0, 16, LiveRows.track(1).toBytes(), null, null);

        assertThat(withheld(0)).isTrue();
        assertThat(withheld(1)).isFalse();
        assertThat(withheld(2)).isFalse();
        assertThat(ring.covers(new long[] {10, 20})).isTrue();
    }

    /** Names with the same hash share a chain. */
    @Test
    void erasuresWithholdOnlyChangesOfTheirOwnName() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int capacity = 20;
        ChangeRing wide = new ChangeRing(
                TOPIC, new long[] {0}, Instant.ofEpochSecond(1_000), capacity, LiveRows.VALUES, () -> {});
        List<Integer> names = new ArrayList<>();
        Set<Integer> erasedLater = new HashSet<>();
        for (int number = 0; number < 5_000; number++) {
            int name = random.nextInt(40);
            boolean erased = random.nextInt(3) == 0;
            names.add(erased ? -1 - name : name);
            wide.changed(0, number, LiveRows.track(name), erased ? null : LiveRows.row("br-1", number));

            erasedLater.clear();
            for (int back = number; back >= Math.max(0, number - capacity + 1); back--) {
                int nameOrErasure = names.get(back);
                int changedName = nameOrErasure < 0 ? -1 - nameOrErasure : nameOrErasure;
                Change change = wide.get(back);
                assertThat(change).isNotNull();
                assertThat(change.isWithheld())
                        .as("seed %d, %d of %d", seed, back, number)
                        .isEqualTo(erasedLater.contains(changedName));
                if (nameOrErasure < 0) {
                    erasedLater.add(changedName);
                }
            }
        }
    }

    /** If these names shared a chain, each erasure would visit all of them, on the thread that writes the table. */
    @Test
    void namesWithTheSameHashCodeShareNoChain() {
        int blocks = 10;
        int names = 1 << blocks;
        ChangeRing wide =
                new ChangeRing(TOPIC, new long[] {0}, Instant.ofEpochSecond(1_000), names, LiveRows.VALUES, () -> {});
        List<byte[]> keys = new ArrayList<>();
        for (int name = 0; name < names; name++) {
            StringBuilder text = new StringBuilder("music:tracks:");
            for (int block = 0; block < blocks; block++) {
                // "Aa" and "BB" have the same hash code, and so have all texts that consist of them.
                text.append((name >> block & 1) == 0 ? "Aa" : "BB");
            }
            keys.add(text.toString().getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(keys.stream().mapToInt(Arrays::hashCode).distinct()).hasSize(1);

        for (int name = 0; name < names; name++) {
            wide.changed(0, name, keys.get(name), new byte[] {0}, null);
        }

        assertThat(keys).allSatisfy(key -> assertThat(wide.chainLength(key)).isLessThan(names / 10));
    }

    @Test
    void forgetsChangesThatAreTooOld() {
        Instant start = Instant.ofEpochSecond(1_000);
        Duration age = Duration.ofHours(1);
        add(0, 12);
        ring.forgetOlderThan(age, start);
        add(1, 25);
        ring.forgetOlderThan(age, start.plusSeconds(60));
        assertThat(ring.oldestNumber()).isZero();

        ring.forgetOlderThan(age, start.plus(age));

        assertThat(ring.oldestNumber()).isEqualTo(1);
        assertThat(ring.get(0)).isNull();
        assertThat(ring.get(1)).isNotNull();
        assertThat(ring.covers(new long[] {10, 20})).isFalse();
        assertThat(ring.covers(new long[] {13, 20})).isTrue();

        ring.forgetOlderThan(age, start.plus(age).plusSeconds(60));

        assertThat(ring.oldestNumber()).isEqualTo(ring.nextNumber());
        assertThat(ring.covers(new long[] {13, 20})).isFalse();
        assertThat(ring.covers(ring.nextOffsets())).isTrue();
    }

    private boolean withheld(long number) {
        return Objects.requireNonNull(ring.get(number)).isWithheld();
    }

    @Test
    void unknownPartitionsAreNotCovered() {
        assertThat(ring.covers(new long[] {100})).isFalse();
        add(7, 3);
        assertThat(ring.nextNumber()).isZero();
    }

    @Test
    void offsetsAdvanceWithoutChanges() {
        add(0, 12);
        ring.reached(1, 30);
        ring.reached(0, 11);
        assertThat(ring.nextOffsets()).containsExactly(13, 30);

        ring.completeAt(Instant.ofEpochSecond(1_007));
        ring.completeAt(Instant.ofEpochSecond(1_003));
        assertThat(ring.completeAtSeconds()).isEqualTo(1_007);
    }

    @Test
    void refusalsRepetitionsAndMarkersAreNoChanges() {
        assertThat(ChangeRecords.isChange(outcome("applied"))).isTrue();
        assertThat(ChangeRecords.isChange(new RecordHeaders())).isTrue();
        assertThat(ChangeRecords.isChange(outcome("unchanged"))).isFalse();
        assertThat(ChangeRecords.isChange(outcome("refused:PURI_TAKEN"))).isFalse();

        ring.changed(0, 12, Puri.parse("puri:marker:3"), null);
        ring.changed(0, 14, Puri.parse("puri:marker:3").toBytes(), null, null);
        assertThat(ring.nextNumber()).isZero();
    }

    private void add(int partition, long offset) {
        ring.changed(partition, offset, LiveRows.track(offset), LiveRows.row("br-1", offset));
    }

    private static RecordHeaders outcome(String text) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("outcome", text.getBytes(StandardCharsets.UTF_8));
        return headers;
    }
}
