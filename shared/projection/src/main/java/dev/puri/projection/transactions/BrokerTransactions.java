package dev.puri.projection.transactions;

import dev.puri.projection.AdminClients;
import dev.puri.projection.transactions.OpenTransaction.CoordinatorReport;
import dev.puri.projection.transactions.StallTimer.ObservedOffsets;
import dev.puri.projection.transactions.StallTimer.Offsets;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
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
 * Reads transactions with an admin client (KIP-664). {@link #offsets} sends two requests to each broker that leads a
 * followed partition. Only for stalled partitions, {@link #openTransactions} asks the leaders for the producers and the
 * coordinators for the transactions.
 */
final class BrokerTransactions implements TransactionReader {
    private static final Logger log = LoggerFactory.getLogger(BrokerTransactions.class);

    /** The time after which topics and partitions are listed again. */
    private static final long LISTING_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final String MAX_TIMEOUT_CONFIG = "transaction.max.timeout.ms";
    private static final Duration DEFAULT_MAX_TIMEOUT = Duration.ofMinutes(15);

    private final Admin admin;
    private final Predicate<String> topics;
    private final LongSupplier nanoTime;
    private List<TopicPartition> partitions = List.of();
    private long listedAtNanos;
    private @Nullable Duration maxTimeout;

    /**
     * Creates the admin client; sends no request.
     *
     * @param kafka the user's Kafka properties
     * @param topics selects the followed topics by name
     * @throws KafkaException if no client can be created with the properties
     */
    BrokerTransactions(Map<String, String> kafka, String bootstrapServers, Predicate<String> topics) {
        this(AdminClients.create(kafka, bootstrapServers), topics, System::nanoTime);
    }

    /**
     * @param admin closed by {@link #close}
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    BrokerTransactions(Admin admin, Predicate<String> topics, LongSupplier nanoTime) {
        this.admin = admin;
        this.topics = topics;
        this.nanoTime = nanoTime;
        listTopicsNextTime();
    }

    private void listTopicsNextTime() {
        listedAtNanos = nanoTime.getAsLong() - LISTING_INTERVAL_NANOS;
    }

    @Override
    public ObservedOffsets offsets() {
        if (nanoTime.getAsLong() - listedAtNanos >= LISTING_INTERVAL_NANOS) {
            partitions = listPartitions();
            listedAtNanos = nanoTime.getAsLong();
        }
        Map<TopicPartition, OffsetSpec> specs =
                partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> OffsetSpec.latest()));
        ListOffsetsResult stable = admin.listOffsets(specs, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED));
        ListOffsetsResult highWatermarks =
                admin.listOffsets(specs, new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED));
        Map<TopicPartition, Offsets> found = new HashMap<>();
        Set<TopicPartition> unreported = new HashSet<>();
        KafkaException failure = null;
        for (TopicPartition partition : partitions) {
            try {
                long lastStable = await(stable.partitionResult(partition)).offset();
                long highWatermark =
                        await(highWatermarks.partitionResult(partition)).offset();
                found.put(partition, new Offsets(lastStable, highWatermark));
            } catch (KafkaException e) {
                failure = e;
                unreported.add(partition);
                if (e instanceof UnknownTopicOrPartitionException) {
                    listTopicsNextTime();
                }
            }
        }
        if (found.isEmpty() && failure != null) {
            throw failure;
        }
        return new ObservedOffsets(found, unreported);
    }

    private List<TopicPartition> listPartitions() {
        Set<String> names =
                await(admin.listTopics().names()).stream().filter(topics).collect(Collectors.toUnmodifiableSet());
        List<TopicPartition> listed = new ArrayList<>();
        admin.describeTopics(names).topicNameValues().forEach((name, description) -> {
            try {
                await(description).partitions().forEach(info -> listed.add(new TopicPartition(name, info.partition())));
            } catch (UnknownTopicOrPartitionException e) {
                log.debug("{} was deleted during the request for its description", name);
            }
        });
        return listed;
    }

    @Override
    public Map<TopicPartition, OpenTransaction> openTransactions(Collection<StalledPartition> stalled) {
        Map<TopicPartition, ProducerState> producers = describeProducers(stalled);
        Map<Long, String> transactionalIds = listTransactionalIds(
                producers.values().stream().map(ProducerState::producerId).collect(Collectors.toSet()));
        Map<String, TransactionDescription> descriptions = describeTransactions(transactionalIds.values());
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
                                    : new CoordinatorReport(
                                            id,
                                            description.state(),
                                            Duration.ofMillis(description.transactionTimeoutMs()),
                                            description.topicPartitions().contains(partition))));
        });
        return open;
    }

    /** Returns, by stalled partition, the producer whose open transaction starts at the last stable offset. */
    private Map<TopicPartition, ProducerState> describeProducers(Collection<StalledPartition> stalled) {
        DescribeProducersResult described = admin.describeProducers(
                stalled.stream().map(StalledPartition::partition).toList());
        Map<TopicPartition, ProducerState> producers = new HashMap<>();
        for (StalledPartition stall : stalled) {
            try {
                await(described.partitionResult(stall.partition())).activeProducers().stream()
                        .filter(producer ->
                                producer.currentTransactionStartOffset().orElse(-1)
                                        == stall.offsets().lastStable())
                        .findFirst()
                        .ifPresent(producer -> producers.put(stall.partition(), producer));
            } catch (KafkaException e) {
                log.debug("Cannot describe the producers of {}", stall.partition(), e);
            }
        }
        return producers;
    }

    private Map<Long, String> listTransactionalIds(Set<Long> producerIds) {
        if (producerIds.isEmpty()) {
            return Map.of();
        }
        try {
            return await(admin.listTransactions(new ListTransactionsOptions().filterProducerIds(producerIds))
                            .all())
                    .stream()
                    .collect(Collectors.toMap(
                            TransactionListing::producerId,
                            TransactionListing::transactionalId,
                            (first, second) -> first));
        } catch (KafkaException e) {
            log.debug("Cannot list the transactional ids of producers {}", producerIds, e);
            return Map.of();
        }
    }

    private Map<String, TransactionDescription> describeTransactions(Collection<String> transactionalIds) {
        if (transactionalIds.isEmpty()) {
            return Map.of();
        }
        DescribeTransactionsResult described = admin.describeTransactions(transactionalIds);
        Map<String, TransactionDescription> descriptions = new HashMap<>();
        for (String id : transactionalIds) {
            try {
                descriptions.put(id, await(described.description(id)));
            } catch (KafkaException e) {
                log.debug("Cannot describe the transaction of {}", id, e);
            }
        }
        return descriptions;
    }

    @Override
    public Duration maxTimeout() {
        if (maxTimeout == null) {
            maxTimeout = readMaxTimeout();
        }
        return maxTimeout == null ? DEFAULT_MAX_TIMEOUT : maxTimeout;
    }

    /** Returns null if the brokers do not report the setting now. */
    private @Nullable Duration readMaxTimeout() {
        try {
            Node broker = await(admin.describeCluster().nodes()).iterator().next();
            ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, broker.idString());
            ConfigEntry entry = await(admin.describeConfigs(List.of(resource)).all())
                    .values()
                    .iterator()
                    .next()
                    .get(MAX_TIMEOUT_CONFIG);
            return entry == null || entry.value() == null ? null : Duration.ofMillis(Long.parseLong(entry.value()));
        } catch (KafkaException e) {
            log.debug("Cannot read the broker setting {}", MAX_TIMEOUT_CONFIG, e);
            return null;
        }
    }

    /** Waits for a response. The client times out first; the longer limit here is only a safeguard. */
    private static <T> T await(KafkaFuture<T> response) {
        try {
            return response.get(2 * AdminClients.REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
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
