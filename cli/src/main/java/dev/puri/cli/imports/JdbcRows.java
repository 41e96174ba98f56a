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
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rows of a query. It reads from a cursor in one transaction, so that it needs no memory for all rows. */
final class JdbcRows implements RowSource {
    private static final int FETCH_SIZE = 2_000;

    private static final Pattern INTEGER = Pattern.compile("-?[0-9]+");

    private static final Set<Integer> TYPES_WITH_FRACTIONS =
            Set.of(Types.DECIMAL, Types.NUMERIC, Types.FLOAT, Types.REAL, Types.DOUBLE);

    private final Session session;
    private final Statement statement;
    private final ResultSet result;
    private final List<String> columns = new ArrayList<>();

    /** The columns whose values may be numbers with a fraction or an exponent. */
    private final Set<String> decimalColumns = new HashSet<>();

    JdbcRows(Jdbc origin, Map<String, String> environment) throws IOException, SQLException {
        session = Session.open(origin, environment);
        try {
            Connection connection = session.connection();
            // PostgreSQL's driver uses a cursor only inside a transaction.
            connection.setAutoCommit(false);
            statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
            statement.setFetchSize(FETCH_SIZE);
            result = statement.executeQuery(origin.query());
            ResultSetMetaData metadata = result.getMetaData();
            for (int i = 1; i <= metadata.getColumnCount(); i++) {
                columns.add(metadata.getColumnLabel(i));
                if (TYPES_WITH_FRACTIONS.contains(metadata.getColumnType(i))) {
                    decimalColumns.add(metadata.getColumnLabel(i));
                }
            }
            if (new HashSet<>(columns).size() < columns.size()) {
                throw new SQLException("two columns have the same name: " + String.join(", ", columns));
            }
        } catch (SQLException | RuntimeException e) {
            try (session) {
                throw e;
            }
        }
    }

    /** Returns the number of rows of a query; null if the database cannot count them. */
    static @Nullable Long count(Jdbc origin, Map<String, String> environment) throws IOException {
        // A line end, because the query may end with a comment.
        String query = "select count(*) from (" + origin.query().strip().replaceFirst(";$", "") + "\n) counted";
        try (Session session = Session.open(origin, environment);
                Statement statement = session.connection().createStatement();
                ResultSet result = statement.executeQuery(query)) {
            return result.next() ? result.getLong(1) : null;
        } catch (SQLException e) {
            // Some databases allow no ORDER BY there. If the query is wrong, its own execution says how.
            return null;
        }
    }

    /**
     * A connection for reading, with the class loader of its driver.
     *
     * @param driverLoader null if the driver is on the class path
     */
    private record Session(@Nullable URLClassLoader driverLoader, Connection connection) implements AutoCloseable {
        static Session open(Jdbc origin, Map<String, String> environment) throws IOException, SQLException {
            Session session = connect(origin, properties(origin, environment));
            try {
                session.connection().setReadOnly(true);
                return session;
            } catch (SQLException | RuntimeException e) {
                try (session) {
                    throw e;
                }
            }
        }

        private static Session connect(Jdbc origin, Properties properties) throws IOException, SQLException {
            URLClassLoader loader = origin.driver() == null ? null : loader(origin.driver());
            try {
                return new Session(loader, connect(origin, properties, loader));
            } catch (SQLException | RuntimeException e) {
                if (loader != null) {
                    loader.close();
                }
                throw e;
            }
        }

        private static Properties properties(Jdbc origin, Map<String, String> environment) throws IOException {
            Properties properties = new Properties();
            if (origin.user() != null) {
                properties.setProperty("user", origin.user());
            }
            if (origin.passwordVariable() != null) {
                String password = environment.get(origin.passwordVariable());
                if (password == null) {
                    throw new IOException("the environment variable " + origin.passwordVariable() + " is not set");
                }
                properties.setProperty("password", password);
            }
            return properties;
        }

        private static URLClassLoader loader(Path driver) throws IOException {
            if (!Files.isRegularFile(driver)) {
                throw new IOException("the driver " + driver + " is not a file");
            }
            return new URLClassLoader(new URL[] {driver.toUri().toURL()}, JdbcRows.class.getClassLoader());
        }

        private static Connection connect(Jdbc origin, Properties properties, @Nullable URLClassLoader loader)
                throws SQLException {
            if (loader == null) {
                return driverOnClassPath(origin).connect(origin.url(), properties);
            }
            try {
                for (Driver driver : ServiceLoader.load(Driver.class, loader)) {
                    Connection connected = driver.connect(origin.url(), properties);
                    if (connected != null) {
                        return connected;
                    }
                }
            } catch (ServiceConfigurationError e) {
                throw new SQLException("the driver " + origin.driver() + " cannot be used: " + e.getMessage(), e);
            }
            throw new SQLException("no driver in " + origin.driver() + " accepts the URL");
        }

        private static Driver driverOnClassPath(Jdbc origin) throws SQLException {
            try {
                return DriverManager.getDriver(origin.url());
            } catch (SQLException e) {
                // Not the manager's own message for a connection, which contains the URL with its password.
                throw new SQLException(
                        "no driver on the class path accepts the URL; name the jar of one with driver: in the mapping",
                        e);
            }
        }

        @Override
        public void close() throws IOException, SQLException {
            try {
                connection.close();
            } finally {
                if (driverLoader != null) {
                    driverLoader.close();
                }
            }
        }
    }

    @Override
    public Set<String> columns() {
        return new LinkedHashSet<>(columns);
    }

    @Override
    public @Nullable SourceRow next() throws SQLException {
        if (!result.next()) {
            return null;
        }
        Map<String, String> row = new HashMap<>();
        Set<String> fractional = Set.of();
        for (int i = 0; i < columns.size(); i++) {
            String column = columns.get(i);
            String value = result.getString(i + 1);
            if (value != null && !value.isEmpty()) {
                row.put(column, value);
                if (decimalColumns.contains(column) && !INTEGER.matcher(value).matches()) {
                    fractional = fractional.isEmpty() ? new HashSet<>() : fractional;
                    fractional.add(column);
                }
            }
        }
        return new SourceRow.Values(row, Set.of(), fractional);
    }

    @Override
    public void close() throws IOException, SQLException {
        try (session;
                statement;
                result) {
            session.connection().rollback();
        }
    }
}
