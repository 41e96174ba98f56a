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
 * The dialect and the table name of an outbox.
 *
 * @param table name of the outbox table, valid for {@link OutboxSchema#sql(Dialect, String)}
 */
record OutboxDatabase(Dialect dialect, String table) {
    /**
     * Detects the dialect if it is not set, and creates the tables if this is enabled. Otherwise opens no connection.
     */
    static OutboxDatabase open(DataSource dataSource, PuriProperties.Outbox settings) {
        requireValidTableName(settings.table());
        String configuredDialect = settings.dialect();
        if (configuredDialect != null && !settings.createTables()) {
            return new OutboxDatabase(dialect(configuredDialect), settings.table());
        }
        try (Connection connection = dataSource.getConnection()) {
            Dialect dialect = dialect(configuredDialect != null ? configuredDialect : productName(connection));
            if (settings.createTables()) {
                createTables(connection, dialect, settings.table());
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
     * Returns the dialect for a database's product name.
     *
     * @throws InvalidPuriPropertiesException if the database is not supported
     */
    static Dialect dialect(@Nullable String product) {
        String name = String.valueOf(product).toLowerCase(Locale.ROOT);
        if (!PropertyMistakes.DIALECTS.contains(name)) {
            throw new InvalidPuriPropertiesException(
                    List.of("puri.outbox.dialect: is not set, and the product name of the database is \"" + product
                            + "\". Set puri.outbox.dialect to postgresql, mysql or mariadb, or set"
                            + " puri.outbox.enabled=false"));
        }
        return Dialect.valueOf(name.toUpperCase(Locale.ROOT));
    }

    /**
     * Creates missing tables, in one transaction if the database supports this. Several instances may do this at the
     * same time.
     */
    private static void createTables(Connection connection, Dialect dialect, String table) throws SQLException {
        if (exists(connection, table)) {
            return;
        }
        boolean wasAutoCommit = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            for (String sql : OutboxSchema.statements(dialect, table)) {
                statement.execute(sql);
            }
            connection.commit();
        } catch (SQLException e) {
            connection.rollback();
            connection.setAutoCommit(true);
            if (!exists(connection, table)) {
                throw e;
            }
        } finally {
            connection.setAutoCommit(wasAutoCommit);
        }
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        boolean wasAutoCommit = connection.getAutoCommit();
        // With auto-commit, because PostgreSQL refuses all further statements of a transaction after a failure.
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT seq FROM " + table + " WHERE 1 = 0");
            return true;
        } catch (SQLException e) {
            return false;
        } finally {
            connection.setAutoCommit(wasAutoCommit);
        }
    }
}
