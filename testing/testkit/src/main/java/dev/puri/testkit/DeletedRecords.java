package dev.puri.testkit;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;

/** Deletes the records of topics, as an operator does who takes a topic for another. */
public final class DeletedRecords {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private DeletedRecords() {}

    /** Deletes all records of a topic. Its cleanup policy is the same afterwards. */
    public static void deleteAll(Admin admin, String topic) throws ExecutionException, InterruptedException {
        Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
        Objects.requireNonNull(admin.describeTopics(List.of(topic))
                        .allTopicNames()
                        .get()
                        .get(topic))
                .partitions()
                .forEach(partition ->
                        all.put(new TopicPartition(topic, partition.partition()), RecordsToDelete.beforeOffset(-1)));
        String policy = cleanupPolicy(admin, topic);
        boolean isCompacted = policy.equals(TopicConfig.CLEANUP_POLICY_COMPACT);
        if (isCompacted) {
            // Brokers delete records only if the policy contains delete.
            setCleanupPolicy(admin, topic, "compact,delete");
        }
        // Brokers apply the new policy after a moment.
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .untilAsserted(() -> admin.deleteRecords(all).all().get());
        if (isCompacted) {
            setCleanupPolicy(admin, topic, policy);
        }
    }

    private static void setCleanupPolicy(Admin admin, String topic, String policy)
            throws ExecutionException, InterruptedException {
        ConfigEntry entry = new ConfigEntry(TopicConfig.CLEANUP_POLICY_CONFIG, policy);
        admin.incrementalAlterConfigs(
                        Map.of(resource(topic), List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                .all()
                .get();
        await().atMost(TIMEOUT).until(() -> cleanupPolicy(admin, topic).equals(policy));
    }

    private static String cleanupPolicy(Admin admin, String topic) throws ExecutionException, InterruptedException {
        return Objects.requireNonNull(admin.describeConfigs(List.of(resource(topic)))
                        .all()
                        .get()
                        .get(resource(topic)))
                .get(TopicConfig.CLEANUP_POLICY_CONFIG)
                .value();
    }

    private static ConfigResource resource(String topic) {
        return new ConfigResource(ConfigResource.Type.TOPIC, topic);
    }
}
