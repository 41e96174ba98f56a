package dev.puri.resolver.live;

import static dev.puri.resolver.live.RunningSubscribers.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.live.Subscribers.Admission;
import dev.puri.schemas.identity.Puri;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;

/**
 * Three instances read one log at different speeds, while clients change between the instances with their last id. In
 * the end, every client has the rows of the log.
 */
@Timeout(60)
final class ChangesSimulationTest {
    private static final int PARTITIONS = 3;
    private static final int NAMES = 12;
    private static final int STEPS = 1_500;
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-03-10T00:00:00Z"));

    private final FakeLog log = new FakeLog(PARTITIONS);

    /** The rows of the log, as the data of events. */
    private final Map<String, String> truth = new HashMap<>();

    /** An instance that has read the log up to some offsets, with a small ring. */
    private final class Instance implements AutoCloseable {
        private final Subscribers subscribers = Subscribers.start(
                new ChangesOptions(
                        16,
                        Duration.ofDays(1),
                        10,
                        10,
                        2_000,
                        Duration.ofMillis(5),
                        Duration.ofDays(6),
                        Duration.ofSeconds(9)),
                log,
                LiveRows.VALUES,
                CLOCK,
                new SimpleMeterRegistry());
        private final long[] read = new long[PARTITIONS];

        /** The names that the table has. */
        private final Set<Puri> names = ConcurrentHashMap.newKeySet();

        private ChangeRing ring = startRing();

        private ChangeRing startRing() {
            return RunningSubscribers.serve(
                    subscribers, TOPIC, read, CLOCK.instant(), (puri, uuid) -> names.contains(puri));
        }

        void read(int partition) {
            if (read[partition] < log.end(partition)) {
                FakeLog.Entry entry = log.at(partition, read[partition]);
                if (apply(entry)) {
                    ring.changed(partition, read[partition], entry.puri(), entry.row());
                }
                read[partition] += 2;
                ring.reached(partition, read[partition]);
            }
        }

        /** Applies a record to the table; returns whether it is a change. */
        private boolean apply(FakeLog.Entry entry) {
            if (entry.isChange() && entry.row() == null) {
                names.remove(entry.puri());
            } else if (entry.isChange()) {
                names.add(entry.puri());
            }
            return entry.isChange();
        }

        void readAll() {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                while (read[partition] < log.end(partition)) {
                    read(partition);
                }
            }
        }

        /** Restores the table again. Afterwards, the table has some further records of the log. */
        void refill(Random random) {
            for (int partition = 0; partition < PARTITIONS; partition++) {
                long unread = (log.end(partition) - read[partition]) / 2;
                for (long count = random.nextLong(unread + 1); count > 0; count--) {
                    apply(log.at(partition, read[partition]));
                    read[partition] += 2;
                }
            }
            ring = startRing();
        }

        @Override
        public void close() {
            subscribers.close();
        }
    }

    /** A client that keeps the rows of the received events. */
    private static final class Client {
        private final Map<String, String> known = new HashMap<>();
        private @Nullable ChangeId last;
        private FakeSink stream = new FakeSink();
        private @Nullable Subscription subscription;
        private int applied;

        void connect(Instance instance) {
            disconnect();
            stream = new FakeSink();
            applied = 0;
            AtomicReference<@Nullable Subscription> opened = new AtomicReference<>();
            FakeSink opening = stream;
            assertThat(instance.subscribers.subscribe(last, CollectionFilter.ALL, admitted -> {
                        opened.set(admitted);
                        return opening;
                    }))
                    .isEqualTo(Admission.ADMITTED);
            subscription = opened.get();
        }

        private void disconnect() {
            stream.close();
            if (subscription != null) {
                subscription.cancel();
            }
            listen();
            ChangeId seen = stream.lastId();
            last = seen == null ? last : seen;
        }

        /** Applies the received events; returns false if the stream has ended. */
        boolean listen() {
            List<FakeSink.Event> events = stream.events();
            for (; applied < events.size(); applied++) {
                FakeSink.Event event = events.get(applied);
                switch (event.type()) {
                    case "changed" -> known.put(name(event.data()), event.data());
                    case "erased" -> known.remove(name(event.data()));
                    case "dropped", "bye" -> {
                        return false;
                    }
                    default -> throw new AssertionError(event.toString());
                }
            }
            return true;
        }
    }

    @RepeatedTest(5)
    void noChangeIsLostOverAReconnectOnAnotherInstance() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Instance a = new Instance();
                Instance b = new Instance();
                Instance c = new Instance()) {
            List<Instance> instances = List.of(a, b, c);
            List<Client> clients = Stream.generate(Client::new).limit(3).toList();
            clients.forEach(client -> {
                client.connect(a);
                // The client has an id, so it must not miss any later change.
                await().until(() -> client.stream.lastId() != null);
            });
            for (int step = 0; step < STEPS; step++) {
                write(random, step);
                for (int i = random.nextInt(4); i > 0; i--) {
                    instances.get(random.nextInt(3)).read(random.nextInt(PARTITIONS));
                }
                Instance instance = instances.get(random.nextInt(3));
                Client client = clients.get(random.nextInt(3));
                int dice = random.nextInt(100);
                if (dice < 4) {
                    client.connect(instance);
                } else if (dice < 6) {
                    instance.readAll();
                } else if (dice == 6) {
                    instance.refill(random);
                }
                if (!client.listen()) {
                    client.connect(instance);
                }
            }
            instances.forEach(Instance::readAll);
            for (Client client : clients) {
                await().alias("seed " + seed).atMost(Duration.ofSeconds(20)).until(() -> {
                    if (!client.listen()) {
                        client.connect(instances.get(random.nextInt(3)));
                    }
                    return client.known.equals(truth);
                });
            }
        }
    }

    private void write(Random random, int event) {
        int number = random.nextInt(NAMES);
        Puri puri = LiveRows.track(number);
        int partition = number % PARTITIONS;
        String name = puri.toString();
        int dice = random.nextInt(10);
        if (dice < 6) {
            log.add(partition, puri, LiveRows.row("br-" + event, event), true);
            truth.put(name, ChangeJson.changed(puri, LiveRows.row("br-" + event, event)));
        } else if (dice < 8) {
            log.add(partition, puri, null, true);
            truth.remove(name);
        } else {
            // A refusal: the current row.
            log.add(partition, puri, truth.containsKey(name) ? LiveRows.row("br-0", 0) : null, false);
        }
    }

    private static String name(String data) {
        return LongStream.range(0, NAMES)
                .mapToObj(number -> LiveRows.track(number).toString())
                .filter(name -> data.contains("\"puri\":\"" + name + "\""))
                .findFirst()
                .orElseThrow();
    }
}
