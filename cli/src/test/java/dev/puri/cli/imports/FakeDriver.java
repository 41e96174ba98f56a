package dev.puri.cli.imports;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Types;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** A driver for URLs that begin with {@code jdbc:fake:}. */
final class FakeDriver implements Driver {
    private final Connection connection;

    /**
     * @param calls handles the calls of methods of the connection
     */
    FakeDriver(InvocationHandler calls) {
        this.connection = proxy(Connection.class, calls);
    }

    /**
     * Creates a driver of a database that answers each query with one row of one column: the id 1.
     *
     * @param onQuery receives each query before it is answered
     */
    static FakeDriver ofOneRow(Consumer<String> onQuery) {
        return new FakeDriver(
                (proxy, method, args) -> method.getName().equals("createStatement") ? statement(onQuery) : null);
    }

    private static Statement statement(Consumer<String> onQuery) {
        return proxy(Statement.class, (proxy, method, args) -> {
            if (!method.getName().equals("executeQuery")) {
                return null;
            }
            onQuery.accept(String.valueOf(args[0]));
            return result();
        });
    }

    private static ResultSet result() {
        AtomicInteger readCount = new AtomicInteger();
        return proxy(ResultSet.class, (proxy, method, args) -> switch (method.getName()) {
            case "next" -> readCount.getAndIncrement() == 0;
            case "getString" -> "1";
            case "getMetaData" -> metadata();
            default -> null;
        });
    }

    private static ResultSetMetaData metadata() {
        return proxy(ResultSetMetaData.class, (proxy, method, args) -> switch (method.getName()) {
            case "getColumnCount" -> 1;
            case "getColumnLabel" -> "id";
            case "getColumnType" -> Types.VARCHAR;
            default -> null;
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public @Nullable Connection connect(String url, Properties properties) {
        return acceptsURL(url) ? connection : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith("jdbc:fake:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }
}
