package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionTemplate;

/** Events in Spring's transactions, on PostgreSQL. */
class TransactionOutboxIT {
    private static final Identities TRACKS = new Identities("music", "tracks", null, Identifiers.sortable());

    @TempDir
    private static Path folder;

    private static EmbeddedPostgres postgres;
    private static DataSource dataSource;

    private final Events events = new Events("TransactionOutboxIT");
    private final AtomicInteger wakes = new AtomicInteger();
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final TransactionTemplate transaction =
            new TransactionTemplate(new DataSourceTransactionManager(dataSource));
    private TransactionOutbox outbox;

    @BeforeAll
    static void start() throws Exception {
        postgres = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofSeconds(60))
                .setDataDirectory(folder.resolve("postgres"))
                .start();
        dataSource = postgres.getPostgresDatabase();
    }

    @AfterAll
    static void stop() throws Exception {
        postgres.close();
    }

    private static PuriProperties.Outbox settings(String table) {
        Duration any = Duration.ofSeconds(1);
        return new PuriProperties.Outbox(true, null, table, true, new PuriProperties.Relay(true, any, any, any, any));
    }

    @BeforeEach
    void makeTables() {
        OutboxDatabase database = OutboxDatabase.open(dataSource, settings("puri_outbox"));
        assertThat(database.dialect()).isEqualTo(Dialect.POSTGRESQL);
        jdbc.update("DELETE FROM puri_outbox");
        outbox = new TransactionOutbox(new Outbox(Dialect.POSTGRESQL), dataSource, wakes::incrementAndGet);
    }

    private Event event() {
        return events.created(TRACKS.mint(), new Owner("catalog"), new Shard("eu-1"))
                .build();
    }

    private int rows() {
        Integer rows = jdbc.queryForObject("SELECT count(*) FROM puri_outbox", Integer.class);
        return rows == null ? -1 : rows;
    }

    @Test
    void eventsAreAddedWhenTheTransactionCommitsAndTheRelayIsWokenOnce() {
        transaction.executeWithoutResult(status -> {
            outbox.add(event());
            outbox.addAll(List.of(event(), event()));
            assertThat(wakes).hasValue(0);
        });
        assertThat(rows()).isEqualTo(3);
        assertThat(wakes).hasValue(1);
    }

    @Test
    void rolledBackTransactionLeavesNoRowAndNoEvent() {
        transaction.executeWithoutResult(status -> {
            outbox.add(event());
            status.setRollbackOnly();
        });
        assertThat(rows()).isZero();
        assertThat(wakes).hasValue(0);
    }

    @Test
    void anEventOutsideATransactionIsAnError() {
        assertThatThrownBy(() -> outbox.add(event()))
                .isInstanceOf(IllegalTransactionStateException.class)
                .hasMessageContaining("@Transactional");
        assertThat(rows()).isZero();
    }

    @Test
    void anEventInATransactionOfAnotherDatabaseIsAnError() {
        TransactionTemplate other =
                new TransactionTemplate(new DataSourceTransactionManager(postgres.getTemplateDatabase()));
        assertThatThrownBy(() -> other.executeWithoutResult(status -> outbox.add(event())))
                .isInstanceOf(IllegalTransactionStateException.class)
                .hasMessageContaining("another DataSource");
        assertThat(rows()).isZero();
    }

    /** A pool that rolls back uncommitted changes when a connection returns. */
    private static HikariDataSource withoutAutoCommit() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(dataSource);
        config.setAutoCommit(false);
        config.setMaximumPoolSize(2);
        return new HikariDataSource(config);
    }

    @Test
    void aPoolWithoutAutoCommitLosesNoEventOfAnotherDatabasesTransaction() {
        try (HikariDataSource pool = withoutAutoCommit()) {
            TransactionOutbox pooled = new TransactionOutbox(new Outbox(Dialect.POSTGRESQL), pool, () -> {});
            TransactionTemplate other =
                    new TransactionTemplate(new DataSourceTransactionManager(postgres.getTemplateDatabase()));
            assertThatThrownBy(() -> other.executeWithoutResult(status -> {
                        new JdbcTemplate(pool).queryForObject("SELECT count(*) FROM puri_outbox", Integer.class);
                        pooled.add(event());
                    }))
                    .isInstanceOf(IllegalTransactionStateException.class)
                    .hasMessageContaining("another DataSource");
            assertThat(rows()).isZero();

            new TransactionTemplate(new DataSourceTransactionManager(pool))
                    .executeWithoutResult(status -> pooled.add(event()));
            assertThat(rows()).isEqualTo(1);
        }
    }

    @Test
    void severalInstancesMakeTheTablesAtOnce() throws Exception {
        int instances = 4;
        CyclicBarrier together = new CyclicBarrier(instances);
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            List<Future<OutboxDatabase>> made = new ArrayList<>();
            for (int i = 0; i < instances; i++) {
                made.add(threads.submit(() -> {
                    together.await(60, TimeUnit.SECONDS);
                    return OutboxDatabase.open(dataSource, settings("raced_outbox"));
                }));
            }
            for (Future<OutboxDatabase> each : made) {
                assertThat(each.get(60, TimeUnit.SECONDS).table()).isEqualTo("raced_outbox");
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(jdbc.queryForObject("SELECT count(*) FROM raced_outbox_blocked", Integer.class))
                .isZero();
    }
}
