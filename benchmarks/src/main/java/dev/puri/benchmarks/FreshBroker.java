package dev.puri.benchmarks;

import dev.puri.embedded.EmbeddedBroker;
import dev.puri.registry.RegistryTopics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

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

    static void delete(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }
}
