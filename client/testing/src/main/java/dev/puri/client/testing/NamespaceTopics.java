package dev.puri.client.testing;

import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.log.Topics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Creates the events topics of namespaces that have their own topic. In a real cluster an administrator does this with
 * {@code puri topics create}.
 */
final class NamespaceTopics {
    private static final int TIMEOUT_SECONDS = 60;

    private NamespaceTopics() {}

    /** Creates the missing topics, with the number of partitions and the configuration of the shared events topic. */
    static void create(String bootstrapServers, List<? extends Declaration> declarations) {
        List<String> names = declarations.stream()
                .filter(declaration -> declaration instanceof Namespace namespace && namespace.ownsTopic())
                .map(declaration -> Topics.eventsTopicOf(declaration.key()))
                .toList();
        if (names.isEmpty()) {
            return;
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            Map<String, TopicDescription> described =
                    get(admin.describeTopics(List.of(Topics.EVENTS)).allTopicNames());
            int partitions = Objects.requireNonNull(described.get(Topics.EVENTS))
                    .partitions()
                    .size();
            Map<String, String> configuration = configurationOfEvents(admin);
            List<NewTopic> newTopics = names.stream()
                    .map(name -> new NewTopic(name, partitions, (short) 1).configs(configuration))
                    .toList();
            admin.createTopics(newTopics).values().values().forEach(NamespaceTopics::awaitTopic);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the topics " + names + " cannot be created: " + e, e);
        }
    }

    private static Map<String, String> configurationOfEvents(Admin admin) throws ExecutionException, TimeoutException {
        ConfigResource events = new ConfigResource(ConfigResource.Type.TOPIC, Topics.EVENTS);
        Map<String, String> configuration = new HashMap<>();
        get(admin.describeConfigs(List.of(events)).all())
                .values()
                .forEach(config -> config.entries().stream()
                        .filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
                        .forEach(entry -> configuration.put(entry.name(), entry.value())));
        return configuration;
    }

    private static void awaitTopic(KafkaFuture<Void> topic) {
        try {
            get(topic);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw new IllegalStateException("a topic cannot be created: " + e.getCause(), e);
            }
        } catch (TimeoutException e) {
            throw new IllegalStateException("a topic cannot be created within " + TIMEOUT_SECONDS + " s", e);
        }
    }

    private static <T> T get(KafkaFuture<T> future) throws ExecutionException, TimeoutException {
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while topics were created", e);
        }
    }
}
