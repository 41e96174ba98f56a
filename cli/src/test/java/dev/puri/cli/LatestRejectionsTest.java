package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class LatestRejectionsTest {
    private static final Instant TIME = Instant.parse("2026-03-01T10:00:00Z");
    private static final String ONE = "music:tracks:1";
    private static final String TWO = "music:tracks:2";

    private final LatestRejections all = new LatestRejections(RejectionFilter.NONE::matches, 10);
    private long offset;

    @Test
    void returnsTheRequestedNumberOfLatestRejectionsOldestFirst() {
        take(ONE, null, 3);
        take(TWO, null, 1);
        take(null, null, 2);
        assertThat(seconds(all.get())).containsExactly(1L, 2L, 3L);
        for (int i = 4; i < 14; i++) {
            take(ONE, null, i);
        }
        assertThat(seconds(all.get())).hasSize(10).startsWith(4L).endsWith(13L);
    }

    @Test
    void anErasureOfWhatDisplacedEarlierRejectionsNeedsAnotherPass() {
        for (int pass = 1; pass <= 2; pass++) {
            all.restart();
            for (int i = 0; i < 10; i++) {
                take(ONE, null, i);
            }
            take(TWO, null, 20);
            assertThat(all.needsAnotherPass()).isFalse();
            erase(TWO, 21, Outcome.APPLIED);
            assertThat(all.needsAnotherPass()).isEqualTo(pass == 1);
        }
        assertThat(seconds(all.get())).hasSize(10).startsWith(0L).endsWith(9L);
    }

    @Test
    void omitsRejectionsBeforeAnErasure() {
        take(ONE, null, 1);
        take(TWO, ONE, 2);
        take(ONE, null, 4);
        erase(ONE, 3, Outcome.APPLIED);
        take(TWO, null, 1);
        erase(TWO, 5, Outcome.UNCHANGED);

        assertThat(seconds(all.get()))
                .as("without earlier rejections that name an erased pURI or survivor")
                .containsExactly(1L, 4L);
    }

    @Test
    void keepsRejectionsOfOnePuriWithoutTheirEvents() {
        LatestRejections ofOne =
                new LatestRejections(new RejectionFilter(Set.of(), Set.of(), Puri.parse(ONE), null, null)::matches, 10);
        ofOne.add(record(ONE.getBytes(StandardCharsets.UTF_8)), rejection(ONE, null, 1));
        ofOne.add(record(TWO.getBytes(StandardCharsets.UTF_8)), rejection(TWO, null, 2));

        assertThat(seconds(ofOne.get())).containsExactly(1L);
        assertThat(ofOne.get().getFirst().rejection().getOriginal().remaining()).isZero();
    }

    @Test
    void ignoresARecordThatIsNeitherRejectionNorErasure() {
        all.add(record("no pURI".getBytes(StandardCharsets.UTF_8)), null);
        all.add(record(null), null);

        assertThat(all.get()).isEmpty();
    }

    private void take(@Nullable String puri, @Nullable String survivor, int seconds) {
        all.add(new ConsumerRecord<>(Topics.REJECTIONS, 0, offset++, null, null), rejection(puri, survivor, seconds));
    }

    private void erase(String puri, int seconds, Outcome outcome) {
        ConsumerRecord<byte[], byte[]> record = record(puri.getBytes(StandardCharsets.UTF_8));
        header(record, Position.HEADER, "1-7");
        header(record, Outcome.HEADER, outcome.toString());
        header(
                record,
                Erasure.TIME_HEADER,
                Long.toString(TIME.plusSeconds(seconds).toEpochMilli()));
        all.add(record, null);
    }

    private static void header(ConsumerRecord<?, ?> record, String name, String value) {
        record.headers().add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    private static ConsumerRecord<byte[], byte[]> record(byte @Nullable [] key) {
        return new ConsumerRecord<>(Topics.REJECTIONS, 0, 0, key, null);
    }

    private static Rejection rejection(@Nullable String puri, @Nullable String survivor, long seconds) {
        return Rejections.taken(
                puri, survivor, new EventPosition(Topics.EVENTS, 1, seconds), TIME.plusSeconds(seconds));
    }

    private static List<Long> seconds(List<StoredRejection> rejections) {
        return rejections.stream()
                .map(each -> each.rejection().getRejectedAt().getEpochSecond() - TIME.getEpochSecond())
                .toList();
    }
}
