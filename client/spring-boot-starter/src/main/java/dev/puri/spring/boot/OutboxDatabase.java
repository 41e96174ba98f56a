package dev.puri.spring.boot;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.schemas.serde.UserInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

/**
 * The dialect and the table name of an outbox.
 *
 * @param table name of the outbox table, valid for {@link OutboxSchema#sql(Dialect, String)}
 */
record OutboxDatabase(Dialect dialect, String table) {
    /** Time for which an instance waits while another one creates the tables. */
    private static final Duration CREATION_TIMEOUT = Duration.ofSeconds(30);

    private static final Duration CREATION_POLL_INTERVAL = Duration.ofMillis(100);

    /**
     * Detects the dialect if it is not set, and creates the tables if this is enabled. Opens a connection only if it
     * must do one of these.
     */
    static OutboxDatabase open(DataSource dataSource, PuriProperties.Outbox settings) {
        return open(dataSource, settings, CREATION_TIMEOUT);
    }

    static OutboxDatabase open(DataSource dataSource, PuriProperties.Outbox settings, Duration creationTimeout) {
        requireValidTableName(settings.table());
        String configuredDialect = settings.dialect();
        if (configuredDialect != null && !settings.createTables()) {
            return new OutboxDatabase(dialect(configuredDialect), settings.table());
        }
        try (Connection connection = dataSource.getConnection()) {
            Dialect dialect = dialect(configuredDialect != null ? configuredDialect : productName(connection));
            if (settings.createTables()) {
                createTables(connection, dialect, settings.table(), creationTimeout);
            }
            return new OutboxDatabase(dialect, settings.table());
        } catch (SQLException e) {
            throw new DataAccessResourceFailureException(
                    "the database of the outbox failed: " + UserInfo.masked(String.valueOf(e.getMessage())), e);
        }
    }

    private static void requireValidTableName(String table) {
        try {
            OutboxSchema.sql(Dialect.POSTGRESQL, table);
        } catch (IllegalArgumentException e) {
            throw new InvalidPuriPropertiesException(List.of("puri.outbox.table=" + table + ": " + e.getMessage()));
        }
    }

    private static String productName(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName();
    }

    /**
     * Returns the dialect with a name.
     *
     * @param configuredOrProduct the configured dialect, or the product name that the database reports
     * @throws InvalidPuriPropertiesException if the database is not supported
     */
    static Dialect dialect(@Nullable String configuredOrProduct) {
        String name = String.valueOf(configuredOrProduct).toLowerCase(Locale.ROOT);
        if (!PropertyMistakes.DIALECTS.contains(name)) {
            throw new InvalidPuriPropertiesException(
                    List.of("puri.outbox.dialect is not set, and no dialect supports the database \""
                            + configuredOrProduct
                            + "\". Set puri.outbox.dialect to postgresql, mysql or mariadb, or set"
                            + " puri.outbox.enabled=false"));
        }
        return Dialect.valueOf(name.toUpperCase(Locale.ROOT));
    }

    /**
     * Creates all tables if the outbox table is missing, in one transaction if the database supports this. Several
     * instances may do this at the same time.
     *
     * <p>MySQL and MariaDB commit after each table. So the outbox table is created last: if it exists, the other tables
     * exist too.
     */
    private static void createTables(Connection connection, Dialect dialect, String table, Duration timeout)
            throws SQLException {
        if (exists(connection, table)) {
            return;
        }
        boolean wasAutoCommit = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            List<String> statements = OutboxSchema.statements(dialect, table);
            for (String sql : statements.subList(1, statements.size())) {
                statement.execute(sql);
            }
            statement.execute(statements.get(0));
            connection.commit();
        } catch (SQLException e) {
            connection.rollback();
            connection.setAutoCommit(true);
            if (!existsSoon(connection, table, timeout)) {
                throw withRemedy(e, connection, table);
            }
        } finally {
            connection.setAutoCommit(wasAutoCommit);
        }
    }

    /** Waits for an instance that may be creating the tables. */
    private static boolean existsSoon(Connection connection, String table, Duration timeout) throws SQLException {
        long deadlineNanos = System.nanoTime() + timeout.toNanos();
        while (!exists(connection, table)) {
            // The thread of an application that stops is interrupted and would not pause between the checks.
            if (System.nanoTime() - deadlineNanos >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(CREATION_POLL_INTERVAL.toNanos());
        }
        return true;
    }

    /** Adds a remedy to an error if some tables exist without the outbox table. */
    private static SQLException withRemedy(SQLException error, Connection connection, String table)
            throws SQLException {
        List<String> remaining = new ArrayList<>();
        for (String other : List.of(table + "_blocked", table + "_lock")) {
            if (succeeds(connection, "SELECT 1 FROM " + other + " WHERE 1 = 0")) {
                remaining.add(other);
            }
        }
        if (remaining.isEmpty()) {
            return error;
        }
        String text = error.getMessage() + "; tables of an incomplete creation remain: drop "
                + String.join(" and ", remaining);
        return new SQLException(text, error.getSQLState(), error.getErrorCode(), error);
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        return succeeds(connection, "SELECT seq FROM " + table + " WHERE 1 = 0");
    }

    private static boolean succeeds(Connection connection, String sql) throws SQLException {
        boolean wasAutoCommit = connection.getAutoCommit();
        // With auto-commit, because PostgreSQL refuses all further statements of a transaction after a failure.
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            return false;
        } finally {
            connection.setAutoCommit(wasAutoCommit);
        }
    }
}
