package dev.puri.testkit;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceRequestData.PartitionProduceData;
import org.apache.kafka.common.message.ProduceRequestData.TopicProduceData;
import org.apache.kafka.common.message.ProduceRequestData.TopicProduceDataCollection;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;

/**
 * A hanging transaction: it is open in one partition, but its coordinator does not know it, so it never ends. The crash
 * of a broker can cause such a transaction (KIP-664). Kafka's clients cannot, so this class sends the produce request
 * itself. During this request the broker is configured not to verify transactions with their coordinator (KIP-890).
 */
public final class HangingTransaction {
    private static final String VERIFICATION = "transaction.partition.verification.enable";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final String bootstrapServers;
    private final TopicPartition partition;
    private final long producerId;
    private final short producerEpoch;

    private HangingTransaction(
            String bootstrapServers, TopicPartition partition, long producerId, short producerEpoch) {
        this.bootstrapServers = bootstrapServers;
        this.partition = partition;
        this.producerId = producerId;
        this.producerEpoch = producerEpoch;
    }

    /** Creates a hanging transaction. Its coordinator knows the transactional id, but no transaction. */
    public static HangingTransaction leave(String bootstrapServers, TopicPartition partition, String transactionalId) {
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrapServers, transactionalId)) {
            return leave(bootstrapServers, partition, transactionalId, producer);
        }
    }

    /**
     * Creates a hanging transaction, and then commits a transaction of the same transactional id in another partition.
     */
    public static HangingTransaction leaveCommitted(
            String bootstrapServers,
            TopicPartition partition,
            String transactionalId,
            TopicPartition committedPartition) {
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrapServers, transactionalId)) {
            HangingTransaction hanging = leave(bootstrapServers, partition, transactionalId, producer);
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(
                    committedPartition.topic(), committedPartition.partition(), null, new byte[0]));
            producer.commitTransaction();
            awaitCompleteCommit(bootstrapServers, transactionalId);
            return hanging;
        }
    }

    /** Commits return before the coordinator has written the markers and reports that the transaction has ended. */
    private static void awaitCompleteCommit(String bootstrapServers, String transactionalId) {
        try (Admin admin = admin(bootstrapServers)) {
            Awaitility.await()
                    .atMost(TIMEOUT)
                    .until(() -> admin.describeTransactions(List.of(transactionalId))
                                    .description(transactionalId)
                                    .get()
                                    .state()
                            == TransactionState.COMPLETE_COMMIT);
        }
    }

    private static HangingTransaction leave(
            String bootstrapServers,
            TopicPartition partition,
            String transactionalId,
            KafkaProducer<byte[], byte[]> producer) {
        producer.initTransactions();
        try (Admin admin = admin(bootstrapServers)) {
            TransactionDescription description = admin.describeTransactions(List.of(transactionalId))
                    .description(transactionalId)
                    .get();
            HangingTransaction hanging = new HangingTransaction(
                    bootstrapServers, partition, description.producerId(), (short) description.producerEpoch());
            setVerification(admin, new AlterConfigOp(new ConfigEntry(VERIFICATION, "false"), AlterConfigOp.OpType.SET));
            try {
                // Repeated, because the broker applies the changed setting with a delay.
                Awaitility.await().atMost(TIMEOUT).until(() -> hanging.write(transactionalId) == Errors.NONE);
            } finally {
                setVerification(
                        admin, new AlterConfigOp(new ConfigEntry(VERIFICATION, null), AlterConfigOp.OpType.DELETE));
            }
            return hanging;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the broker refused a request", e);
        }
    }

    private static void setVerification(Admin admin, AlterConfigOp op) throws InterruptedException, ExecutionException {
        ConfigResource allBrokers = new ConfigResource(ConfigResource.Type.BROKER, "");
        admin.incrementalAlterConfigs(Map.of(allBrokers, List.of(op))).all().get();
    }

    /** Writes one record of the transaction to the partition, and returns the broker's error code. */
    private Errors write(String transactionalId) throws IOException {
        short version = ProduceRequest.LAST_STABLE_VERSION_BEFORE_TRANSACTION_V2;
        RequestHeader header = new RequestHeader(ApiKeys.PRODUCE, version, "hanging-transaction", 1);
        ByteBuffer request = request(transactionalId).serializeWithHeader(header);
        String[] address = bootstrapServers.split(":");
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(request.remaining());
            out.write(request.array(), request.arrayOffset() + request.position(), request.remaining());
            out.flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            ByteBuffer responseBytes = ByteBuffer.wrap(in.readNBytes(in.readInt()));
            ResponseHeader.parse(responseBytes, ApiKeys.PRODUCE.responseHeaderVersion(version));
            ProduceResponse response = ProduceResponse.parse(new ByteBufferAccessor(responseBytes), version);
            return Errors.forCode(response.data()
                    .responses()
                    .iterator()
                    .next()
                    .partitionResponses()
                    .get(0)
                    .errorCode());
        }
    }

    private ProduceRequest request(String transactionalId) {
        MemoryRecords records = MemoryRecords.withTransactionalRecords(
                Compression.NONE, producerId, producerEpoch, 0, new SimpleRecord(new byte[] {1}, new byte[] {1}));
        TopicProduceData topic = new TopicProduceData()
                .setName(partition.topic())
                .setPartitionData(List.of(new PartitionProduceData()
                        .setIndex(partition.partition())
                        .setRecords(records)));
        ProduceRequestData data = new ProduceRequestData()
                .setAcks((short) -1)
                .setTimeoutMs((int) TIMEOUT.toMillis())
                .setTransactionalId(transactionalId)
                .setTopicData(new TopicProduceDataCollection(List.of(topic).iterator()));
        return ProduceRequest.builder(data, true).build(ProduceRequest.LAST_STABLE_VERSION_BEFORE_TRANSACTION_V2);
    }

    private static KafkaProducer<byte[], byte[]> producer(String bootstrapServers, String transactionalId) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers, "transactional.id", transactionalId),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private static Admin admin(String bootstrapServers) {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers));
    }

    /** Returns the producer id of the transaction. */
    public long producerId() {
        return producerId;
    }

    /** Aborts the transaction with the admin client, as an operator does. */
    public void abort() {
        try (Admin admin = admin(bootstrapServers)) {
            admin.abortTransaction(new AbortTransactionSpec(partition, producerId, producerEpoch, 0))
                    .all()
                    .get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the broker refused a request", e);
        }
    }
}
