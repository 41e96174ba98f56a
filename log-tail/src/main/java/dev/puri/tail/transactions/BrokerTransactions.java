package dev.puri.tail.transactions;

import dev.puri.tail.transactions.OpenTransaction.Coordinator;
import dev.puri.tail.transactions.StableOffsets.Offsets;
import dev.puri.tail.transactions.StableOffsets.Snapshot;
import dev.puri.tail.transactions.StableOffsets.Stalled;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeProducersResult;
import org.apache.kafka.clients.admin.DescribeTransactionsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Transactions as an admin client sees them (KIP-664). A look costs two requests to each broker that leads a followed
 * partition; only for stalled partitions it asks for the producers, and their coordinators for the transactions.
 */
final class BrokerTransactions implements TransactionView {
    private static final Logger log = LoggerFactory.getLogger(BrokerTransactions.class);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    /** How often topics and partitions are listed again. */
    private static final long LISTED_FOR_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final String LONGEST_TIMEOUT = "transaction.max.timeout.ms";
    private static final Duration LONGEST_TIMEOUT_BY_DEFAULT = Duration.ofMinutes(15);

    private final Admin admin;
    private final Predicate<String> topics;
    private List<TopicPartition> partitions = List.of();
    private long listedAt = System.nanoTime() - LISTED_FOR_NANOS;
    private @Nullable Duration longestTimeout;

    /**
     * Asks for nothing yet.
     *
     * @param kafka properties of the user's choice
     * @param topics which are followed
     * @throws KafkaException when the properties make no client
     */
    BrokerTransactions(Map<String, String> kafka, String bootstrapServers, Predicate<String> topics) {
        this.topics = topics;
        Properties config = new Properties();
        config.putAll(kafka);
        config.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        admin = Admin.create(config);
    }

    @Override
    public Snapshot offsets() {
        if (System.nanoTime() - listedAt >= LISTED_FOR_NANOS) {
            partitions = list();
            listedAt = System.nanoTime();
        }
        Map<TopicPartition, OffsetSpec> asked =
                partitions.stream().collect(Collectors.toMap(each -> each, each -> OffsetSpec.latest()));
        ListOffsetsResult stable = admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED));
        ListOffsetsResult ends = admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED));
        Map<TopicPartition, Offsets> found = new HashMap<>();
        Set<TopicPartition> unanswered = new HashSet<>();
        KafkaException failure = null;
        for (TopicPartition partition : partitions) {
            try {
                long lastStable = await(stable.partitionResult(partition)).offset();
                long end = await(ends.partitionResult(partition)).offset();
                found.put(partition, new Offsets(lastStable, end));
            } catch (KafkaException e) {
                failure = e;
                unanswered.add(partition);
                if (e instanceof UnknownTopicOrPartitionException) {
                    listedAt = System.nanoTime() - LISTED_FOR_NANOS;
                }
            }
        }
        if (found.isEmpty() && failure != null) {
            throw failure;
        }
        return new Snapshot(found, unanswered);
    }

    private List<TopicPartition> list() {
        Set<String> names =
                await(admin.listTopics().names()).stream().filter(topics).collect(Collectors.toUnmodifiableSet());
        List<TopicPartition> listed = new ArrayList<>();
        admin.describeTopics(names).topicNameValues().forEach((name, description) -> {
            try {
                await(description).partitions().forEach(each -> listed.add(new TopicPartition(name, each.partition())));
            } catch (UnknownTopicOrPartitionException e) {
                log.debug("{} was deleted while it was described", name);
            }
        });
        return listed;
    }

    @Override
    public Map<TopicPartition, OpenTransaction> open(Collection<Stalled> stalled) {
        Map<TopicPartition, ProducerState> producers = producers(stalled);
        Map<Long, String> transactionalIds = transactionalIds(
                producers.values().stream().map(ProducerState::producerId).collect(Collectors.toSet()));
        Map<String, TransactionDescription> descriptions = descriptions(transactionalIds.values());
        Map<TopicPartition, OpenTransaction> open = new HashMap<>();
        producers.forEach((partition, producer) -> {
            String id = transactionalIds.get(producer.producerId());
            TransactionDescription description = id == null ? null : descriptions.get(id);
            open.put(
                    partition,
                    new OpenTransaction(
                            producer.producerId(),
                            producer.producerEpoch(),
                            Instant.ofEpochMilli(producer.lastTimestamp()),
                            id == null || description == null
                                    ? null
                                    : new Coordinator(
                                            id,
                                            description.state(),
                                            Duration.ofMillis(description.transactionTimeoutMs()),
                                            description.topicPartitions().contains(partition))));
        });
        return open;
    }

    /** The producers whose transactions begin where partitions cannot be read on. */
    private Map<TopicPartition, ProducerState> producers(Collection<Stalled> stalled) {
        DescribeProducersResult described =
                admin.describeProducers(stalled.stream().map(Stalled::partition).toList());
        Map<TopicPartition, ProducerState> producers = new HashMap<>();
        for (Stalled each : stalled) {
            try {
                await(described.partitionResult(each.partition())).activeProducers().stream()
                        .filter(producer ->
                                producer.currentTransactionStartOffset().orElse(-1)
                                        == each.offsets().lastStable())
                        .findFirst()
                        .ifPresent(producer -> producers.put(each.partition(), producer));
            } catch (KafkaException e) {
                log.debug("The producers of {} are unknown", each.partition(), e);
            }
        }
        return producers;
    }

    private Map<Long, String> transactionalIds(Set<Long> producerIds) {
        if (producerIds.isEmpty()) {
            return Map.of();
        }
        try {
            return await(admin.listTransactions(new ListTransactionsOptions().filterProducerIds(producerIds))
                            .all())
                    .stream()
                    .collect(Collectors.toMap(
                            TransactionListing::producerId, TransactionListing::transactionalId, (one, other) -> one));
        } catch (KafkaException e) {
            log.debug("The transactional ids of producers {} are unknown", producerIds, e);
            return Map.of();
        }
    }

    private Map<String, TransactionDescription> descriptions(Collection<String> transactionalIds) {
        if (transactionalIds.isEmpty()) {
            return Map.of();
        }
        DescribeTransactionsResult described = admin.describeTransactions(transactionalIds);
        Map<String, TransactionDescription> descriptions = new HashMap<>();
        for (String id : transactionalIds) {
            try {
                descriptions.put(id, await(described.description(id)));
            } catch (KafkaException e) {
                log.debug("The transaction of {} is unknown", id, e);
            }
        }
        return descriptions;
    }

    @Override
    public Duration longestTimeout() {
        if (longestTimeout == null) {
            longestTimeout = askLongestTimeout();
        }
        return longestTimeout == null ? LONGEST_TIMEOUT_BY_DEFAULT : longestTimeout;
    }

    /** Null when the brokers do not tell it now. */
    private @Nullable Duration askLongestTimeout() {
        try {
            Node broker = await(admin.describeCluster().nodes()).iterator().next();
            ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, broker.idString());
            ConfigEntry entry = await(admin.describeConfigs(List.of(resource)).all())
                    .values()
                    .iterator()
                    .next()
                    .get(LONGEST_TIMEOUT);
            return entry == null || entry.value() == null ? null : Duration.ofMillis(Long.parseLong(entry.value()));
        } catch (KafkaException e) {
            log.debug("{} is unknown", LONGEST_TIMEOUT, e);
            return null;
        }
    }

    /** The client's own time-out ends every wait. */
    private static <T> T await(KafkaFuture<T> answer) {
        try {
            return answer.get(2 * REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (TimeoutException e) {
            throw new org.apache.kafka.common.errors.TimeoutException("no broker answers", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
