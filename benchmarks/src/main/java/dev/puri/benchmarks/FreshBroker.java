package dev.puri.benchmarks;

import dev.puri.embedded.EmbeddedBroker;
import dev.puri.registry.RegistryTopics;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * A broker in this process with the registry's topics and nothing in them, in a directory that goes
 * when it closes. Every run gets one, so that none inherits another's records or caches.
 */
final class FreshBroker implements AutoCloseable {
    static final int PARTITIONS = RegistryTopics.DEFAULT_PARTITIONS;

    private final Path directory;
    private final EmbeddedBroker broker;
    private final Admin admin;

    private FreshBroker(Path directory, EmbeddedBroker broker, Admin admin) {
        this.directory = directory;
        this.broker = broker;
        this.admin = admin;
    }

    static FreshBroker start() {
        Path directory = newDirectory();
        EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("broker"), 0);
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        RegistryTopics.create(admin, PARTITIONS, (short) 1, Set.of());
        return new FreshBroker(directory, broker, admin);
    }

    String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** Where a topology may keep its stores. */
    Path directory(String name) {
        return directory.resolve(name);
    }

    void createTopic(String name, Map<String, String> configs) throws Exception {
        admin.createTopics(List.of(new NewTopic(name, PARTITIONS, (short) 1).configs(configs)))
                .all()
                .get();
    }

    /** Tells the identities topic from any other of its name. */
    Uuid identitiesId() throws Exception {
        return Objects.requireNonNull(admin.describeTopics(List.of(Topics.IDENTITIES))
                        .allTopicNames()
                        .get()
                        .get(Topics.IDENTITIES))
                .topicId();
    }

    /** Where each partition of the identities topic ends now. */
    Map<Integer, Long> identitiesEnds() throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            asked.put(new TopicPartition(Topics.IDENTITIES, partition), OffsetSpec.latest());
        }
        Map<Integer, Long> ends = new TreeMap<>();
        admin.listOffsets(asked).all().get().forEach((partition, end) -> ends.put(partition.partition(), end.offset()));
        return ends;
    }

    /** Bytes of all logs now, in-flight ones of the broker itself included. */
    long bytesLogged() throws Exception {
        return admin
                .describeLogDirs(admin.describeCluster().nodes().get().stream()
                        .map(node -> node.id())
                        .toList())
                .allDescriptions()
                .get()
                .values()
                .stream()
                .flatMap(dirs -> dirs.values().stream())
                .flatMap(dir -> dir.replicaInfos().values().stream())
                .mapToLong(replica -> replica.size())
                .sum();
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
        broker.close();
        delete(directory);
    }

    static Path newDirectory() {
        try {
            return Files.createTempDirectory("puri-bench");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** With all that is in it, if it is there. */
    static void delete(Path directory) {
        if (Files.notExists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }
}
