package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replays changes with a mock consumer. Each poll advances the clock by its timeout. */
@Timeout(60)
final class ChangeReplayTest {
    private static final Puri TRACK = LiveRows.track(1);
    private static final Puri OTHER = LiveRows.track(2);

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final FakeConsumer consumer = new FakeConsumer();
    private final List<String> received = new ArrayList<>();
    private long nanos;
    private Duration clockStep = Duration.ZERO;
    private int maxReceived = Integer.MAX_VALUE;
    private final ChangeReplay replay =
            new ChangeReplay(() -> consumer, new AvroValueDecoder<>(IdentityRow.class, registry), () -> {
                nanos += clockStep.toNanos();
                return nanos;
            });

    ChangeReplayTest() {
        // Gets the same id as the schema of LiveRows.
        registry.register("rows", RecordWriter.of(IdentityRow.class).schema());
    }

    @Test
    void reportsEachChangeWithTheOffsetAfterIt() throws Exception {
        consumer.onPoll(() -> {
            consumer.write(0, 3, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5);
            consumer.write(0, 4, OTHER, null, Outcome.APPLIED, 6);
        });

        read(new long[] {3}, new long[] {5});

        assertThat(received).containsExactly("0@4 changed music:tracks:1 of 3-5", "0@5 erased music:tracks:2");
        assertThat(consumer.closed()).isTrue();
    }

    /** The position in the row is that of an earlier event, because a description does not change it. */
    @Test
    void aChangeHasThePositionOfItsEvent() throws Exception {
        consumer.onPoll(() -> consumer.write(0, 0, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 9));

        read(new long[] {0}, new long[] {1});

        assertThat(received).containsExactly("0@1 changed music:tracks:1 of 3-9");
    }

    @Test
    void theAnswerToARefusedEventIsNoChangeAfterTheChangeItself() throws Exception {
        Outcome refused = Outcome.refused(Reason.PURI_TAKEN);
        consumer.onPoll(() -> {
            consumer.write(0, 0, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5);
            consumer.write(0, 1, TRACK, LiveRows.row("br-1", 5), refused, 8);
        });

        read(new long[] {0}, new long[] {2});

        assertThat(received).containsExactly("0@1 changed music:tracks:1 of 3-5", "0@2 nothing");
    }

    /** Compaction may have removed the record of the change. */
    @Test
    void theAnswerToARefusedEventIsReportedIfTheChangeIsMissing() throws Exception {
        Outcome refused = Outcome.refused(Reason.PURI_TAKEN);
        consumer.onPoll(() -> consumer.write(0, 1, TRACK, LiveRows.row("br-1", 5), refused, 8));

        read(new long[] {0}, new long[] {2});

        assertThat(received).containsExactly("0@2 changed music:tracks:1 of 3-5");
    }

    @Test
    void unreadableRecordsAndMarkersChangeNothing() throws Exception {
        consumer.onPoll(() -> {
            consumer.write(0, 0, TRACK.toBytes(), new byte[] {9});
            consumer.write(0, 1, new byte[] {':'}, null);
            consumer.write(0, 2, (Topics.MARKER + "1").getBytes(StandardCharsets.UTF_8), null);
        });

        read(new long[] {0}, new long[] {3});

        assertThat(received).containsExactly("0@1 nothing", "0@2 nothing", "0@3 nothing");
    }

    @Test
    void offsetsOfTransactionMarkersCountAsRead() throws Exception {
        consumer.onPoll(() -> consumer.write(0, 0, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5));
        consumer.onPoll(() -> consumer.seek(partition(0), 2));

        read(new long[] {0}, new long[] {2});

        assertThat(received).hasSize(1);
    }

    @Test
    void readsOnlyPartitionsWithOffsetsToRead() throws Exception {
        consumer.onPoll(() -> consumer.write(1, 7, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5));

        read(new long[] {4, 7, 0}, new long[] {4, 8, 0});

        assertThat(received).containsExactly("1@8 changed music:tracks:1 of 3-5");
    }

    @Test
    void endsWhenTheReceiverWantsNoMore() throws Exception {
        maxReceived = 1;
        consumer.onPoll(() -> {
            consumer.write(0, 0, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5);
            consumer.write(0, 1, OTHER, LiveRows.row("br-1", 6), Outcome.APPLIED, 6);
        });

        read(new long[] {0}, new long[] {9});

        assertThat(received).hasSize(1);
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void deletedChangesAreGone() {
        consumer.logStart(0, 4);

        assertThatThrownBy(() -> read(new long[] {3}, new long[] {9}))
                .isInstanceOf(ChangeLog.GoneException.class)
                .hasMessageContaining("begins after offset 3");

        assertThat(received).isEmpty();
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void brokersThatReturnNoRecordsEndTheReplay() {
        assertThatThrownBy(() -> read(new long[] {0}, new long[] {9})).isInstanceOf(TimeoutException.class);

        assertThat(Duration.ofNanos(nanos)).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(11));
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void aSchemaRegistryThatIsUnavailableEndsTheReplay() {
        registry.setAway(true);
        clockStep = Duration.ofSeconds(11);
        consumer.onPoll(() -> consumer.write(0, 0, TRACK, LiveRows.row("br-1", 5), Outcome.APPLIED, 5));

        assertThatThrownBy(() -> read(new long[] {0}, new long[] {1}))
                .isInstanceOf(SchemaRegistryUnavailableException.class);

        assertThat(received).isEmpty();
    }

    private void read(long[] from, long[] to) throws ChangeLog.GoneException {
        replay.read(from, to, (partition, nextOffset, change) -> {
            received.add(partition + "@" + nextOffset + " " + describe(change));
            return received.size() < maxReceived;
        });
    }

    private static String describe(@Nullable Change change) {
        if (change == null) {
            return "nothing";
        }
        change.id(1, 1, new long[] {1});
        String event = change.event().toString();
        String puri = field(event, "puri");
        return event.contains("event: erased\n")
                ? "erased " + puri
                : "changed " + puri + " of " + field(event, "position");
    }

    private static String field(String json, String name) {
        String begin = '"' + name + "\":\"";
        int at = json.indexOf(begin) + begin.length();
        return json.substring(at, json.indexOf('"', at));
    }

    private static TopicPartition partition(int partition) {
        return new TopicPartition(Topics.IDENTITIES, partition);
    }

    private final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        FakeConsumer() {
            super("none");
            Map<TopicPartition, Long> logStarts = new HashMap<>();
            for (int i = 0; i < 3; i++) {
                logStarts.put(partition(i), 0L);
            }
            updateBeginningOffsets(logStarts);
        }

        void logStart(int partition, long offset) {
            updateBeginningOffsets(Map.of(partition(partition), offset));
        }

        void write(int partition, long offset, Puri puri, @Nullable Row row, Outcome outcome, long eventOffset) {
            Headers headers = new RecordHeaders()
                    .add(Position.HEADER, utf8(new Position(Topics.EVENTS, 3, eventOffset).toString()))
                    .add(Outcome.HEADER, utf8(outcome.toString()));
            write(partition, offset, puri.toBytes(), row == null ? null : LiveRows.bytes(row), headers);
        }

        void write(int partition, long offset, byte[] key, byte @Nullable [] value) {
            write(partition, offset, key, value, new RecordHeaders());
        }

        private void write(int partition, long offset, byte[] key, byte @Nullable [] value, Headers headers) {
            addRecord(new ConsumerRecord<>(
                    Topics.IDENTITIES,
                    partition,
                    offset,
                    0,
                    TimestampType.CREATE_TIME,
                    key.length,
                    value == null ? -1 : value.length,
                    key,
                    value,
                    headers,
                    Optional.empty()));
        }

        void onPoll(Runnable action) {
            schedulePollTask(action);
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            nanos += timeout.toNanos();
            return super.poll(timeout);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
