package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.http.HttpSettings;
import dev.puri.schemas.log.Topics;
import dev.puri.settings.KafkaProperties;
import dev.puri.testkit.Broker;
import dev.puri.testkit.DeletedRecords;
import dev.puri.testkit.RestartableBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryTopicsIT {
    /** Generous, because other classes run at the same time. */
    private static final Duration SOON = Duration.ofSeconds(60);

    private static final String APPLICATION = "puri-registry";

    private static final Pattern ALTER_COMMAND =
            Pattern.compile(": kafka-configs .*--alter --topic (\\S+) --add-config ([^=]+)=(\\S+)");

    private static final Pattern DELETE_COMMAND =
            Pattern.compile(": kafka-configs .*--alter --topic (\\S+) --delete-config (\\S+)");

    @TempDir
    private Path stateDir;

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

    /** A value that differs from the created one, and what the message says of the right one. */
    private record Difference(String topic, String config, String value, String expectation) {}

    private static List<Difference> differences() {
        String changelog = APPLICATION + "-" + RegistryTopology.REGISTRATIONS_STORE + "-changelog";
        String repartition = APPLICATION + "-" + RegistryTopology.REPARTITION_TOPICS.getFirst();
        List<Difference> differences = new ArrayList<>();
        for (String topic : List.of(Topics.EVENTS, "puri.events.v1.music", Topics.REJECTIONS)) {
            differences.add(new Difference(topic, "message.timestamp.type", "CreateTime", "must have LogAppendTime"));
        }
        for (String topic : List.of(Topics.EVENTS, "puri.events.v1.music")) {
            differences.add(new Difference(topic, "compression.type", "producer", "must have uncompressed"));
            differences.add(new Difference(topic, "max.message.bytes", "100000000", "at most 1048588"));
        }
        for (String topic :
                List.of(Topics.EVENTS, "puri.events.v1.music", Topics.REJECTIONS, Topics.GRANTS, repartition)) {
            differences.add(new Difference(topic, "cleanup.policy", "compact", "must have delete"));
            differences.add(new Difference(topic, "cleanup.policy", "compact,delete", "must have delete"));
            differences.add(new Difference(topic, "retention.ms", "-1", "must have "));
            differences.add(new Difference(topic, "retention.ms", "1000", "must have "));
            differences.add(new Difference(topic, "retention.bytes", "1000000", "must have -1"));
            differences.add(new Difference(topic, "segment.ms", "999999999999", "must have at most"));
        }
        for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
            differences.add(new Difference(topic, "min.compaction.lag.ms", "0", "at least 300000"));
        }
        for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS, Topics.COLLECTIONS, changelog)) {
            differences.add(new Difference(topic, "cleanup.policy", "delete", "must have compact"));
            differences.add(new Difference(topic, "cleanup.policy", "compact,delete", "must have compact"));
            differences.add(new Difference(topic, "max.compaction.lag.ms", "9223372036854775807", "at most 86400000"));
            differences.add(new Difference(topic, "segment.ms", "604800000", "at most 86400000"));
            differences.add(new Difference(topic, "delete.retention.ms", "1000", "at least 604800000"));
            differences.add(new Difference(topic, "delete.retention.ms", "99999999999", "at most 1209600000"));
        }
        for (String topic : List.of(Topics.EVENTS, Topics.IDENTITIES, Topics.GRANTS, changelog, repartition)) {
            differences.add(new Difference(topic, "unclean.leader.election.enable", "true", "must have false"));
            differences.add(new Difference(topic, "max.message.bytes", "1000", "must have at least 262144"));
            differences.add(new Difference(
                    topic, "min.insync.replicas", "2", "only 1 replica, so that nothing can be written"));
        }
        return differences;
    }

    @Test
    void everyDifferenceIsReportedWithTheCommandThatRepairsIt() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        createInternalTopics();
        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty();
        for (Difference difference : differences()) {
            configure(difference.topic(), difference.config(), difference.value());
            String mistake = RegistryTopics.check(admin, APPLICATION, 1).stream()
                    .reduce((one, other) -> one + "\n" + other)
                    .orElse("");
            assertThat(mistake)
                    .startsWith(difference.topic() + " has " + difference.config() + "=" + difference.value())
                    .contains(difference.expectation());
            Matcher command = ALTER_COMMAND.matcher(mistake);
            assertThat(command.find()).as(mistake).isTrue();
            configure(command.group(1), command.group(2), command.group(3));
            assertThat(RegistryTopics.check(admin, APPLICATION, 1)).as(mistake).isEmpty();
        }
    }

    /** Configs with which the topics are not created. */
    private static List<Difference> overrides() {
        String changelog = RegistrarChangelogs.textsTopic(APPLICATION);
        String repartition = APPLICATION + "-" + RegistryTopology.REPARTITION_TOPICS.getFirst();
        return List.of(
                new Difference(changelog, "min.compaction.lag.ms", "3600000", "does not set"),
                new Difference(Topics.COLLECTIONS, "min.compaction.lag.ms", "3600000", "does not set"),
                new Difference(Topics.IDENTITIES, "message.timestamp.type", "LogAppendTime", "does not set"),
                new Difference(Topics.IDENTITIES, "retention.ms", "1000", "does not set"),
                new Difference(Topics.DOCUMENTS, "message.timestamp.before.max.ms", "1000", "does not set"),
                new Difference(Topics.GRANTS, "message.timestamp.type", "LogAppendTime", "does not set"),
                new Difference(Topics.EVENTS, "max.compaction.lag.ms", "1000", "does not set"),
                new Difference("puri.events.v1.music", "file.delete.delay.ms", "999999999999", "does not set"),
                new Difference(repartition, "file.delete.delay.ms", "999999999999", "does not set"));
    }

    @Test
    void everyOverrideIsReportedWithTheCommandThatRemovesIt() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        createInternalTopics();
        assertThat(RegistryTopics.toleratedDifferences(admin, APPLICATION)).isEmpty();
        for (Difference override : overrides()) {
            configure(override.topic(), override.config(), override.value());
            assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                    .as("the topology tolerates it")
                    .isEmpty();
            String difference = String.join("\n", RegistryTopics.toleratedDifferences(admin, APPLICATION));
            assertThat(difference)
                    .startsWith(override.topic() + " has " + override.config() + "=" + override.value())
                    .contains(override.expectation());
            Matcher command = DELETE_COMMAND.matcher(difference);
            assertThat(command.find()).as(difference).isTrue();
            removeConfig(command.group(1), command.group(2));
            assertThat(RegistryTopics.toleratedDifferences(admin, APPLICATION))
                    .as(difference)
                    .isEmpty();
        }
    }

    @Test
    void acceptsOverridesOfOperators() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        createInternalTopics();
        for (String topic : List.of(Topics.EVENTS, "puri.events.v1.music", Topics.IDENTITIES)) {
            configure(topic, "leader.replication.throttled.replicas", "*");
            configure(topic, "follower.replication.throttled.replicas", "*");
            configure(topic, "min.insync.replicas", "1");
            configure(topic, "segment.bytes", "104857600");
            configure(topic, "flush.messages", "1000");
        }
        configure(Topics.EVENTS, "retention.ms", "86400000");
        String changelog = RegistrarChangelogs.registrationsTopic(APPLICATION);
        configure(changelog, "compression.type", "zstd");
        // The value that applies without the override.
        configure(changelog, "min.compaction.lag.ms", "0");
        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty();
        assertThat(RegistryTopics.toleratedDifferences(admin, APPLICATION)).isEmpty();
    }

    @Test
    void comparesPartitionsOfNamespaceTopicsWithTheSharedOne() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        RegistryTopics.create(admin, 2, (short) 1, Set.of("few"));
        RegistryTopics.create(admin, 5, (short) 1, Set.of("many"));
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                .as("the topology reads any number")
                .isEmpty();
        assertThat(RegistryTopics.toleratedDifferences(admin, APPLICATION))
                .hasSize(2)
                .anyMatch(m -> m.startsWith("puri.events.v1.few has 2 partitions, and puri.events.v1 has 3; add ")
                        && m.endsWith("--alter --topic puri.events.v1.few --partitions 3"))
                .anyMatch(m -> m.startsWith("puri.events.v1.many has 5 partitions, and puri.events.v1 has 3; the ")
                        && m.contains("recreate"));
    }

    @Test
    void reportsDeletedRecordsOfTopicsThatAreCopied() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        createInternalTopics();
        String changelog = APPLICATION + "-" + RegistryTopology.HANDLES_STORE + "-changelog";
        String repartition = APPLICATION + "-" + RegistryTopology.REPARTITION_TOPICS.getLast();
        List<String> copied = List.of(Topics.IDENTITIES, Topics.DOCUMENTS, Topics.COLLECTIONS, changelog);
        for (String topic : copied) {
            write(topic);
        }
        assertThat(InternalTopics.checkTruncation(admin, APPLICATION)).isEmpty();
        for (String topic : copied) {
            DeletedRecords.deleteAll(admin, topic);
        }
        for (String topic : List.of(Topics.EVENTS, Topics.GRANTS, Topics.REJECTIONS, repartition)) {
            write(topic);
            DeletedRecords.deleteAll(admin, topic);
        }
        assertThat(InternalTopics.checkTruncation(admin, APPLICATION))
                .hasSize(4)
                .allMatch(m -> m.matches("records of partition \\d of \\S+ before offset 1 were deleted.*"))
                .anyMatch(m -> m.contains(" of " + Topics.IDENTITIES) && m.contains("\"Deleted records\""))
                .anyMatch(m -> m.contains(" of " + Topics.DOCUMENTS) && m.contains("\"Deleted records\""))
                .anyMatch(m -> m.contains(" of " + Topics.COLLECTIONS) && m.contains("apply the declarations again"))
                .anyMatch(m -> m.contains(" of " + changelog) && m.contains("\"Changelogs lost\""));
        assertThat(InternalTopics.checkTruncationOfState(admin, APPLICATION))
                .hasSize(2)
                .noneMatch(m -> m.contains(Topics.IDENTITIES) || m.contains(Topics.DOCUMENTS));
    }

    @Test
    void acceptsValuesThatAreAsSafe() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        configure(Topics.EVENTS, "retention.ms", "604800000");
        configure(Topics.EVENTS, "max.message.bytes", "524288");
        configure(Topics.IDENTITIES, "max.compaction.lag.ms", "3600000");
        configure(Topics.IDENTITIES, "min.compaction.lag.ms", "600000");
        configure(Topics.IDENTITIES, "delete.retention.ms", "864000000");
        configure(Topics.IDENTITIES, "segment.bytes", "104857600");
        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty();
    }

    @Test
    void reportsPartitionsWithFewerReplicas() {
        ClusterTopic topic =
                new ClusterTopic("t", new TreeMap<>(Map.of(0, 3, 1, 2, 2, 3, 3, 2)), new Config(List.of()));
        assertThat(topic.replicationFactor()).isEqualTo(2);
        assertThat(topic.isEvenlyReplicated()).isFalse();
        assertThat(topic.leastReplicatedPartitions()).isEqualTo("1,3");
    }

    @Test
    void reportsALostChangelogAndEveryOtherMistakeBesideMissingTopics() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        assertThat(InternalTopics.checkChangelogs(admin, APPLICATION)).isEmpty();
        createInternalTopics();
        assertThat(InternalTopics.checkChangelogs(admin, APPLICATION)).isEmpty();
        String changelog = APPLICATION + "-" + RegistryTopology.HANDLES_STORE + "-changelog";
        admin.deleteTopics(List.of(changelog, Topics.DOCUMENTS)).all().get(SOON.toSeconds(), TimeUnit.SECONDS);
        configure(Topics.IDENTITIES, "cleanup.policy", "delete");
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                        .hasSize(2)
                        .anyMatch(m -> m.startsWith(Topics.DOCUMENTS + " is missing"))
                        .anyMatch(m -> m.startsWith(Topics.IDENTITIES + " has cleanup.policy=delete")));
        assertThat(InternalTopics.checkChangelogs(admin, APPLICATION))
                .singleElement()
                .asString()
                .startsWith(changelog + " is missing, although the topology puri-registry has run");
    }

    private void write(String topic) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(topic, new byte[] {1}, null)).get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void changelogsAreLostIfThereAreIdentitiesButNoInternalTopic() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        assertThat(InternalTopics.checkChangelogsOfIdentities(admin, APPLICATION))
                .isEmpty();
        write(Topics.IDENTITIES);
        assertThat(InternalTopics.checkChangelogsOfIdentities(admin, APPLICATION))
                .hasSameSizeAs(RegistryTopology.CHANGELOG_STORES)
                .isEqualTo(InternalTopics.checkChangelogs(admin, APPLICATION));

        assertThat(InternalTopics.createChangelogs(admin, APPLICATION, (short) 1))
                .hasSameSizeAs(RegistryTopology.CHANGELOG_STORES);
        assertThat(InternalTopics.checkChangelogsOfIdentities(admin, APPLICATION))
                .isEmpty();
        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty();
    }

    /** Creates the internal topics with the properties that the topology gives to Kafka Streams. */
    private void createInternalTopics() throws Exception {
        Map<String, String> configs = new HashMap<>();
        StreamsProperties.of(settings(stateDir)).forEach((name, value) -> {
            if (name.toString().startsWith(StreamsConfig.TOPIC_PREFIX)) {
                configs.put(name.toString().substring(StreamsConfig.TOPIC_PREFIX.length()), value.toString());
            }
        });
        List<NewTopic> topics = InternalTopics.names(APPLICATION)
                .map(name -> {
                    Map<String, String> all = new HashMap<>(configs);
                    all.put("cleanup.policy", name.endsWith("-changelog") ? "compact" : "delete");
                    return new NewTopic(name, Optional.of(3), Optional.empty()).configs(all);
                })
                .toList();
        admin.createTopics(topics).all().get(SOON.toSeconds(), TimeUnit.SECONDS);
        await().atMost(SOON)
                .until(() -> admin.listTopics()
                        .names()
                        .get(SOON.toSeconds(), TimeUnit.SECONDS)
                        .containsAll(topics.stream().map(NewTopic::name).toList()));
    }

    @Test
    void reportsEveryMistakeWithItsRemedy() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        configure(Topics.IDENTITIES, "cleanup.policy", "delete");
        configure(Topics.EVENTS, "retention.ms", "-1");
        configure(Topics.COLLECTIONS, "delete.retention.ms", "1000");
        admin.createPartitions(Map.of(Topics.GRANTS, NewPartitions.increaseTo(5)))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        await().atMost(SOON)
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
                .anyMatch(m -> m.contains("max.message.bytes=100000000 and must have at least 262144 and"));

        assertThat(RegistryTopics.create(admin, 3, (short) 1, Set.of()))
                .filteredOn(topic -> topic.name().equals(Topics.EVENTS))
                .flatExtracting(RegistryTopics.TopicState::changes)
                .containsExactly("compression.type=uncompressed (was producer)");
        await().atMost(SOON)
                .untilAsserted(() ->
                        assertThat(RegistryTopics.check(admin, APPLICATION, 1)).isEmpty());
    }

    @Test
    void comparesPartitionsWithThoseOfTheChangelogs() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        admin.createTopics(List.of(new NewTopic(
                                APPLICATION + "-" + RegistryTopology.REGISTRATIONS_STORE + "-changelog",
                                Optional.of(2),
                                Optional.empty())
                        .configs(Map.of(
                                "cleanup.policy",
                                "compact",
                                "max.compaction.lag.ms",
                                "86400000",
                                "segment.ms",
                                "86400000",
                                "delete.retention.ms",
                                "604800000"))))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        awaitOnlyMistake(mistake -> mistake.contains("has 3 partitions and had 2"));
    }

    @Test
    void blamesTheEventsTopicIfAllOtherTopicsHaveAnotherNumberOfPartitions() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of("music"));
        createInternalTopics();
        admin.createPartitions(Map.of(Topics.EVENTS, NewPartitions.increaseTo(5)))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        awaitOnlyMistake(mistake -> mistake.startsWith(
                        "puri.events.v1 has 5 partitions, and all other topics that are keyed by pURI have 3:")
                .contains("delete puri.events.v1 and create it with puri topics create"));
        assertThat(RegistryTopics.toleratedDifferences(admin, APPLICATION))
                .as("puri.events.v1.music must not become like the events topic")
                .isEmpty();
    }

    /** Waits until the check finds exactly one mistake as expected: a broker may learn of a change a moment later. */
    private void awaitOnlyMistake(Consumer<AbstractStringAssert<?>> expectation) {
        await().atMost(SOON)
                .untilAsserted(() -> expectation.accept(assertThat(RegistryTopics.check(admin, APPLICATION, 1))
                        .singleElement()
                        .asString()));
    }

    @Test
    void aWrongTopicEndsTheServiceWithARemedy() throws Exception {
        RegistryTopics.create(admin, 3, (short) 1, Set.of());
        configure(Topics.IDENTITIES, "cleanup.policy", "delete");
        RegistryStreams streams = RegistryStreams.start(settings(stateDir));
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

    private StreamsSettings settings(Path stateDir) {
        return new StreamsSettings(
                broker.bootstrapServers(),
                RegistryStack.sharedSchemaRegistry(),
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
                KafkaProperties.NONE);
    }

    /** Changes a configuration and waits until the broker returns the new value. */
    private void configure(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        admin.incrementalAlterConfigs(Map.of(
                        resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        await().atMost(SOON)
                .until(() -> admin.describeConfigs(List.of(resource))
                        .values()
                        .get(resource)
                        .get(SOON.toSeconds(), TimeUnit.SECONDS)
                        .get(name)
                        .value()
                        .equals(value));
    }

    /** Removes a configuration and waits until the broker no longer has it. */
    private void removeConfig(String topic, String name) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        admin.incrementalAlterConfigs(Map.of(
                        resource, List.of(new AlterConfigOp(new ConfigEntry(name, ""), AlterConfigOp.OpType.DELETE))))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        await().atMost(SOON)
                .until(() -> admin.describeConfigs(List.of(resource))
                                .values()
                                .get(resource)
                                .get(SOON.toSeconds(), TimeUnit.SECONDS)
                                .get(name)
                                .source()
                        != ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
    }
}
