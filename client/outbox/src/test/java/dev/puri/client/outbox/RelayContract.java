package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Event;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.ServerProcess;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.Test;

/** The contract of every relay, on every database: it publishes exactly the committed rows, in commit order. */
public abstract class RelayContract extends BlockedRowsContract {
    private static final long SEED = Long.getLong("puri.relay.seed", System.nanoTime());
    private static final Pattern PARKED = Pattern.compile(ParkingInterceptor.PARKED);

    @Test
    void publishesCommittedTransactionsOnly() throws Exception {
        EventLog log = log();
        relay();
        try (Connection connection = transaction()) {
            outbox().add(connection, event("a"));
            connection.rollback();
        }
        UUID committed = commit(event("a"));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(committed));
    }

    @Test
    void publishesRowsThatWereCommittedBeforeItStarted() throws Exception {
        EventLog log = log();
        List<UUID> ids = List.of(commit(event("a")), commit(event("a")), commit(event("a")));
        OutboxRelay relay = relay();
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
        until(() -> assertThat(relay.status().waiting()).isZero());
    }

    @Test
    void publishesASlowTransactionAfterLaterOnesThatCommittedFirst() throws Exception {
        EventLog log = log();
        relay();
        Event slow = event("slow");
        try (Connection connection = transaction()) {
            outbox().add(connection, slow);
            UUID fast = commit(event("fast"));
            until(() -> assertThat(log.idsOf(puri("fast"))).containsExactly(fast));
            assertThat(log.idsOf(puri("slow"))).isEmpty();
            connection.commit();
        }
        until(() -> assertThat(log.idsOf(puri("slow"))).containsExactly(slow.eventId()));
    }

    @Test
    void waitsForNoRowOfATransactionThatIsNotCommitted() throws Exception {
        EventLog log = log();
        OutboxRelay relay = relay();
        try (Connection held = transaction()) {
            // Neighbours in the alphabet, so that no two of them share a lock by their hashes.
            outbox().add(held, event("p60"));
            List<Event> others = new ArrayList<>();
            for (int i = 10; i < 60; i++) {
                others.add(event("p" + i));
            }
            try (Connection connection = transaction()) {
                outbox().addAll(connection, others);
                connection.commit();
            }
            until(() -> assertThat(log.applied()).hasSize(50));
            until(() -> assertThat(relay.status().waiting()).isZero());
            held.commit();
        }
        until(() -> assertThat(log.applied()).hasSize(51));
    }

    @Test
    void keepsTheOrderOfCommitsOfEachPuriUnderInterleavedTransactions() throws Exception {
        EventLog log = log();
        relay();
        InterleavedWriters writers = new InterleavedWriters(database(), table, namespace);
        writers.write(SEED, 100);
        until(() ->
                assertThat(log.applied()).as("with -Dpuri.relay.seed=%d", SEED).isEqualTo(writers.committed()));
        assertThat(log.records())
                .as("with -Dpuri.relay.seed=%d", SEED)
                .noneMatch(
                        record -> writers.rolledBack().contains(record.value().getEventId()));
    }

    @Test
    void losesNothingWhenItIsKilled() throws Exception {
        EventLog log = log();
        SplittableRandom random = new SplittableRandom(SEED);
        InterleavedWriters writers = new InterleavedWriters(database(), table, namespace);
        for (int kill = 0; kill < 4; kill++) {
            Map<String, Object> parking = new HashMap<>(properties);
            parking.put(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, ParkingInterceptor.class.getName());
            // Each of the kinds twice. A write has more events than this.
            parking.put(ParkingInterceptor.POINT, ParkingInterceptor.Point.values()[kill % 2].name());
            parking.put(ParkingInterceptor.COUNT, Integer.toString(1 + random.nextInt(20)));
            ServerProcess relay =
                    ServerProcess.start(child(), RelayChild.environment(database(), table, parking), folder);
            writers.write(random.nextLong(), 15);
            until(() -> assertThat(relay.said(PARKED)).as(relay.output()).isNotEmpty());
            relay.kill();
        }
        OutboxRelay last = relay();
        until(() -> assertThat(last.status().waiting()).isZero());
        assertThat(log.applied()).as("with -Dpuri.relay.seed=%d", SEED).isEqualTo(writers.committed());
        assertThat(log.records())
                .as("with -Dpuri.relay.seed=%d", SEED)
                .noneMatch(
                        record -> writers.rolledBack().contains(record.value().getEventId()));
    }

    /** More rows than a page has, which no feed reports, and sweeps that are an hour apart. */
    @Test
    void aSweepEndsWithTheLastRow() throws Exception {
        EventLog log = log();
        int rows = commitThreePages();
        OutboxRelay relay = relay(settings(), SILENT);
        until(() -> assertThat(relay.status().waiting()).isZero());
        assertThat(log.applied()).hasSize(rows);
    }

    @Test
    void waitsForAnUnreachableBroker() throws Exception {
        try (RestartableBroker broker = Broker.start()) {
            properties.put("bootstrap.servers", broker.bootstrapServers());
            properties.put("delivery.timeout.ms", "3000");
            properties.put("request.timeout.ms", "1000");
            EventLog log = log();
            OutboxRelay relay = relay();
            List<UUID> ids = new ArrayList<>(List.of(commit(event("a"))));
            until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
            broker.stop();
            ids.add(commit(event("a")));
            ids.add(commit(event("a")));
            until(() -> assertThat(relay.status().problem()).isNotNull());
            assertThat(relay.status().blockedRows()).isZero();
            assertThat(relay.status().waiting()).isEqualTo(2);
            broker.start();
            until(() -> assertThat(log.applied().get(puri("a"))).isEqualTo(ids));
            until(() -> assertThat(relay.status().problem()).isNull());
            relay.close();
        }
    }

    @Test
    void continuesAfterARestartOfTheDatabase() throws Exception {
        EventLog log = log();
        RelaySettings settings = settings();
        Feed feed = feed(settings);
        OutboxRelay relay = OutboxRelay.start(settings, feed);
        open.add(0, relay);
        List<UUID> ids = new ArrayList<>(List.of(commit(event("a"))));
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
        database().restart();
        ids.add(commit(event("a")));
        until(() -> assertThat(log.applied().get(puri("a"))).isEqualTo(ids));
        awaitRunning(feed);
        ids.add(commit(event("a")));
        until(() -> assertThat(log.applied().get(puri("a"))).isEqualTo(ids));
        until(() -> assertThat(relay.status().problem()).isNull());
    }

    @Test
    void handsOverToAnotherRelay() throws Exception {
        EventLog log = log();
        OutboxRelay first = relay();
        RelaySettings settings = settings();
        Feed feed = feed(settings);
        OutboxRelay second = OutboxRelay.start(settings, feed);
        open.add(0, second);
        List<UUID> ids = new ArrayList<>(List.of(commit(event("a"))));
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
        assertThat(second.status().leads()).isFalse();
        first.close();
        until(() -> assertThat(second.status().leads()).isTrue());
        awaitRunning(feed);
        ids.add(commit(event("a")));
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
    }

    @Test
    void traceContextBecomesHeadersOfTheRecord() throws Exception {
        EventLog log = log();
        String traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        Outbox traced = new Outbox(database().dialect(), table, () -> new TraceContext(traceparent, "vendor=1"));
        try (Connection connection = transaction()) {
            traced.add(connection, event("a"));
            connection.commit();
        }
        relay();
        until(() -> assertThat(log.records()).hasSize(1));
        ConsumerRecord<?, ?> record = log.records().get(0);
        assertThat(EventLog.header(record, "traceparent")).isEqualTo(traceparent);
        assertThat(EventLog.header(record, "tracestate")).isEqualTo("vendor=1");
    }
}
