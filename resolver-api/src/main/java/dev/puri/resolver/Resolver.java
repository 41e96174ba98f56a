package dev.puri.resolver;

import dev.puri.http.CannotListenException;
import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Settings;
import dev.puri.resolver.wait.Answers;
import dev.puri.resolver.wait.ReadYourWrites;
import dev.puri.resolver.wait.Refusals;
import dev.puri.resolver.wait.Waiters;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A resolver: the identity table and its HTTP API. Any number may run, in one process too; each holds
 * the whole table.
 */
public final class Resolver implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Resolver.class);

    private final Metrics metrics;
    private final SchemaRegistry registry;
    private final TableKeeper keeper;
    private final Listener listener;

    /** Of this life only; null when the settings name a folder. */
    private final @Nullable Path temporary;

    private Resolver(
            Metrics metrics, SchemaRegistry registry, TableKeeper keeper, Listener listener, @Nullable Path temporary) {
        this.metrics = metrics;
        this.registry = registry;
        this.keeper = keeper;
        this.listener = listener;
        this.temporary = temporary;
    }

    /**
     * Starts a resolver; returns once it listens, while its table is still being filled. Brokers, topic
     * and schema registry need not be there yet: they are waited for, and {@code /health/ready} says so.
     *
     * @throws CannotListenException when the port cannot be bound
     * @throws ConfigException when the properties make no client of the schema registry
     */
    public static Resolver start(ResolverSettings settings) {
        log.info("Resolver with {}", Settings.effective(settings));
        Map<String, Object> registryConfig = new HashMap<>(settings.kafka().byName());
        registryConfig.put("schema.registry.url", settings.schemaRegistry());
        // The table waits itself, where it can be stopped and be seen to wait.
        registryConfig.put("max.retries", 0);
        SchemaRegistry registry = ConfluentSchemaRegistry.create(registryConfig);
        Metrics metrics = new Metrics();
        Map<String, String> kafka = settings.kafka().byName();
        Path temporary = settings.stateDir().isPresent() ? null : temporaryDir();
        Path stateDir = settings.stateDir().orElse(temporary);
        Answers answers = new Answers();
        Waiters waiters = new Waiters(settings.maxWaiters());
        TableKeeper keeper = new TableKeeper(
                () -> new IdentityTopic(kafka, settings.bootstrapServer()),
                TableKeeper.clients(
                        kafka,
                        settings.bootstrapServer(),
                        String.valueOf(stateDir),
                        registry,
                        answers,
                        waiters,
                        metrics.registry()),
                new Snapshots(settings.stateDir().orElse(null), settings.snapshotInterval(), InstantSource.system()),
                waiters,
                settings.maxLag(),
                settings.maxLagAge(),
                InstantSource.system(),
                metrics.registry());
        LookUps lookUps = new LookUps(
                keeper::table,
                keeper::progress,
                new ReadYourWrites(keeper::table, answers, Refusals.NONE, waiters, keeper::partitions),
                new LookUps.Terms(settings.maxRefs(), settings.maxWait()),
                metrics.registry());
        Health health = new Health();
        health.add(Health.Kind.STARTED, "table", keeper::started);
        health.add(Health.Kind.READY, "table", keeper::ready);
        try {
            Listener listener = Listener.start(
                    ListenerOptions.at(settings.httpHost(), settings.httpPort())
                            .withMaxBodyBytes(settings.maxBodyBytes())
                            .with(settings.http()),
                    Routes.of(lookUps, health, metrics),
                    metrics);
            keeper.start();
            log.info("Resolver listens on {}:{}", settings.httpHost(), listener.port());
            return new Resolver(metrics, registry, keeper, listener, temporary);
        } catch (CannotListenException e) {
            registry.close();
            metrics.close();
            throw e;
        }
    }

    /** The port that it listens on, also when any free one was asked for. */
    public int port() {
        return listener.port();
    }

    /** Whether {@code /health/ready} is up: the table is complete, fed and close to its topic's end. */
    public boolean isReady() {
        return keeper.isReady();
    }

    /** Answers what is under way, then stops; takes no longer than about half a minute. */
    @Override
    public void close() {
        try {
            listener.close();
        } finally {
            keeper.close();
            registry.close();
            metrics.close();
            if (temporary != null) {
                delete(temporary);
            }
        }
    }

    /** Kafka Streams wants a folder; two clients must not share one. */
    private static Path temporaryDir() {
        return Path.of(System.getProperty("java.io.tmpdir"), "puri-resolver-" + UUID.randomUUID());
    }

    private static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            log.warn("{} cannot be deleted: {}", folder, e.toString());
        }
    }
}
