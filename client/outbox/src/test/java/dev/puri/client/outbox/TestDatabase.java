package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database server of the tests' own. */
public interface TestDatabase extends AutoCloseable {
    Dialect dialect();

    /** Where it is; the same for its life. */
    String jdbcUrl();

    /** Stops it in order and starts it again; its data stay. */
    void restart() throws Exception;

    @Override
    void close();

    default DataSource dataSource() {
        return dataSource(dialect(), jdbcUrl());
    }

    static DataSource dataSource(Dialect dialect, String url) {
        try {
            if (dialect != Dialect.POSTGRESQL) {
                return new MariaDbDataSource(url);
            }
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setURL(url);
            return dataSource;
        } catch (SQLException e) {
            throw new IllegalArgumentException(url, e);
        }
    }

    /** Runs statements outside a transaction. */
    default void execute(Iterable<String> statements) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
