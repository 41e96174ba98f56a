package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

final class ChangeRingTest {
    private static final Uuid TOPIC = new Uuid(1, 2);

    private final ChangeRing ring =
            new ChangeRing(TOPIC, new long[] {10, 20}, Instant.ofEpochSecond(1_000), 3, LiveRows.VALUES, () -> {});

    @Test
    void hasWhatWasAddedUntilOthersTakeItsPlace() {
        add(0, 12);
        add(1, 25);
        assertThat(ring.covers(new long[] {10, 20})).isTrue();
        assertThat(ring.covers(new long[] {9, 20})).isFalse();

        add(1, 26);
        add(0, 14);

        assertThat(ring.oldest()).isEqualTo(1);
        assertThat(ring.at(0)).isNull();
        assertThat(ring.at(1)).isNotNull().extracting(Change::offset).isEqualTo(25L);
        assertThat(ring.at(4)).isNull();
        assertThat(ring.covers(new long[] {12, 20})).isFalse();
        assertThat(ring.covers(new long[] {13, 20})).isTrue();
    }

    @Test
    void otherPartitionsThanItHasAreNotCovered() {
        assertThat(ring.covers(new long[] {100})).isFalse();
        add(7, 3);
        assertThat(ring.head()).isZero();
    }

    @Test
    void knowsHowFarItIsWithoutChanges() {
        add(0, 12);
        ring.reached(1, 30);
        ring.reached(0, 11);
        assertThat(ring.next()).containsExactly(13, 30);

        ring.completeAt(Instant.ofEpochSecond(1_007));
        ring.completeAt(Instant.ofEpochSecond(1_003));
        assertThat(ring.completeAt()).isEqualTo(1_007);
    }

    @Test
    void refusalsRepetitionsAndMarkersAreNoChanges() {
        assertThat(ChangeRing.isChange(outcome("applied"))).isTrue();
        assertThat(ChangeRing.isChange(new RecordHeaders())).isTrue();
        assertThat(ChangeRing.isChange(outcome("unchanged"))).isFalse();
        assertThat(ChangeRing.isChange(outcome("refused:PURI_TAKEN"))).isFalse();

        ring.changed(0, 12, Puri.parse("puri:marker:3"), null);
        ring.changed(0, 14, Puri.parse("puri:marker:3").toBytes(), null, null);
        assertThat(ring.head()).isZero();
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
