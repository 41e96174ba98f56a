package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OutcomeReaderTest {
    private static final Duration WAIT = Duration.ofSeconds(30);
    private static final long END = 5;
    private static final Position EVENT = Position.parse("0-7");

    private final InMemorySchemaRegistry schemas = new InMemorySchemaRegistry();
    private final FakeConsumer consumer = new FakeConsumer();
    private final List<String> reported = new CopyOnWriteArrayList<>();

    @Test
    void reportsOutcomesThatAreWrittenAfterTheStart() throws Exception {
        create(Topics.IDENTITIES);
        create(Topics.REJECTIONS);
        try (OutcomeReader outcomes = start()) {
            outcomes.expect(EVENT, 1);
            // A retry of the event, before the start.
            consumer.write(Topics.IDENTITIES, END - 1, outcome(Outcome.UNCHANGED), null);
            consumer.write(Topics.IDENTITIES, END, Map.of(), null);
            consumer.write(Topics.IDENTITIES, END + 3, outcome(Outcome.APPLIED), null);
            assertThat(outcomes.await(WAIT)).isZero();
            assertThat(reported).containsExactly("1 applied ");
        }
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void reportsARefusalWithItsDetail() throws Exception {
        create(Topics.IDENTITIES);
        create(Topics.REJECTIONS);
        try (OutcomeReader outcomes = start()) {
            outcomes.expect(EVENT, 1);
            consumer.write(Topics.IDENTITIES, END, outcome(Outcome.refused(Reason.PURI_TAKEN)), null);
            consumer.write(Topics.REJECTIONS, END, Map.of(), null);
            consumer.write(Topics.REJECTIONS, END + 1, Map.of(), new byte[] {1});
            consumer.write(Topics.REJECTIONS, END + 2, Map.of(), rejection());
            assertThat(outcomes.await(WAIT)).isZero();
            assertThat(reported).containsExactly("1 refused:PURI_TAKEN held by catalog");
        }
    }

    /** A newer topology may have it. */
    @Test
    void reportsARefusalForAReasonThatThisReleaseDoesNotKnow() throws Exception {
        create(Topics.IDENTITIES);
        create(Topics.REJECTIONS);
        try (OutcomeReader outcomes = start()) {
            outcomes.expect(EVENT, 1);
            Map<String, String> headers = Map.of(Position.HEADER, EVENT.toString(), Outcome.HEADER, "refused:TOO_MANY");
            consumer.write(Topics.IDENTITIES, END, headers, null);
            consumer.write(Topics.REJECTIONS, END, Map.of(), rejection());
            assertThat(outcomes.await(WAIT)).isZero();
            assertThat(reported).containsExactly("1 refused:TOO_MANY held by catalog");
        }
    }

    @Test
    void aRecordOfAnotherProducerIsIgnored() throws Exception {
        create(Topics.IDENTITIES);
        create(Topics.REJECTIONS);
        try (OutcomeReader outcomes = start()) {
            outcomes.expect(EVENT, 1);
            consumer.write(Topics.IDENTITIES, END, Map.of(Position.HEADER, "nowhere", Outcome.HEADER, "applied"), null);
            consumer.write(Topics.IDENTITIES, END + 1, outcome(Outcome.APPLIED), null);
            assertThat(outcomes.await(WAIT)).isZero();
        }
        assertThat(reported).containsExactly("1 applied ");
    }

    @Test
    void countsEventsWithoutAnOutcome() throws Exception {
        create(Topics.IDENTITIES);
        create(Topics.REJECTIONS);
        try (OutcomeReader outcomes = start()) {
            outcomes.expect(EVENT, 1);
            assertThat(outcomes.await(Duration.ZERO)).isEqualTo(1);
        }
        assertThat(reported).isEmpty();
    }

    @Test
    void aFailureOfTheReadingThreadEndsTheWait() {
        for (Throwable failure : List.of(new TimeoutException("no broker"), new OutOfMemoryError("no memory"))) {
            FakeConsumer failing = new FakeConsumer();
            failing.create(Topics.IDENTITIES);
            failing.create(Topics.REJECTIONS);
            try (OutcomeReader outcomes = OutcomeReader.start(failing, schemas, (line, outcome, detail) -> {})) {
                outcomes.expect(EVENT, 1);
                failing.schedulePollTask(() -> {
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) failure;
                });
                assertThatThrownBy(() -> outcomes.await(WAIT))
                        .isInstanceOf(KafkaException.class)
                        .hasMessage("the outcomes can no longer be read: " + failure.getMessage());
            }
        }
    }

    @Test
    void aMissingTopicIsNamed() {
        create(Topics.IDENTITIES);
        assertThatThrownBy(this::start)
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("the topic " + Topics.REJECTIONS + " does not exist");
        assertThat(consumer.closed()).isTrue();
    }

    private void create(String topic) {
        consumer.create(topic);
    }

    private OutcomeReader start() {
        return OutcomeReader.start(
                consumer, schemas, (line, outcome, detail) -> reported.add(line + " " + outcome + " " + detail));
    }

    private static Map<String, String> outcome(Outcome outcome) {
        return Map.of(Position.HEADER, EVENT.toString(), Outcome.HEADER, outcome.toString());
    }

    private byte[] rejection() {
        RecordWriter<Rejection> writer = RecordWriter.of(Rejection.class);
        EventPosition position = new EventPosition(EVENT.topic(), EVENT.partition(), EVENT.offset());
        return writer.encode(
                schemas.register("rejections", writer.schema()),
                Rejections.taken("music:tracks:1", null, position, Instant.EPOCH));
    }

    private static final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        FakeConsumer() {
            super("earliest");
        }

        void create(String topic) {
            updatePartitions(topic, List.of(new PartitionInfo(topic, 0, Node.noNode(), new Node[0], new Node[0])));
            updateEndOffsets(Map.of(new TopicPartition(topic, 0), END));
        }

        void write(String topic, long offset, Map<String, String> headers, byte @Nullable [] value) {
            ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(topic, 0, offset, new byte[0], value);
            headers.forEach((name, text) -> record.headers().add(name, text.getBytes(StandardCharsets.UTF_8)));
            schedulePollTask(() -> addRecord(record));
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            LockSupport.parkNanos(1_000_000);
            return super.poll(timeout);
        }
    }
}
