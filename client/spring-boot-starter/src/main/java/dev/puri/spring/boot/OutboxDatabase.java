package dev.puri.spring.boot;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.schemas.serde.UserInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Where an outbox is.
 *
 * @param table as {@link OutboxSchema#sql(Dialect, String)} takes it
 */
record OutboxDatabase(Dialect dialect, String table) {
    /** Finds the dialect and makes the tables if both are asked for; else it opens no connection. */
    static OutboxDatabase open(DataSource dataSource, PuriProperties.Outbox settings) {
        requireTable(settings.table());
        String named = settings.dialect();
        if (named != null && !settings.createTables()) {
            return new OutboxDatabase(dialect(named), settings.table());
        }
        try (Connection connection = dataSource.getConnection()) {
            Dialect dialect = dialect(named != null ? named : productOf(connection));
            if (settings.createTables()) {
                createTables(connection, dialect, settings.table());
            }
            return new OutboxDatabase(dialect, settings.table());
        } catch (SQLException e) {
            throw new DataAccessResourceFailureException(
                    "the database of the outbox fails: " + UserInfo.masked(String.valueOf(e.getMessage())), e);
        }
    }

    private static void requireTable(String table) {
        try {
            OutboxSchema.sql(Dialect.POSTGRESQL, table);
        } catch (IllegalArgumentException e) {
            throw new InvalidPuriPropertiesException(List.of("puri.outbox.table=" + table + ": " + e.getMessage()));
        }
    }

    private static String productOf(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName();
    }

    /**
     * The dialect of a database that calls itself so.
     *
     * @throws InvalidPuriPropertiesException when an outbox cannot be in it
     */
    static Dialect dialect(@Nullable String product) {
        String name = String.valueOf(product).toLowerCase(Locale.ROOT);
        if (!PropertyMistakes.DIALECTS.contains(name)) {
            throw new InvalidPuriPropertiesException(
                    List.of("puri.outbox.dialect: is not set, and the database calls itself \"" + product
                            + "\". Set it to postgresql, mysql or mariadb, or puri.outbox.enabled=false"));
        }
        return Dialect.valueOf(name.toUpperCase(Locale.ROOT));
    }

    /** In one transaction, where the database has such; several instances may start at once. */
    private static void createTables(Connection connection, Dialect dialect, String table) throws SQLException {
        if (isThere(connection, table)) {
            return;
        }
        boolean commitsByItself = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            for (String sql : OutboxSchema.statements(dialect, table)) {
                statement.execute(sql);
            }
            connection.commit();
        } catch (SQLException e) {
            connection.rollback();
            connection.setAutoCommit(true);
            if (!isThere(connection, table)) {
                throw e;
            }
        } finally {
            connection.setAutoCommit(commitsByItself);
        }
    }

    private static boolean isThere(Connection connection, String table) throws SQLException {
        boolean commitsByItself = connection.getAutoCommit();
        // In a transaction PostgreSQL would refuse every statement after the one that fails.
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT seq FROM " + table + " WHERE 1 = 0");
            return true;
        } catch (SQLException e) {
            return false;
        } finally {
            connection.setAutoCommit(commitsByItself);
        }
    }
}
