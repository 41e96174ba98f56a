package dev.puri.registry;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates the clients that Kafka Streams creates by default. The clients report polls and commits to {@link
 * CommitPacing}, and the offsets of published digests to {@link TaskStates}.
 */
final class PacedClients implements KafkaClientSupplier {
    private final TaskStates taskStates;
    private volatile @Nullable Admin admin;

    PacedClients(TaskStates taskStates) {
        this.taskStates = taskStates;
    }

    @Override
    public Admin getAdmin(Map<String, Object> config) {
        Admin created = Admin.create(config);
        admin = created;
        return created;
    }

    /** Returns the admin client of Kafka Streams, which closes it. */
    Admin admin() {
        return Objects.requireNonNull(admin);
    }

    @Override
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
        return new PacedProducer(config, new DigestOffsets(taskStates::putPublished));
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
        return new PacedConsumer(config);
    }

    @Override
    public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
        return getRestoreConsumer(config);
    }

    /** The main consumer of one stream thread. */
    private static final class PacedConsumer extends KafkaConsumer<byte[], byte[]> {
        PacedConsumer(Map<String, Object> config) {
            super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            CommitPacing pacing = CommitPacing.ofThread();
            ConsumerRecords<byte[], byte[]> records = super.poll(pacing.pollTimeout(timeout));
            pacing.onPoll(records.count(), System.nanoTime());
            return records;
        }
    }

    /** The producer of one stream thread. */
    private static final class PacedProducer extends KafkaProducer<byte[], byte[]> {
        private final DigestOffsets digestOffsets;
        private boolean isCommitting;
        private long commitStartedAtNanos;

        PacedProducer(Map<String, Object> config, DigestOffsets digestOffsets) {
            super(config, new ByteArraySerializer(), new ByteArraySerializer());
            this.digestOffsets = digestOffsets;
        }

        @Override
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback) {
            return super.send(record, digestOffsets.callback(record, callback));
        }

        /** Starts the measurement: Kafka Streams begins a commit with a flush for each task. */
        @Override
        public void flush() {
            startMeasurement();
            super.flush();
        }

        @Override
        public void sendOffsetsToTransaction(
                Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
            startMeasurement();
            super.sendOffsetsToTransaction(offsets, group);
        }

        @Override
        public void commitTransaction() {
            startMeasurement();
            try {
                super.commitTransaction();
            } finally {
                isCommitting = false;
                CommitPacing.ofThread().onCommit(commitStartedAtNanos, System.nanoTime());
            }
            digestOffsets.onCommitted();
        }

        @Override
        public void abortTransaction() {
            isCommitting = false;
            try {
                super.abortTransaction();
            } finally {
                digestOffsets.onAborted();
            }
        }

        private void startMeasurement() {
            if (!isCommitting) {
                isCommitting = true;
                commitStartedAtNanos = System.nanoTime();
            }
        }
    }
}
