package dev.puri.embedded;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import kafka.server.BrokerServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.common.message.DescribeProducersResponseData.ProducerState;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;
import org.apache.kafka.coordinator.transaction.TransactionLog;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Completes hanging transactions. A transaction hangs if it is open in a partition although its coordinator has
 * completed it. {@link KraftNode} prevents hanging transactions, but the data directory of an earlier release may
 * contain some.
 *
 * <p>The coordinator's log contains its decision to commit or abort the transaction. The hanging transaction is
 * completed with the same decision, because the other partitions of the transaction were completed with that decision.
 */
final class HangingTransactions {
    private static final Logger LOG = LoggerFactory.getLogger(HangingTransactions.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int READ_BYTES = 1 << 20;

    /** The number of checks that must find a transaction hanging before it is completed. */
    private static final int CHECKS = 4;

    private static final Duration CHECK_INTERVAL = Duration.ofMillis(250);

    private final BrokerServer broker;
    private final int port;

    /** A transaction that is open in a partition. */
    private record OpenTransaction(TopicPartition partition, long producerId, long startOffset) {}

    /**
     * The coordinator's decision about a transaction, according to the coordinator's log.
     *
     * @param coordinator the coordinator's partition of the transaction log
     */
    private record Decision(TransactionResult result, short epoch, TransactionVersion version, int coordinator) {}

    private HangingTransactions(BrokerServer broker) {
        this.broker = broker;
        this.port = broker.config().effectiveAdvertisedBrokerListeners().head().port();
    }

    /**
     * Finds hanging transactions and completes them.
     *
     * @throws EmbeddedException if the broker does not respond
     */
    static void complete(BrokerServer broker) {
        HangingTransactions transactions = new HangingTransactions(broker);
        transactions.awaitLeadership();
        Map<OpenTransaction, ProducerState> open = transactions.findOpen();
        if (open.isEmpty()) {
            return;
        }
        try {
            Map<OpenTransaction, ProducerState> hanging = transactions.findHanging(open);
            // One check is not enough: a coordinator that has not loaded its log yet reports no transactions. It loads
            // the log shortly after the broker has become leader of the log's partition.
            for (int check = 1; check < CHECKS && !hanging.isEmpty(); check++) {
                pause(CHECK_INTERVAL);
                hanging.keySet().retainAll(transactions.findHanging(hanging).keySet());
            }
            if (!hanging.isEmpty()) {
                transactions.complete(hanging);
            }
        } catch (IOException | KafkaException e) {
            throw new EmbeddedException("hanging transactions could not be completed: " + e.getMessage(), e);
        }
    }

    /**
     * Waits until the broker leads every partition of which it has a log. Before that the broker reports no
     * coordinators and accepts no markers.
     */
    private void awaitLeadership() {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!logs().stream().map(UnifiedLog::topicPartition).allMatch(this::isLedOrDeleted)) {
            if (System.nanoTime() - deadline > 0) {
                throw new EmbeddedException(
                        "the broker does not lead all its partitions after " + TIMEOUT.toSeconds() + " s");
            }
            pause(Duration.ofMillis(10));
        }
    }

    private boolean isLedOrDeleted(TopicPartition partition) {
        var online = broker.replicaManager().onlinePartition(partition);
        return online.isDefined() && online.get().isLeader()
                || !broker.metadataCache().contains(partition);
    }

    private static void pause(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted", e);
        }
    }

    private List<UnifiedLog> logs() {
        return List.copyOf(
                CollectionConverters.asJava(broker.logManager().allLogs().toSeq()));
    }

    private Map<OpenTransaction, ProducerState> findOpen() {
        Map<OpenTransaction, ProducerState> open = new HashMap<>();
        for (UnifiedLog log : logs()) {
            for (ProducerState producer : log.activeProducers()) {
                if (producer.currentTxnStartOffset() >= 0) {
                    open.put(
                            new OpenTransaction(
                                    log.topicPartition(), producer.producerId(), producer.currentTxnStartOffset()),
                            producer);
                }
            }
        }
        return open;
    }

    /** Returns the open transactions that their coordinator neither considers as ongoing nor is about to complete. */
    private Map<OpenTransaction, ProducerState> findHanging(Map<OpenTransaction, ProducerState> open) {
        Set<OpenTransaction> active = new HashSet<>();
        for (TransactionDescription transaction : describe(open.keySet())) {
            boolean isActive = switch (transaction.state()) {
                case ONGOING, PREPARE_COMMIT, PREPARE_ABORT, PREPARE_EPOCH_FENCE -> true;
                default -> false;
            };
            if (isActive) {
                open.keySet().stream()
                        .filter(each -> each.producerId() == transaction.producerId()
                                && transaction.topicPartitions().contains(each.partition()))
                        .forEach(active::add);
            }
        }
        // A transaction that has been completed meanwhile is not hanging.
        Map<OpenTransaction, ProducerState> hanging = new HashMap<>(findOpen());
        hanging.keySet().retainAll(open.keySet());
        hanging.keySet().removeAll(active);
        return hanging;
    }

    private List<TransactionDescription> describe(Set<OpenTransaction> open) {
        Set<Long> producers = open.stream().map(OpenTransaction::producerId).collect(Collectors.toSet());
        Map<String, Object> properties = Map.of("bootstrap.servers", Ports.HOST + ":" + port);
        try (Admin admin = Admin.create(properties)) {
            List<String> ids = admin
                    .listTransactions(new ListTransactionsOptions().filterProducerIds(producers))
                    .all()
                    .get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                    .stream()
                    .map(TransactionListing::transactionalId)
                    .toList();
            List<TransactionDescription> descriptions = new ArrayList<>();
            var described = admin.describeTransactions(ids);
            for (String id : ids) {
                try {
                    descriptions.add(described.description(id).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS));
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof TransactionalIdNotFoundException)) {
                        throw e;
                    }
                }
            }
            return descriptions;
        } catch (ExecutionException e) {
            throw new KafkaException(e.getCause());
        } catch (TimeoutException e) {
            throw new KafkaException("no response within " + TIMEOUT.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted", e);
        }
    }

    private void complete(Map<OpenTransaction, ProducerState> hanging) throws IOException {
        Map<OpenTransaction, Decision> decisions = readDecisions(hanging);
        for (Map.Entry<OpenTransaction, ProducerState> entry : hanging.entrySet()) {
            OpenTransaction transaction = entry.getKey();
            Decision decision = decisions.get(transaction);
            if (decision == null) {
                LOG.error(
                        "The transaction of producer {} in {} from offset {} hangs, and its coordinator's decision is no"
                                + " longer known. Read-committed consumers cannot read past this offset. To abort the"
                                + " transaction and lose its records, run:"
                                + " kafka-transactions.sh abort --topic {} --partition {} --start-offset {}",
                        transaction.producerId(),
                        transaction.partition(),
                        transaction.startOffset(),
                        transaction.partition().topic(),
                        transaction.partition().partition(),
                        transaction.startOffset());
                continue;
            }
            LOG.warn(
                    "The transaction of producer {} in {} from offset {} hangs. It is completed with its coordinator's"
                            + " decision: {}",
                    transaction.producerId(),
                    transaction.partition(),
                    transaction.startOffset(),
                    decision.result());
            writeMarker(transaction, entry.getValue(), decision);
        }
    }

    /** Reads the decisions from the transaction log. Some may be missing, because the transaction log is compacted. */
    private Map<OpenTransaction, Decision> readDecisions(Map<OpenTransaction, ProducerState> hanging)
            throws IOException {
        Map<OpenTransaction, Decision> decisions = new HashMap<>();
        for (UnifiedLog log : logs()) {
            if (!log.topicPartition().topic().equals(Topic.TRANSACTION_STATE_TOPIC_NAME)) {
                continue;
            }
            long offset = log.logStartOffset();
            while (offset < log.logEndOffset()) {
                long nextOffset = offset;
                for (Record record : log.read(offset, READ_BYTES, FetchIsolation.LOG_END, true)
                        .records
                        .records()) {
                    nextOffset = record.offset() + 1;
                    if (record.hasValue()
                            && TransactionLog.read(record.key(), record.value())
                                    instanceof TransactionLog.TxnRecord txn) {
                        hanging.forEach((transaction, producer) -> {
                            @Nullable
                            Decision decision = decision(transaction, producer, txn.metadata(), log.topicPartition());
                            if (decision != null) {
                                decisions.merge(transaction, decision, HangingTransactions::choose);
                            }
                        });
                    }
                }
                if (nextOffset == offset) {
                    break;
                }
                offset = nextOffset;
            }
        }
        return decisions;
    }

    /** Returns the decision about an open transaction that a record of the transaction log contains, or null. */
    private static @Nullable Decision decision(
            OpenTransaction open, ProducerState producer, TransactionMetadata metadata, TopicPartition coordinator) {
        boolean commits = metadata.state() == TransactionState.PREPARE_COMMIT;
        boolean aborts = metadata.state() == TransactionState.PREPARE_ABORT;
        if (!(commits || aborts)
                || metadata.producerId() != open.producerId()
                || !metadata.topicPartitions().contains(open.partition())) {
            return null;
        }
        TransactionVersion version = metadata.clientTransactionVersion();
        // From transaction version 2 on the decision increments the producer epoch. A record with the epoch of the open
        // transaction is therefore the decision about the previous transaction.
        int minEpoch = producer.producerEpoch() + (version.supportsEpochBump() ? 1 : 0);
        return metadata.producerEpoch() < minEpoch
                ? null
                : new Decision(
                        commits ? TransactionResult.COMMIT : TransactionResult.ABORT,
                        metadata.producerEpoch(),
                        version,
                        coordinator.partition());
    }

    /**
     * Chooses between two decisions. From transaction version 2 on this is the earlier decision, because a later one
     * has a higher epoch and belongs to a later transaction. Before version 2 the epochs of a producer's transactions
     * are equal, so it is the later decision.
     */
    private static Decision choose(Decision earlier, Decision later) {
        return later.version().supportsEpochBump() ? earlier : later;
    }

    /**
     * Writes a commit or abort marker with the request that a coordinator sends. Kafka's admin client can only abort a
     * transaction, not commit it.
     */
    private void writeMarker(OpenTransaction open, ProducerState producer, Decision decision) throws IOException {
        int coordinatorEpoch = Math.max(producer.coordinatorEpoch(), coordinatorEpoch(decision.coordinator()));
        TxnMarkerEntry marker = new TxnMarkerEntry(
                open.producerId(),
                decision.epoch(),
                coordinatorEpoch,
                decision.result(),
                List.of(open.partition()),
                decision.version().featureLevel());
        short version = ApiKeys.WRITE_TXN_MARKERS.latestVersion();
        RequestHeader header = new RequestHeader(ApiKeys.WRITE_TXN_MARKERS, version, "puri-hanging-transactions", 1);
        WriteTxnMarkersResponse response = (WriteTxnMarkersResponse) send(
                header,
                new WriteTxnMarkersRequest.Builder(List.of(marker))
                        .build(version)
                        .serializeWithHeader(header));
        Errors error = Optional.ofNullable(response.errorsByProducerId().get(open.producerId()))
                .map(errors -> errors.get(open.partition()))
                .orElse(Errors.UNKNOWN_SERVER_ERROR);
        if (error != Errors.NONE) {
            throw error.exception("a transaction marker cannot be written to " + open.partition() + ": " + error);
        }
    }

    private int coordinatorEpoch(int partition) {
        return broker.metadataCache()
                .getLeaderAndIsr(Topic.TRANSACTION_STATE_TOPIC_NAME, partition)
                .orElseThrow()
                .leaderEpoch();
    }

    private AbstractResponse send(RequestHeader header, ByteBuffer request) throws IOException {
        try (Socket socket = new Socket(Ports.HOST, port)) {
            socket.setSoTimeout(Math.toIntExact(TIMEOUT.toMillis()));
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(request.remaining());
            out.write(request.array(), request.arrayOffset() + request.position(), request.remaining());
            out.flush();
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            byte[] response = new byte[in.readInt()];
            in.readFully(response);
            return AbstractResponse.parseResponse(ByteBuffer.wrap(response), header);
        }
    }
}
