package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.testkit.Broker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay under test, its tables in a real database, and its topic on a real broker. Each test has tables and topics of
 * its own.
 */
public abstract class RelayFixture {
    static final Duration SHORT = Duration.ofMillis(100);

    /** A feed that reports nothing. */
    static final Feed SILENT = new Feed() {
        @Override
        public void start(Connection leader, Sink sink) {}

        @Override
        public State state() {
            return new State.Running();
        }

        @Override
        public void stop() {}
    };

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final AtomicInteger TESTS = new AtomicInteger();

    private final Events events = new Events("outbox-test");

    /** Closed after the test, in this order. */
    final List<AutoCloseable> open = new ArrayList<>();

    final Map<String, Object> properties = new HashMap<>();
    String namespace = "";
    String table = "";

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

    EventLog log() throws Exception {
        EventLog log = new EventLog(properties, namespace);
        log.create();
        return log;
    }

    RelaySettings settings() {
        // A relay with a feed would find all rows by its sweeps too, if slowly; here it must not.
        return RelaySettings.of(database().dataSource(), database().dialect(), properties)
                .withTable(table)
                .withOwnsTopic(any -> true)
                .withTimes(Duration.ofMillis(20), Duration.ofHours(1), SHORT);
    }

    /** A relay that leads and whose feed runs. */
    OutboxRelay relay() {
        RelaySettings settings = settings();
        return relay(settings, feed(settings));
    }

    OutboxRelay relay(RelaySettings settings, Feed feed) {
        OutboxRelay relay = OutboxRelay.start(settings, feed);
        open.add(0, relay);
        until(() -> assertThat(relay.status().leads()).isTrue());
        awaitRunning(feed);
        return relay;
    }

    static void awaitRunning(Feed feed) {
        if (feed != Feed.NONE) {
            until(() -> assertThat(feed.state()).isInstanceOf(Feed.State.Running.class));
        }
    }

    static void until(ThrowingRunnable holds) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(holds);
    }

    Outbox outbox() {
        return new Outbox(database().dialect(), table, () -> null);
    }

    String puri(String identifier) {
        return namespace + ":things:" + identifier;
    }

    Event event(String identifier) {
        return events.moved(Puri.parse(puri(identifier)), new Shard("br-1")).build();
    }

    Event large(String identifier) {
        String text = new Random(1)
                .ints(20_000, 'a', 'z')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return events.described(Puri.parse(puri(identifier)))
                .attribute("title", text)
                .build();
    }

    UUID commit(Event event) throws SQLException {
        try (Connection connection = transaction()) {
            outbox().add(connection, event);
            connection.commit();
        }
        return event.eventId();
    }

    Connection transaction() throws SQLException {
        Connection connection = database().dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Commits more rows than two pages of a sweep have, and returns their number. */
    int commitThreePages() throws SQLException {
        List<Event> all = new ArrayList<>();
        for (int i = 0; i < 2 * LeaderSession.BATCH_SIZE + 1; i++) {
            all.add(event("p" + i));
        }
        try (Connection connection = transaction()) {
            outbox().addAll(connection, all);
            connection.commit();
        }
        return all.size();
    }
}
