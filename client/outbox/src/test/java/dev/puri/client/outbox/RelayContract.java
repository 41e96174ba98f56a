package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import dev.puri.testkit.ServerProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every relay does, on every database. */
public abstract class RelayContract {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Pattern PARKED = Pattern.compile(ParkingInterceptor.PARKED);
    private static final AtomicInteger TESTS = new AtomicInteger();

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Events events = new Events("outbox-test");
    private Map<String, Object> properties = new HashMap<>();
    private String namespace = "";
    private String table = "";

    @TempDir
    Path folder;

    /** The server that all tests of the class share. */
    protected abstract TestDatabase database();

    /** Reports rows to the relay. */
    protected abstract Feed feed(RelaySettings settings);

    /** Runs such a relay by {@link RelayChild#run}. */
    protected abstract Class<?> child();

    @BeforeEach
    void makeTables() throws Exception {
        String test = "t" + TESTS.incrementAndGet();
        namespace = test + "-" + new Random().nextInt(1_000_000);
        table = test + "_outbox";
        properties.put("bootstrap.servers", Broker.shared().bootstrapServers());
        properties.put("schema.registry.url", SchemaRegistryFixture.shared().url());
        database().execute(OutboxSchema.statements(database().dialect(), table));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        List<String> tables = new ArrayList<>(List.of(table, table + "_blocked"));
        if (database().dialect() != Dialect.POSTGRESQL) {
            tables.add(table + "_lock");
        }
        database().execute(tables.stream().map(name -> "DROP TABLE " + name).toList());
    }

    private EventLog log() throws Exception {
        EventLog log = new EventLog(properties, namespace);
        log.create();
        return log;
    }

    private RelaySettings settings() {
        // A relay with a feed would find all rows by its sweeps too, if slowly; here it must not.
        return RelaySettings.of(database().dataSource(), database().dialect(), properties)
                .withTable(table)
                .withOwnsTopic(any -> true)
                .withTimes(Duration.ofMillis(20), Duration.ofHours(1), Duration.ofMillis(100));
    }

    /** A relay that leads and whose feed runs. */
    private OutboxRelay relay() {
        RelaySettings settings = settings();
        return relay(settings, feed(settings));
    }

    private OutboxRelay relay(RelaySettings settings, Feed feed) {
        OutboxRelay relay = OutboxRelay.start(settings, feed);
        open.add(0, relay);
        until(() -> assertThat(relay.status().leads()).isTrue());
        awaitRunning(feed);
        return relay;
    }

    private static final Duration SHORT = Duration.ofMillis(100);

    /** A feed that reports nothing. */
    private static final Feed SILENT = new Feed() {
        @Override
        public void start(Connection leader, Sink sink) {}

        @Override
        public State state() {
            return new State.Running();
        }

        @Override
        public void stop() {}
    };

    private static void awaitRunning(Feed feed) {
        if (feed != Feed.NONE) {
            until(() -> assertThat(feed.state()).isInstanceOf(Feed.State.Running.class));
        }
    }

    private static void until(ThrowingRunnable holds) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(holds);
    }

    private Outbox outbox() {
        return new Outbox(database().dialect(), table, () -> null);
    }

    private String puri(String identifier) {
        return namespace + ":things:" + identifier;
    }

    private Event event(String identifier) {
        return events.moved(Puri.parse(puri(identifier)), new Shard("br-1")).build();
    }

    private Event large(String identifier) {
        String text = new Random(1)
                .ints(20_000, 'a', 'z')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return events.described(Puri.parse(puri(identifier)))
                .attribute("title", text)
                .build();
    }

    private UUID commit(Event event) throws SQLException {
        try (Connection connection = transaction()) {
            outbox().add(connection, event);
            connection.commit();
        }
        return event.eventId();
    }

    private Connection transaction() throws SQLException {
        Connection connection = database().dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

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
        long seed = new Random().nextLong();
        InterleavedWriters writers = new InterleavedWriters(database(), table, namespace);
        writers.write(seed, 100);
        until(() -> assertThat(log.applied()).as("seed %d", seed).isEqualTo(writers.committed()));
        assertThat(log.records())
                .as("seed %d", seed)
                .noneMatch(
                        record -> writers.rolledBack().contains(record.value().getEventId()));
    }

    @Test
    void losesNothingWhenItIsKilled() throws Exception {
        EventLog log = log();
        long seed = new Random().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
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
        assertThat(log.applied()).as("seed %d", seed).isEqualTo(writers.committed());
        assertThat(log.records())
                .as("seed %d", seed)
                .noneMatch(
                        record -> writers.rolledBack().contains(record.value().getEventId()));
    }

    @Test
    void aRowThatTheBrokerRefusesBlocksItsOwnPuriUntilItIsTaken() throws Exception {
        EventLog log = log();
        log.setMaxMessageBytes(3000);
        OutboxRelay relay = relay();
        UUID first = commit(event("a"));
        UUID tooLarge = commit(large("a"));
        UUID behind = commit(event("a"));
        UUID other = commit(event("b"));
        until(() -> {
            assertThat(log.idsOf(puri("b"))).containsExactly(other);
            assertThat(relay.status().blockedRows()).isEqualTo(2);
        });
        RelayStatus status = relay.status();
        assertThat(status.problem()).isNull();
        assertThat(status.blocked()).singleElement().satisfies(blocked -> {
            assertThat(blocked.puri()).isEqualTo(puri("a"));
            assertThat(blocked.eventId()).isEqualTo(tooLarge);
            assertThat(blocked.reason()).contains("RecordTooLarge");
        });

        UUID last = commit(event("a"));
        UUID otherLast = commit(event("b"));
        until(() -> {
            assertThat(log.idsOf(puri("b"))).containsExactly(other, otherLast);
            assertThat(relay.status().blockedRows()).isEqualTo(3);
        });
        assertThat(log.idsOf(puri("a"))).containsExactly(first);

        assertThat(relay.retry(behind)).as("a row that waits behind another").isFalse();
        assertThat(relay.retry(tooLarge)).isTrue();
        log.setMaxMessageBytes(1_000_000);
        // It may be published already: its next attempt may have come first.
        relay.retry(tooLarge);
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first, tooLarge, behind, last));
        until(() -> assertThat(relay.status().blockedRows()).isZero());
        assertThat(relay.status().waiting()).isZero();
    }

    @Test
    void rowsOfOneTransactionDoNotOvertakeTheOneThatTheBrokerRefuses() throws Exception {
        EventLog log = log();
        log.setMaxMessageBytes(3000);
        List<Event> all = List.of(event("a"), large("a"), event("a"), event("b"));
        try (Connection connection = transaction()) {
            outbox().addAll(connection, all);
            connection.commit();
        }
        OutboxRelay relay = relay();
        until(() -> {
            assertThat(relay.status().blockedRows()).isEqualTo(2);
            assertThat(log.idsOf(puri("b"))).containsExactly(all.get(3).eventId());
        });
        assertThat(log.idsOf(puri("a"))).containsExactly(all.get(0).eventId());

        assertThat(relay.skip(all.get(1).eventId())).isTrue();
        assertThat(relay.skip(all.get(1).eventId())).isFalse();
        until(() -> assertThat(log.idsOf(puri("a")))
                .containsExactly(all.get(0).eventId(), all.get(2).eventId()));
    }

    @Test
    void onlyTheFirstBlockedRowOfAPuriHasATimeToRetry() throws Exception {
        log().setMaxMessageBytes(3000);
        OutboxRelay relay = relay();
        UUID first = commit(large("a"));
        commit(event("a"));
        commit(event("a"));
        until(() -> assertThat(relay.status().blockedRows()).isEqualTo(3));
        until(() -> assertThat(relay.status().blocked())
                .singleElement()
                .satisfies(blocked -> assertThat(blocked.eventId()).isEqualTo(first)));
        try (Connection connection = database().dataSource().getConnection();
                ResultSet times = connection
                        .createStatement()
                        .executeQuery("SELECT COUNT(retry_ms) FROM " + table + "_blocked")) {
            times.next();
            assertThat(times.getInt(1)).isEqualTo(1);
        }
    }

    @Test
    void aRelayThatStartsRetriesBlockedRowsThatAKilledOneLeftWithoutATime() throws Exception {
        EventLog log = log();
        List<UUID> ids = List.of(commit(event("a")), commit(event("a")));
        String columns = "seq, id, aggregatetype, aggregateid, type, payload, created_ms";
        database()
                .execute(List.of(
                        "INSERT INTO " + table + "_blocked (" + columns + ", attempts) SELECT " + columns + ", 0 FROM "
                                + table,
                        "DELETE FROM " + table));
        relay();
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
    }

    /** As when an operator's process ends between two statements of a skip. */
    @Test
    void aRelayThatLeadsAlreadyRetriesBlockedRowsWithoutATime() throws Exception {
        EventLog log = log();
        OutboxRelay relay =
                relay(settings().withTimes(Duration.ofMillis(20), Duration.ofMillis(300), SHORT), Feed.NONE);
        UUID first = commit(event("a"));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first));
        log.setMaxMessageBytes(3000);
        UUID tooLarge = commit(large("a"));
        UUID behind = commit(event("a"));
        until(() -> assertThat(relay.status().blockedRows()).isEqualTo(2));
        database().execute(List.of("DELETE FROM " + table + "_blocked WHERE error IS NOT NULL"));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first, behind));
        assertThat(log.idsOf(puri("a"))).doesNotContain(tooLarge);
    }

    private int commitThreePages() throws SQLException {
        List<Event> all = new ArrayList<>();
        for (int i = 0; i < 2 * LeaderSession.BATCH + 1; i++) {
            all.add(event("p" + i));
        }
        try (Connection connection = transaction()) {
            outbox().addAll(connection, all);
            connection.commit();
        }
        return all.size();
    }

    /** More rows than a page has, of which no feed tells, and sweeps that are an hour apart. */
    @Test
    void aSweepEndsWithTheLastRow() throws Exception {
        EventLog log = log();
        int rows = commitThreePages();
        OutboxRelay relay = relay(settings(), SILENT);
        until(() -> assertThat(relay.status().waiting()).isZero());
        assertThat(log.applied()).hasSize(rows);
    }

    /** More rows than a page has. */
    @Test
    void blockedRowsThatComeDueTogetherAreAllPublished() throws Exception {
        EventLog log = log();
        int rows = commitThreePages();
        String columns = "seq, id, aggregatetype, aggregateid, type, payload, created_ms";
        database()
                .execute(List.of(
                        "INSERT INTO " + table + "_blocked (" + columns + ", attempts, error, retry_ms) SELECT "
                                + columns + ", 1, 'refused', 7 FROM " + table,
                        "DELETE FROM " + table));
        OutboxRelay relay = relay();
        until(() -> assertThat(relay.status().blockedRows()).isZero());
        assertThat(log.applied()).hasSize(rows);
    }

    @Test
    void aRowThatCannotBeReadBlocksItsOwnPuri() throws Exception {
        EventLog log = log();
        UUID broken = commit(event("a"));
        database().execute(List.of("UPDATE " + table + " SET payload = '" + "garbage" + "'"));
        UUID other = commit(event("b"));
        OutboxRelay relay = relay();
        until(() -> assertThat(log.idsOf(puri("b"))).containsExactly(other));
        until(() -> assertThat(relay.status().blocked())
                .singleElement()
                .satisfies(blocked -> assertThat(blocked.eventId()).isEqualTo(broken)));
    }

    @Test
    void aMissingTopicBlocksItsOwnPuris() throws Exception {
        properties.put("max.block.ms", "1000");
        OutboxRelay relay = relay();
        UUID blocked = commit(event("a"));
        until(() -> assertThat(relay.status().blocked()).isNotEmpty());

        String missing = namespace;
        namespace = namespace + "-x";
        EventLog other = log();
        UUID published = commit(event("b"));
        until(() -> assertThat(other.idsOf(puri("b"))).containsExactly(published));

        namespace = missing;
        EventLog log = log();
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(blocked));
        until(() -> assertThat(relay.status().blockedRows()).isZero());
    }

    @Test
    void waitsForABrokerThatIsAway() throws Exception {
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
    void goesOnAfterARestartOfTheDatabase() throws Exception {
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
