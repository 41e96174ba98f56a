package dev.puri.cli.imports;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rows of a query. It reads from a cursor in one transaction, so that it needs no memory for all rows. */
final class JdbcRows implements RowSource {
    private static final int FETCH_SIZE = 2_000;

    private final @Nullable URLClassLoader driverLoader;
    private final Connection connection;
    private final Statement statement;
    private final ResultSet result;
    private final List<String> columns = new ArrayList<>();

    JdbcRows(Jdbc origin, Map<String, String> environment) throws IOException, SQLException {
        driverLoader = origin.driver() == null ? null : loader(origin.driver());
        connection = connect(origin, environment);
        try {
            connection.setReadOnly(true);
            // PostgreSQL's driver uses a cursor only inside a transaction.
            connection.setAutoCommit(false);
            statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
            statement.setFetchSize(FETCH_SIZE);
            result = statement.executeQuery(origin.query());
            ResultSetMetaData metadata = result.getMetaData();
            for (int i = 1; i <= metadata.getColumnCount(); i++) {
                columns.add(metadata.getColumnLabel(i));
            }
        } catch (SQLException e) {
            connection.close();
            closeLoader();
            throw e;
        }
    }

    private static URLClassLoader loader(Path driver) throws IOException {
        if (!Files.isRegularFile(driver)) {
            throw new IOException("the driver " + driver + " is not a file");
        }
        return new URLClassLoader(new URL[] {driver.toUri().toURL()}, JdbcRows.class.getClassLoader());
    }

    private Connection connect(Jdbc origin, Map<String, String> environment) throws IOException, SQLException {
        Properties properties = new Properties();
        if (origin.user() != null) {
            properties.setProperty("user", origin.user());
        }
        if (origin.passwordVariable() != null) {
            String password = environment.get(origin.passwordVariable());
            if (password == null) {
                closeLoader();
                throw new IOException("the environment variable " + origin.passwordVariable() + " is not set");
            }
            properties.setProperty("password", password);
        }
        try {
            if (driverLoader == null) {
                return DriverManager.getConnection(origin.url(), properties);
            }
            for (Driver driver : ServiceLoader.load(Driver.class, driverLoader)) {
                Connection connected = driver.connect(origin.url(), properties);
                if (connected != null) {
                    return connected;
                }
            }
            throw new SQLException("no driver in " + origin.driver() + " accepts " + origin.name());
        } catch (SQLException e) {
            closeLoader();
            throw e;
        }
    }

    @Override
    public Set<String> columns() {
        return new LinkedHashSet<>(columns);
    }

    @Override
    public @Nullable Map<String, String> next() throws SQLException {
        if (!result.next()) {
            return null;
        }
        Map<String, String> row = new HashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            String value = result.getString(i + 1);
            if (value != null && !value.isEmpty()) {
                row.put(columns.get(i), value);
            }
        }
        return row;
    }

    @Override
    public void close() throws IOException, SQLException {
        try (connection;
                statement;
                result) {
            connection.rollback();
        } finally {
            closeLoader();
        }
    }

    private void closeLoader() throws IOException {
        if (driverLoader != null) {
            driverLoader.close();
        }
    }
}
