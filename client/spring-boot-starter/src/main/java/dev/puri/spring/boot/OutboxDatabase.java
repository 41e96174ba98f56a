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
 * The dialect and the table of an outbox.
 *
 * @param table as {@link OutboxSchema#sql(Dialect, String)} takes it
 */
record OutboxDatabase(Dialect dialect, String table) {
    /** Detects the dialect unless it is set, and creates the tables if that is enabled. Opens a connection only for these. */
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
     * Returns the dialect for a database's product name.
     *
     * @throws InvalidPuriPropertiesException if the database is not supported
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

    /** Creates missing tables, in one transaction if the database supports that for tables. Several instances may do so at once. */
    private static void createTables(Connection connection, Dialect dialect, String table) throws SQLException {
        if (exists(connection, table)) {
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
            if (!exists(connection, table)) {
                throw e;
            }
        } finally {
            connection.setAutoCommit(commitsByItself);
        }
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        boolean commitsByItself = connection.getAutoCommit();
        // In a transaction, PostgreSQL would refuse all statements after the failing one.
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
