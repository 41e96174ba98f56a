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
 * Ends transactions that are open in a partition although their coordinator has completed them. {@link KraftNode}
 * prevents them; a data directory may have them from a broker that did not. Each is ended as its coordinator decided, because other
 * partitions of the same transaction were ended so. The decision is in the coordinator's log.
 */
final class HangingTransactions {
    private static final Logger LOG = LoggerFactory.getLogger(HangingTransactions.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int READ_BYTES = 1 << 20;

    /** How often a transaction must look abandoned before it is ended. */
    private static final int LOOKS = 4;

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(250);

    private final BrokerServer broker;
    private final int port;

    /** A transaction that a partition holds open; equal while it is the same one. */
    private record Open(TopicPartition partition, long producerId, long startOffset) {}

    /** The coordinator's decision in its log. */
    private record Decision(TransactionResult result, short epoch, TransactionVersion version, int coordinator) {}

    private HangingTransactions(BrokerServer broker) {
        this.broker = broker;
        this.port = broker.config().effectiveAdvertisedBrokerListeners().head().port();
    }

    /**
     * Looks for them and ends them.
     *
     * @throws EmbeddedException when the broker does not answer
     */
    static void end(BrokerServer broker) {
        HangingTransactions transactions = new HangingTransactions(broker);
        transactions.awaitLeadership();
        Map<Open, ProducerState> open = transactions.open();
        if (open.isEmpty()) {
            return;
        }
        try {
            Map<Open, ProducerState> hanging = transactions.hanging(open);
            // A coordinator begins to load a moment after the broker leads its partition, and is silent until then.
            for (int look = 1; look < LOOKS && !hanging.isEmpty(); look++) {
                pause(BETWEEN_LOOKS);
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
     * Waits until the broker leads every partition that it has a log of. Before, it answers that nobody coordinates a
     * transaction, and takes no marker.
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

    private Map<Open, ProducerState> open() {
        Map<Open, ProducerState> open = new HashMap<>();
        for (UnifiedLog log : logs()) {
            for (ProducerState producer : log.activeProducers()) {
                if (producer.currentTxnStartOffset() >= 0) {
                    open.put(
                            new Open(log.topicPartition(), producer.producerId(), producer.currentTxnStartOffset()),
                            producer);
                }
            }
        }
        return open;
    }

    /** The open transactions that their coordinators neither have under way nor are ending. */
    private Map<Open, ProducerState> hanging(Map<Open, ProducerState> open) {
        Set<Open> coordinated = new HashSet<>();
        for (TransactionDescription transaction : describe(open.keySet())) {
            boolean underWay = switch (transaction.state()) {
                case ONGOING, PREPARE_COMMIT, PREPARE_ABORT, PREPARE_EPOCH_FENCE -> true;
                default -> false;
            };
            if (underWay) {
                open.keySet().stream()
                        .filter(each -> each.producerId() == transaction.producerId()
                                && transaction.topicPartitions().contains(each.partition()))
                        .forEach(coordinated::add);
            }
        }
        // One that ended since then was under way, too.
        Map<Open, ProducerState> hanging = new HashMap<>(open());
        hanging.keySet().retainAll(open.keySet());
        hanging.keySet().removeAll(coordinated);
        return hanging;
    }

    private List<TransactionDescription> describe(Set<Open> open) {
        Set<Long> producers = open.stream().map(Open::producerId).collect(Collectors.toSet());
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

    private void end(Map<Open, ProducerState> hanging) throws IOException {
        Map<Open, Decision> decisions = decisions(hanging);
        for (Map.Entry<Open, ProducerState> each : hanging.entrySet()) {
            Open open = each.getKey();
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

    /** As the log of transactions has them. Not every one may still be there: that log is compacted. */
    private Map<Open, Decision> decisions(Map<Open, ProducerState> hanging) throws IOException {
        Map<Open, Decision> decisions = new HashMap<>();
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
            Open open, ProducerState producer, TransactionMetadata metadata, TopicPartition coordinator) {
        boolean commits = metadata.state() == TransactionState.PREPARE_COMMIT;
        boolean aborts = metadata.state() == TransactionState.PREPARE_ABORT;
        if (!(commits || aborts)
                || metadata.producerId() != open.producerId()
                || !metadata.topicPartitions().contains(open.partition())) {
            return null;
        }
        TransactionVersion version = metadata.clientTransactionVersion();
        // From version 2 on, the decision raises the epoch; one with the transaction's own epoch ended the one before
        // it.
        int least = producer.producerEpoch() + (version.supportsEpochBump() ? 1 : 0);
        return metadata.producerEpoch() < least
                ? null
                : new Decision(
                        commits ? TransactionResult.COMMIT : TransactionResult.ABORT,
                        metadata.producerEpoch(),
                        version,
                        coordinator.partition());
    }

    /** The first of higher epochs; before version 2, the last, because all had the same. */
    private static Decision chosen(Decision earlier, Decision later) {
        return later.version().supportsEpochBump() ? earlier : later;
    }

    /** As a coordinator does it. Kafka's admin client can abort a transaction, and cannot commit it. */
    private void writeMarker(Open open, ProducerState producer, Decision decision) throws IOException {
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
            byte[] answer = new byte[in.readInt()];
            in.readFully(answer);
            return AbstractResponse.parseResponse(ByteBuffer.wrap(answer), header);
        }
    }
}
