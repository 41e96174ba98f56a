package org.apache.kafka.clients.admin;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.DescribeProducersResult.PartitionProducerState;
import org.apache.kafka.clients.admin.internals.CoordinatorKey;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.internals.KafkaFutureImpl;

/** Creates results of an admin client. It is in Kafka's package, because their constructors are not public. */
public final class AdminResults {
    private AdminResults() {}

    public static ListTopicsResult topics(Collection<String> names) {
        Map<String, TopicListing> listings = new HashMap<>();
        names.forEach(name -> listings.put(name, new TopicListing(name, null, false)));
        return new ListTopicsResult(KafkaFuture.completedFuture(listings));
    }

    public static DescribeProducersResult producers(
            Map<TopicPartition, KafkaFuture<PartitionProducerState>> producers) {
        return new DescribeProducersResult(producers);
    }

    /**
     * @param listings the transactions of one broker
     */
    public static ListTransactionsResult transactions(Collection<TransactionListing> listings) {
        KafkaFutureImpl<Collection<TransactionListing>> ofBroker = new KafkaFutureImpl<>();
        ofBroker.complete(listings);
        return new ListTransactionsResult(KafkaFuture.completedFuture(Map.of(0, ofBroker)));
    }

    /**
     * @param failure of the request to all brokers
     */
    public static ListTransactionsResult transactionsFailed(Throwable failure) {
        KafkaFutureImpl<Map<Integer, KafkaFutureImpl<Collection<TransactionListing>>>> failed = new KafkaFutureImpl<>();
        failed.completeExceptionally(failure);
        return new ListTransactionsResult(failed);
    }

    /**
     * @param descriptions by transactional id
     */
    public static DescribeTransactionsResult descriptions(
            Map<String, KafkaFuture<TransactionDescription>> descriptions) {
        Map<CoordinatorKey, KafkaFuture<TransactionDescription>> byKey = new HashMap<>();
        descriptions.forEach((id, description) -> byKey.put(CoordinatorKey.byTransactionalId(id), description));
        return new DescribeTransactionsResult(byKey);
    }

    public static DescribeClusterResult cluster(Node broker) {
        return new DescribeClusterResult(
                KafkaFuture.completedFuture(List.of(broker)),
                KafkaFuture.completedFuture(broker),
                KafkaFuture.completedFuture("cluster"),
                KafkaFuture.completedFuture(null));
    }
}
