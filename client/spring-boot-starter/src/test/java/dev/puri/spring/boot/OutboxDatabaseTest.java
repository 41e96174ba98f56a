package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.dao.DataAccessResourceFailureException;

/** Creates tables in a database like MySQL, which commits each table by itself. */
class OutboxDatabaseTest {
    private final List<String> tables = new ArrayList<>();
    private final PuriProperties.Outbox settings = new Binder(new MapConfigurationPropertySource(
                    Map.of("puri.outbox.create-tables", "true", "puri.outbox.dialect", "mysql")))
            .bind("puri.outbox", PuriProperties.Outbox.class)
            .get();

    private void execute(String sql) throws SQLException {
        String[] words = sql.replaceAll("(?m)^ *--.*$", "").strip().split("\\s+");
        switch (words[0]) {
            case "CREATE" -> {
                if (tables.contains(words[2])) {
                    throw new SQLException(words[2] + " exists");
                }
                tables.add(words[2]);
            }
            case "SELECT" -> {
                if (!tables.contains(words[3])) {
                    throw new SQLException(words[3] + " does not exist");
                }
            }
            default -> {}
        }
    }

    private DataSource dataSource() {
        Statement statement = fake(Statement.class, (proxy, method, arguments) -> {
            if (method.getName().equals("execute")) {
                execute((String) arguments[0]);
                return true;
            }
            return null;
        });
        Connection connection = fake(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "createStatement" -> statement;
            case "getAutoCommit" -> true;
            default -> null;
        });
        return fake(DataSource.class, (proxy, method, arguments) -> connection);
    }

    private static <T> T fake(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    @Test
    void createsTheOutboxTableLast() {
        OutboxDatabase.open(dataSource(), settings);
        assertThat(tables).containsExactly("puri_outbox_blocked", "puri_outbox_lock", "puri_outbox");
    }

    /** If the outbox table existed, the next start would regard the tables as complete. */
    @Test
    void failsIfOnlySomeTablesCanBeCreated() {
        tables.add("puri_outbox_lock");
        assertThatThrownBy(() -> OutboxDatabase.open(dataSource(), settings, Duration.ZERO))
                .isInstanceOf(DataAccessResourceFailureException.class)
                .hasMessageEndingWith("puri_outbox_lock exists; tables of an incomplete creation remain:"
                        + " drop puri_outbox_blocked and puri_outbox_lock");
        assertThat(tables).doesNotContain("puri_outbox");
    }

    @Test
    void anInterruptEndsTheWaitForAnotherInstance() {
        tables.add("puri_outbox_lock");
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> OutboxDatabase.open(dataSource(), settings, Duration.ofDays(1)))
                    .isInstanceOf(DataAccessResourceFailureException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
