package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.http.HttpSettings;
import dev.puri.schemas.log.Topics;
import dev.puri.settings.KafkaProperties;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryTopicsIT {
    private static final String APPLICATION = "puri-registry";

    private RestartableBroker broker;
    private Admin admin;

    @BeforeEach
    void start() {
        broker = Broker.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void createdTopicsPassTheCheck() {
        List<RegistryTopics.TopicState> made = RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        assertThat(made).allMatch(RegistryTopics.TopicState::isNew).hasSize(7);
        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty();
        assertThat(RegistryTopics.create(admin, 3, (short) 1, Set.of("music")))
                .noneMatch(RegistryTopics.TopicState::isNew);
        assertThat(RegistryTopics.partitions(admin)).isEqualTo(3);
    }

    @Test
    void reportsMissingTopics() {
        assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                .hasSize(6)
                .allMatch(mistake -> mistake.contains("puri topics create"))
                .anyMatch(mistake -> mistake.startsWith(Topics.GRANTS));
    }

    @Test
    void reportsEveryMistakeWithItsRemedy() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        configure(Topics.IDENTITIES, "cleanup.policy", "delete");
        configure(Topics.EVENTS, "retention.ms", "-1");
        configure(Topics.COLLECTIONS, "delete.retention.ms", "1000");
        admin.createPartitions(Map.of(Topics.GRANTS, NewPartitions.increaseTo(5)))
                .all()
                .get(20, TimeUnit.SECONDS);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> RegistryTopics.check(admin, APPLICATION, 1).stream()
                        .anyMatch(m -> m.startsWith(Topics.GRANTS + " has 5 partitions")));
        assertThat(RegistryTopics.check(admin, APPLICATION, 3))
                .anyMatch(m -> m.contains("cleanup.policy=delete") && m.contains("--add-config cleanup.policy=compact"))
                .anyMatch(m -> m.contains("retention.ms=-1") && m.contains("at most"))
                .anyMatch(m -> m.contains("delete.retention.ms=1000") && m.contains("at least"))
                .anyMatch(m -> m.startsWith(Topics.GRANTS + " has 5 partitions and must have 3"))
                .anyMatch(m -> m.contains("replication factor 1 and must have at least 3"));
    }

    @Test
    void createChangesEventsTopicsThatStoreCompressedBatches() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        configure(Topics.EVENTS, "compression.type", "producer");
        configure(Topics.eventsTopicOf("music"), "compression.type", "zstd");
        configure(Topics.eventsTopicOf("music"), "max.message.bytes", "100000000");
        assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                .hasSize(3)
                .anyMatch(m -> m.startsWith(Topics.EVENTS + " has compression.type=producer"))
                .anyMatch(m -> m.contains("--topic puri.events.v1.music --add-config compression.type=uncompressed"))
                .anyMatch(m -> m.contains("max.message.bytes=100000000 and must have at most"));

        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() ->
                        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty());
    }

    @Test
    void comparesPartitionsWithThoseOfTheChangelogs() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        admin.createTopics(List.of(new NewTopic(
                        APPLICATION + "-" + RegistryTopology.REGISTRATIONS_STORE + "-changelog",
                        Optional.of(2),
                        Optional.empty())))
                .all()
                .get(20, TimeUnit.SECONDS);
        // A broker may learn of the new topic a moment later.
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                        .singleElement()
                        .asString()
                        .contains("has 3 partitions and had 2"));
    }

    @Test
    void aWrongTopicEndsTheServiceWithARemedy(@TempDir Path stateDir) throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        configure(Topics.IDENTITIES, "cleanup.policy", "delete");
        RegistryStreams streams = RegistryStreams.start(new StreamsSettings(
                broker.bootstrapServers(),
                SchemaRegistryFixture.shared().url(),
                APPLICATION,
                stateDir,
                1,
                0,
                Duration.ofMillis(25),
                1,
                64,
                "127.0.0.1",
                0,
                HttpSettings.DEFAULT,
                KafkaProperties.NONE));
        try {
            assertThatThrownBy(() ->
                            streams.ended().orTimeout(60, TimeUnit.SECONDS).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(WrongTopicsException.class)
                    .hasMessageContaining("cleanup.policy=compact");
            assertThat(streams.isReady()).isFalse();
        } finally {
            streams.close();
        }
    }

    /** Changes a configuration and waits until the broker returns the new value. */
    private void configure(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        admin.incrementalAlterConfigs(Map.of(
                        resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
                .all()
                .get(20, TimeUnit.SECONDS);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> admin.describeConfigs(List.of(resource))
                        .values()
                        .get(resource)
                        .get(20, TimeUnit.SECONDS)
                        .get(name)
                        .value()
                        .equals(value));
    }
}
