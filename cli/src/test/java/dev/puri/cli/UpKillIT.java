package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.CollectionRegistry;
import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code puri up} is killed as by {@code kill -9} while events flow, or while it starts, and started again in its
 * directory. {@code -Dpuri.kills=N -Dpuri.kills.seed=SEED} says how often and at which points; the profile {@code
 * nightly} kills 30 times, from a seed that is new each time.
 */
@Order(1)
class UpKillIT {
    private static final int KILLS = Integer.getInteger("puri.kills", 5);
    private static final long SEED = Long.getLong("puri.kills.seed", 1);

    /** One of this number of kills happens during the start. */
    private static final int STARTS_KILLED = 5;

    private static final int LONGEST_START_MILLIS = 8_000;
    private static final int SHORTEST_LOAD_MILLIS = 200;
    private static final int LONGEST_LOAD_MILLIS = 4_000;

    /** If there is no new outcome for this time, the missing outcomes are lost. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final Owner OWNER = new Owner("catalog");
    private static final List<Shard> SHARDS = List.of(new Shard("br-1"), new Shard("us-1"), new Shard("eu-1"));

    private final Random random = new Random(SEED);
    private final Set<Position> acknowledged = ConcurrentHashMap.newKeySet();
    private final Map<Position, Integer> answers = new HashMap<>();

    @TempDir
    private Path folder;

    @Test
    void everyEventHasOneOutcomeAndEveryStartBecomesReadyAfterKills() throws Exception {
        System.out.println("puri up is killed " + KILLS + " times, seed " + SEED);
        List<String> starts = new ArrayList<>();
        Duration worst = Duration.ZERO;
        for (int killed = 0; killed <= KILLS; killed++) {
            if (killed > 0 && killed < KILLS && random.nextInt(STARTS_KILLED) == 0) {
                killWhileItStarts(random.nextInt(LONGEST_START_MILLIS));
                killed++;
            }
            Path errors = folder.resolve("errors-" + killed);
            long started = System.nanoTime();
            try (PuriProcess up = up(errors)) {
                Map<String, String> environment = up.environment(errors);
                Duration took = Duration.ofNanos(System.nanoTime() - started);
                if (killed > 0) {
                    worst = took.compareTo(worst) > 0 ? took : worst;
                    starts.add(took.toMillis() + " ms");
                } else {
                    declareCollections(environment);
                }
                if (killed < KILLS) {
                    publishAndKill(up, environment);
                }
                if (killed == KILLS) {
                    awaitEveryAnswer(environment);
                }
            }
        }
        System.out.println("puri up was ready again after " + starts + ", at worst " + worst.toMillis() + " ms; "
                + acknowledged.size() + " events were acknowledged");
    }

    private PuriProcess up(Path errors) throws Exception {
        return PuriProcess.up(folder.resolve("data"), errors);
    }

    private void killWhileItStarts(int afterMillis) throws Exception {
        try (PuriProcess up = up(folder.resolve("errors-of-a-killed-start"))) {
            up.runFor(Duration.ofMillis(afterMillis));
        }
    }

    private void declareCollections(Map<String, String> environment) {
        DeclarationResult declared =
                new CollectionRegistry(clients(environment), Duration.ofSeconds(30)).apply(DemoData.collections());
        assertThat(declared).isNotInstanceOf(DeclarationResult.Conflicts.class);
    }

    private static Map<String, Object> clients(Map<String, String> environment) {
        return Map.of(
                "bootstrap.servers", environment.get("PURI_BOOTSTRAP_SERVER"),
                "schema.registry.url", environment.get("PURI_SCHEMA_REGISTRY"));
    }

    /** Kills the process while events are being published. */
    private void publishAndKill(PuriProcess up, Map<String, String> environment) throws Exception {
        Map<String, Object> properties = new HashMap<>(clients(environment));
        properties.put("delivery.timeout.ms", "3000");
        properties.put("request.timeout.ms", "2000");
        properties.put("linger.ms", "0");
        properties.put("max.block.ms", "2000");
        try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
            Load load = new Load(publisher, random.nextLong());
            Thread publishing = Thread.ofPlatform().daemon().start(load);
            up.runFor(Duration.ofMillis(random.nextInt(SHORTEST_LOAD_MILLIS, LONGEST_LOAD_MILLIS)));
            up.kill();
            load.end();
            publishing.join();
        }
    }

    /** Publishes events of every type, with a bounded number of events in flight. */
    private final class Load implements Runnable {
        private static final int UNDER_WAY = 100;

        private final IdentityPublisher publisher;
        private final Random kinds;
        private final IdentityMinter minter = new IdentityMinter();
        private final Semaphore room = new Semaphore(UNDER_WAY);
        private final List<Puri> created = new ArrayList<>();
        private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private volatile boolean ended;

        Load(IdentityPublisher publisher, long seed) {
            this.publisher = publisher;
            this.kinds = new Random(seed);
        }

        void end() {
            ended = true;
            assertThat(failures).allMatch(failure -> failure instanceof PublishException);
        }

        @Override
        public void run() {
            while (!ended) {
                room.acquireUninterruptibly();
                try {
                    var unused = publisher.publish(event()).whenComplete((position, failure) -> {
                        room.release();
                        if (failure == null) {
                            acknowledged.add(position);
                        } else {
                            failures.add(failure);
                        }
                    });
                } catch (KafkaException e) {
                    return;
                }
            }
        }

        private Event event() {
            if (created.isEmpty() || kinds.nextInt(3) > 0) {
                Puri puri = Puri.of("soundcloud", "tracks", minter.uuid().toString());
                created.add(puri);
                return event(
                        puri,
                        new Change.Created(
                                minter.uuid(),
                                OWNER,
                                shard(),
                                minter.handle(new Prefix("trk")),
                                Map.of("title", "Salt Harbour " + kinds.nextInt(1000))));
            }
            Puri puri = created.get(kinds.nextInt(created.size()));
            return event(
                    puri,
                    kinds.nextBoolean()
                            ? new Change.Moved(null, shard())
                            : new Change.Described(Map.of("title", "Slow Tide " + kinds.nextInt(1000))));
        }

        private Shard shard() {
            return SHARDS.get(kinds.nextInt(SHARDS.size()));
        }

        private Event event(Puri puri, Change change) {
            return new Event(minter.uuid(), puri, Instant.now(), "kill-test", null, null, change);
        }
    }

    /** Checks that each event in the log, acknowledged or not, has exactly one outcome. */
    private void awaitEveryAnswer(Map<String, String> environment) {
        Map<String, Object> properties = new HashMap<>(clients(environment));
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long events = consumer.endOffsets(partitions(consumer, Topics.EVENTS)).values().stream()
                    .mapToLong(end -> end)
                    .sum();
            assertThat(events).isGreaterThanOrEqualTo(acknowledged.size());
            List<TopicPartition> identities = partitions(consumer, Topics.IDENTITIES);
            consumer.assign(identities);
            consumer.seekToBeginning(identities);
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (answers.size() < events && System.nanoTime() < deadline) {
                if (readAnswers(consumer.poll(Duration.ofMillis(100)))) {
                    deadline = System.nanoTime() + TIMEOUT.toNanos();
                }
            }
            // AssertJ would compare each of a hundred thousand elements with every other.
            Set<Position> unanswered = new HashSet<>(acknowledged);
            unanswered.removeAll(answers.keySet());
            assertThat(unanswered).as("seed " + SEED).isEmpty();
            assertThat(answers).as("seed " + SEED).hasSize((int) events);
            // An outcome that is still to come would be a second outcome of its event.
            Map<TopicPartition, Long> ends = consumer.endOffsets(identities);
            while (identities.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                readAnswers(consumer.poll(Duration.ofMillis(100)));
            }
            answers.values().removeIf(times -> times == 1);
            assertThat(answers).as("answered more than once, seed " + SEED).isEmpty();
        }
    }

    private boolean readAnswers(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        boolean any = false;
        for (ConsumerRecord<byte[], byte[]> each : records) {
            var header = each.headers().lastHeader(Position.HEADER);
            if (header != null) {
                answers.merge(Position.parse(new String(header.value(), StandardCharsets.UTF_8)), 1, Integer::sum);
                any = true;
            }
        }
        return any;
    }

    private static List<TopicPartition> partitions(KafkaConsumer<?, ?> consumer, String topic) {
        return consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
    }
}
