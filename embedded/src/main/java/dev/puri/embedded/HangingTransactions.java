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
 * Ends hanging transactions: they are open in a partition although their coordinator has completed them. {@link
 * KraftNode} prevents them, but a data directory may contain some from an earlier release. Each is committed or aborted
 * as the coordinator decided according to its log, because other partitions of the transaction were ended that way.
 */
final class HangingTransactions {
    private static final Logger LOG = LoggerFactory.getLogger(HangingTransactions.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int READ_BYTES = 1 << 20;

    /** The number of checks in which a transaction must be found hanging before it is ended. */
    private static final int CHECKS = 4;

    private static final Duration CHECK_INTERVAL = Duration.ofMillis(250);

    private final BrokerServer broker;
    private final int port;

    /** An open transaction in a partition. */
    private record OpenTransaction(TopicPartition partition, long producerId, long startOffset) {}

    /** The coordinator's decision according to its log. */
    private record Decision(TransactionResult result, short epoch, TransactionVersion version, int coordinator) {}

    private HangingTransactions(BrokerServer broker) {
        this.broker = broker;
        this.port = broker.config().effectiveAdvertisedBrokerListeners().head().port();
    }

    /**
     * Finds hanging transactions and ends them.
     *
     * @throws EmbeddedException if the broker does not respond
     */
    static void end(BrokerServer broker) {
        HangingTransactions transactions = new HangingTransactions(broker);
        transactions.awaitLeadership();
        Map<OpenTransaction, ProducerState> open = transactions.open();
        if (open.isEmpty()) {
            return;
        }
        try {
            Map<OpenTransaction, ProducerState> hanging = transactions.hanging(open);
            // A coordinator starts loading shortly after the broker leads its partition, and reports no transactions
            // before.
            for (int check = 1; check < CHECKS && !hanging.isEmpty(); check++) {
                pause(CHECK_INTERVAL);
                hanging.keySet().retainAll(transactions.hanging(hanging).keySet());
            }
            if (!hanging.isEmpty()) {
                transactions.end(hanging);
            }
        } catch (IOException | KafkaException e) {
            throw new EmbeddedException("transactions that a kill left open could not be ended: " + e.getMessage(), e);
        }
    }

    /**
     * Waits until the broker leads every partition of which it has a log. Before that it reports no coordinators and
     * accepts no markers.
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

    private Map<OpenTransaction, ProducerState> open() {
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

    /** Returns the transactions that are neither ongoing nor being ended by their coordinator. */
    private Map<OpenTransaction, ProducerState> hanging(Map<OpenTransaction, ProducerState> open) {
        Set<OpenTransaction> coordinated = new HashSet<>();
        for (TransactionDescription transaction : describe(open.keySet())) {
            boolean isActive = switch (transaction.state()) {
                case ONGOING, PREPARE_COMMIT, PREPARE_ABORT, PREPARE_EPOCH_FENCE -> true;
                default -> false;
            };
            if (isActive) {
                open.keySet().stream()
                        .filter(each -> each.producerId() == transaction.producerId()
                                && transaction.topicPartitions().contains(each.partition()))
                        .forEach(coordinated::add);
            }
        }
        // A transaction that has ended meanwhile was not hanging.
        Map<OpenTransaction, ProducerState> hanging = new HashMap<>(open());
        hanging.keySet().retainAll(open.keySet());
        hanging.keySet().removeAll(coordinated);
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
            throw new KafkaException("no answer within " + TIMEOUT.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted", e);
        }
    }

    private void end(Map<OpenTransaction, ProducerState> hanging) throws IOException {
        Map<OpenTransaction, Decision> decisions = decisions(hanging);
        for (Map.Entry<OpenTransaction, ProducerState> each : hanging.entrySet()) {
            OpenTransaction open = each.getKey();
            Decision decision = decisions.get(open);
            if (decision == null) {
                LOG.error(
                        "A transaction of producer {} is open in {} since offset {} and nobody will end it: how its"
                                + " coordinator decided is no longer known. Whoever reads committed records gets no"
                                + " further there. Its records can be given up with Kafka's own tool:"
                                + " kafka-transactions.sh abort --topic {} --partition {} --start-offset {}",
                        open.producerId(),
                        open.partition(),
                        open.startOffset(),
                        open.partition().topic(),
                        open.partition().partition(),
                        open.startOffset());
                continue;
            }
            LOG.warn(
                    "A transaction of producer {} is open in {} since offset {}, although its coordinator decided to {};"
                            + " it is ended so",
                    open.producerId(),
                    open.partition(),
                    open.startOffset(),
                    decision.result());
            writeMarker(open, each.getValue(), decision);
        }
    }

    /** Reads the decisions from the transaction log. Some may be missing, because that log is compacted. */
    private Map<OpenTransaction, Decision> decisions(Map<OpenTransaction, ProducerState> hanging) throws IOException {
        Map<OpenTransaction, Decision> decisions = new HashMap<>();
        for (UnifiedLog log : logs()) {
            if (!log.topicPartition().topic().equals(Topic.TRANSACTION_STATE_TOPIC_NAME)) {
                continue;
            }
            long offset = log.logStartOffset();
            while (offset < log.logEndOffset()) {
                long next = offset;
                for (Record each : log.read(offset, READ_BYTES, FetchIsolation.LOG_END, true)
                        .records
                        .records()) {
                    next = each.offset() + 1;
                    if (each.hasValue()
                            && TransactionLog.read(each.key(), each.value()) instanceof TransactionLog.TxnRecord txn) {
                        hanging.forEach((open, producer) -> {
                            @Nullable
                            Decision decision = decision(open, producer, txn.metadata(), log.topicPartition());
                            if (decision != null) {
                                decisions.merge(open, decision, HangingTransactions::chosen);
                            }
                        });
                    }
                }
                if (next == offset) {
                    break;
                }
                offset = next;
            }
        }
        return decisions;
    }

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
        // From version 2 on the decision increments the producer epoch; a record with the transaction's own epoch ended
        // the previous transaction.
        int minEpoch = producer.producerEpoch() + (version.supportsEpochBump() ? 1 : 0);
        return metadata.producerEpoch() < minEpoch
                ? null
                : new Decision(
                        commits ? TransactionResult.COMMIT : TransactionResult.ABORT,
                        metadata.producerEpoch(),
                        version,
                        coordinator.partition());
    }

    /** Chooses the first decision with a higher epoch; before version 2, without epoch increments, the last one. */
    private static Decision chosen(Decision earlier, Decision later) {
        return later.version().supportsEpochBump() ? earlier : later;
    }

    /** Writes a marker as a coordinator does. Kafka's admin client can only abort a transaction, not commit it. */
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
            throw error.exception("the end of a transaction cannot be written to " + open.partition() + ": " + error);
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
