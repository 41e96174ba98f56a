package dev.puri.projection.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.projection.transactions.OpenTransaction.CoordinatorReport;
import dev.puri.projection.transactions.StallTimer.ObservedOffsets;
import dev.puri.projection.transactions.StallTimer.Offsets;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminResults;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.DescribeProducersResult.PartitionProducerState;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListTransactionsResult;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reads transactions with an admin client that answers from memory. */
final class BrokerTransactionsTest {
    private static final TopicPartition ONE = new TopicPartition("followed", 0);
    private static final TopicPartition TWO = new TopicPartition("followed", 1);
    private static final TopicPartition OTHER = new TopicPartition("other", 0);
    private static final String ID = "puri-registry-1";
    private static final Instant LAST_WRITE = Instant.parse("2026-11-20T10:00:00Z");

    private long nanos = 5;
    private final FakeBrokers brokers = new FakeBrokers();
    private final BrokerTransactions transactions =
            new BrokerTransactions(brokers.admin(), "followed"::equals, () -> nanos);

    @Test
    void readsTheOffsetsOfTheFollowedTopics() {
        brokers.offsets.put(ONE, new Offsets(41, 43));
        brokers.offsets.put(TWO, new Offsets(7, 7));
        brokers.offsets.put(OTHER, new Offsets(1, 2));

        assertThat(transactions.offsets())
                .isEqualTo(new ObservedOffsets(Map.of(ONE, new Offsets(41, 43), TWO, new Offsets(7, 7)), Set.of()));
    }

    @Test
    void aPartitionWhoseLeaderDoesNotRespondIsUnreported() {
        brokers.offsets.put(ONE, new Offsets(41, 43));
        brokers.offsets.put(TWO, new Offsets(7, 7));
        brokers.offsetFailures.put(TWO, new LeaderNotAvailableException("no leader"));

        assertThat(transactions.offsets())
                .isEqualTo(new ObservedOffsets(Map.of(ONE, new Offsets(41, 43)), Set.of(TWO)));
    }

    @Test
    void failsIfNoPartitionIsReported() {
        brokers.offsets.put(ONE, new Offsets(41, 43));
        brokers.offsetFailures.put(ONE, new LeaderNotAvailableException("no leader"));

        assertThatThrownBy(transactions::offsets).isInstanceOf(LeaderNotAvailableException.class);
    }

    @Test
    void noFollowedTopicHasNoOffsets() {
        brokers.offsets.put(OTHER, new Offsets(1, 2));

        assertThat(transactions.offsets()).isEqualTo(new ObservedOffsets(Map.of(), Set.of()));
    }

    @Test
    void listsTheTopicsOnceAMinute() {
        brokers.offsets.put(ONE, new Offsets(1, 1));
        transactions.offsets();
        brokers.offsets.put(TWO, new Offsets(2, 2));
        nanos += Duration.ofSeconds(59).toNanos();
        assertThat(transactions.offsets().offsets()).containsOnlyKeys(ONE);

        nanos += Duration.ofSeconds(1).toNanos();

        assertThat(transactions.offsets().offsets()).containsOnlyKeys(ONE, TWO);
    }

    @Test
    void listsTheTopicsAgainIfAPartitionIsGone() {
        brokers.offsets.put(ONE, new Offsets(1, 1));
        brokers.offsets.put(TWO, new Offsets(2, 2));
        transactions.offsets();
        brokers.offsetFailures.put(TWO, new UnknownTopicOrPartitionException("gone"));
        assertThat(transactions.offsets().unreported()).containsExactly(TWO);
        brokers.offsets.remove(TWO);

        assertThat(transactions.offsets()).isEqualTo(new ObservedOffsets(Map.of(ONE, new Offsets(1, 1)), Set.of()));
    }

    @Test
    void aTopicThatIsDeletedWhileItIsDescribedIsNotFollowed() {
        brokers.offsets.put(ONE, new Offsets(1, 1));
        brokers.isDescriptionGone = true;

        assertThat(transactions.offsets()).isEqualTo(new ObservedOffsets(Map.of(), Set.of()));
    }

    @Test
    void findsTheTransactionThatStartsAtTheLastStableOffset() {
        brokers.producers.put(ONE, List.of(producer(8, 60), producer(7, 41), producer(9, null)));
        brokers.transactionalIds.put(7L, ID);
        brokers.descriptions.put(ID, description(TransactionState.ONGOING, ONE));

        assertThat(transactions.openTransactions(List.of(stalled(ONE, 41))))
                .isEqualTo(Map.of(
                        ONE,
                        new OpenTransaction(
                                7,
                                2,
                                LAST_WRITE,
                                new CoordinatorReport(ID, TransactionState.ONGOING, Duration.ofSeconds(60), true))));
    }

    @Test
    void aTransactionOfAnotherPartitionIsALaterOne() {
        brokers.producers.put(ONE, List.of(producer(7, 41)));
        brokers.transactionalIds.put(7L, ID);
        brokers.descriptions.put(ID, description(TransactionState.ONGOING, TWO));

        assertThat(report(ONE, 41))
                .isEqualTo(new CoordinatorReport(ID, TransactionState.ONGOING, Duration.ofSeconds(60), false));
    }

    @Test
    void aProducerWithoutATransactionalIdHasNoReport() {
        brokers.producers.put(ONE, List.of(producer(7, 41)));

        assertThat(report(ONE, 41)).isNull();
    }

    @Test
    void coordinatorsThatDoNotListTransactionsGiveNoReport() {
        brokers.producers.put(ONE, List.of(producer(7, 41)));
        brokers.listFailure = new ClusterAuthorizationException("not allowed");

        assertThat(report(ONE, 41)).isNull();
    }

    @Test
    void aTransactionThatThisPrincipalMayNotSeeHasNoReport() {
        brokers.producers.put(ONE, List.of(producer(7, 41)));
        brokers.transactionalIds.put(7L, ID);

        assertThat(report(ONE, 41)).isNull();
    }

    @Test
    void aPartitionWhoseProducersAreNotReportedIsLeftOut() {
        brokers.producers.put(TWO, List.of(producer(7, 41)));

        assertThat(transactions.openTransactions(List.of(stalled(ONE, 41), stalled(TWO, 41))))
                .containsOnlyKeys(TWO);
    }

    @Test
    void readsTheLongestTimeoutOnceFromABroker() {
        brokers.maxTimeoutMillis = "60000";
        assertThat(transactions.maxTimeout()).isEqualTo(Duration.ofMinutes(1));
        brokers.maxTimeoutMillis = "70000";

        assertThat(transactions.maxTimeout()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void assumesKafkasLongestTimeoutUntilABrokerReportsIts() {
        assertThat(transactions.maxTimeout()).isEqualTo(Duration.ofMinutes(15));
        brokers.maxTimeoutMillis = "60000";

        assertThat(transactions.maxTimeout()).isEqualTo(Duration.ofMinutes(1));
    }

    private @Nullable CoordinatorReport report(TopicPartition partition, long lastStable) {
        Map<TopicPartition, OpenTransaction> open =
                transactions.openTransactions(List.of(stalled(partition, lastStable)));
        assertThat(open).containsOnlyKeys(partition);
        return open.get(partition).report();
    }

    private static StalledPartition stalled(TopicPartition partition, long lastStable) {
        return new StalledPartition(partition, new Offsets(lastStable, lastStable + 9), Duration.ofSeconds(10));
    }

    private static ProducerState producer(long id, @Nullable Integer startOffset) {
        return new ProducerState(
                id,
                2,
                0,
                LAST_WRITE.toEpochMilli(),
                OptionalInt.empty(),
                startOffset == null ? OptionalLong.empty() : OptionalLong.of(startOffset));
    }

    private static TransactionDescription description(TransactionState state, TopicPartition partition) {
        return new TransactionDescription(0, state, 7, 2, 60_000, OptionalLong.empty(), Set.of(partition));
    }

    /** The responses of the brokers. A missing one is a failure. */
    private static final class FakeBrokers {
        private final Map<TopicPartition, Offsets> offsets = new LinkedHashMap<>();
        private final Map<TopicPartition, KafkaException> offsetFailures = new HashMap<>();
        private final Map<TopicPartition, List<ProducerState>> producers = new HashMap<>();
        private final Map<Long, String> transactionalIds = new HashMap<>();
        private final Map<String, TransactionDescription> descriptions = new HashMap<>();
        private @Nullable KafkaException listFailure;
        private @Nullable String maxTimeoutMillis;
        private boolean isDescriptionGone;

        Admin admin() {
            return (Admin) Proxy.newProxyInstance(
                    Admin.class.getClassLoader(),
                    new Class<?>[] {Admin.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "listTopics" ->
                            AdminResults.topics(offsets.keySet().stream()
                                    .map(TopicPartition::topic)
                                    .distinct()
                                    .toList());
                        case "describeTopics" -> describeTopics((Collection<?>) arguments[0]);
                        case "listOffsets" -> listOffsets((Map<?, ?>) arguments[0], (ListOffsetsOptions) arguments[1]);
                        case "describeProducers" ->
                            AdminResults.producers(responses(
                                    (Collection<?>) arguments[0],
                                    TopicPartition.class,
                                    partition -> producers.containsKey(partition)
                                            ? new PartitionProducerState(producers.get(partition))
                                            : null,
                                    new TopicAuthorizationException("not allowed")));
                        case "listTransactions" -> listTransactions();
                        case "describeTransactions" ->
                            AdminResults.descriptions(responses(
                                    (Collection<?>) arguments[0],
                                    String.class,
                                    descriptions::get,
                                    new TransactionalIdAuthorizationException("not allowed")));
                        case "describeCluster" -> AdminResults.cluster(new Node(3, "localhost", 9092));
                        case "describeConfigs" -> describeConfigs((Collection<?>) arguments[0]);
                        default -> throw new UnsupportedOperationException(method.getName());
                    });
        }

        private DescribeTopicsResult describeTopics(Collection<?> names) {
            return new DescribeTopicsResult(
                    null,
                    responses(
                            names,
                            String.class,
                            name -> isDescriptionGone ? null : description(name),
                            new UnknownTopicOrPartitionException("gone"))) {};
        }

        private TopicDescription description(String topic) {
            int count = (int) offsets.keySet().stream()
                    .filter(partition -> partition.topic().equals(topic))
                    .count();
            List<TopicPartitionInfo> partitions = IntStream.range(0, count)
                    .mapToObj(partition -> new TopicPartitionInfo(partition, null, List.of(), List.of()))
                    .toList();
            return new TopicDescription(topic, false, partitions);
        }

        private ListOffsetsResult listOffsets(Map<?, ?> specs, ListOffsetsOptions options) {
            Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> responses = new HashMap<>();
            for (Object requested : specs.keySet()) {
                TopicPartition partition = (TopicPartition) requested;
                KafkaException failure = offsetFailures.get(partition);
                Offsets found = offsets.getOrDefault(partition, new Offsets(0, 0));
                long offset = options.isolationLevel() == IsolationLevel.READ_COMMITTED
                        ? found.lastStable()
                        : found.highWatermark();
                responses.put(
                        partition,
                        failure == null
                                ? KafkaFuture.completedFuture(new ListOffsetsResultInfo(offset, -1, Optional.empty()))
                                : failed(failure));
            }
            return new ListOffsetsResult(responses);
        }

        private ListTransactionsResult listTransactions() {
            if (listFailure != null) {
                return AdminResults.transactionsFailed(listFailure);
            }
            List<TransactionListing> listings = new ArrayList<>();
            transactionalIds.forEach(
                    (producer, id) -> listings.add(new TransactionListing(id, producer, TransactionState.ONGOING)));
            return AdminResults.transactions(listings);
        }

        private DescribeConfigsResult describeConfigs(Collection<?> resources) {
            return new DescribeConfigsResult(responses(
                    resources,
                    ConfigResource.class,
                    resource -> maxTimeoutMillis == null
                            ? null
                            : new Config(List.of(new ConfigEntry("transaction.max.timeout.ms", maxTimeoutMillis))),
                    new ClusterAuthorizationException("not allowed"))) {};
        }

        private static <K, V> Map<K, KafkaFuture<V>> responses(
                Collection<?> keys, Class<K> type, Function<K, @Nullable V> response, KafkaException failure) {
            Map<K, KafkaFuture<V>> responses = new HashMap<>();
            for (Object requested : keys) {
                K key = type.cast(requested);
                V found = response.apply(key);
                responses.put(key, found == null ? failed(failure) : KafkaFuture.completedFuture(found));
            }
            return responses;
        }

        private static <V> KafkaFuture<V> failed(KafkaException failure) {
            KafkaFutureImpl<V> future = new KafkaFutureImpl<>();
            future.completeExceptionally(failure);
            return future;
        }
    }
}
