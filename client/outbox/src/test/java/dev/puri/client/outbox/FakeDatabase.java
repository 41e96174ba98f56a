package dev.puri.client.outbox;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** A connection without a database, whose queries a test answers. Nothing is stored. */
final class FakeDatabase {
    /** Statements in their order. */
    final List<String> statements = new ArrayList<>();

    /** Statements that fail. */
    Predicate<String> fails = sql -> false;

    /** The rows of a query. */
    Function<String, List<Object[]>> rows = sql -> List.of();

    boolean isAborted;

    Connection connection() {
        return fake(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "prepareStatement" -> statement((String) arguments[0]);
            case "rollback" -> {
                run("ROLLBACK");
                yield null;
            }
            case "abort" -> {
                isAborted = true;
                yield null;
            }
            default -> null;
        });
    }

    private PreparedStatement statement(String sql) {
        return fake(PreparedStatement.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "executeQuery" -> {
                run(sql);
                yield result(rows.apply(sql).iterator());
            }
            case "executeUpdate" -> {
                run(sql);
                yield 1;
            }
            case "executeBatch" -> {
                run(sql);
                yield new int[0];
            }
            default -> null;
        });
    }

    private void run(String sql) throws SQLException {
        statements.add(sql);
        if (fails.test(sql)) {
            throw new SQLException("refused: " + sql);
        }
    }

    private static ResultSet result(Iterator<Object[]> rows) {
        Object[][] current = new Object[1][];
        return fake(ResultSet.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "next" -> {
                boolean hasNext = rows.hasNext();
                if (hasNext) {
                    current[0] = rows.next();
                }
                yield hasNext;
            }
            case "getString", "getInt", "getLong", "getBytes" -> current[0][(Integer) arguments[0] - 1];
            case "wasNull" -> false;
            default -> null;
        });
    }

    static <T> T fake(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }
}
