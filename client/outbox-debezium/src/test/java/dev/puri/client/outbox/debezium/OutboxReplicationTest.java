package dev.puri.client.outbox.debezium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxReplicationTest {
    private static <T> T fake(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    /** The setting search_path may have a schema with any name. */
    @Test
    void theNamesInThePublicationAreQuoted() throws SQLException {
        List<String> statements = new ArrayList<>();
        ResultSet empty = fake(ResultSet.class, (proxy, method, arguments) -> false);
        PreparedStatement statement =
                fake(PreparedStatement.class, (proxy, method, arguments) -> switch (method.getName()) {
                    case "executeQuery" -> empty;
                    case "execute" -> true;
                    default -> null;
                });
        Connection connection = fake(Connection.class, (proxy, method, arguments) -> {
            statements.add((String) arguments[0]);
            return statement;
        });

        new OutboxReplication("Tenant-7", "puri_outbox", "publication", "slot").createPublicationIfMissing(connection);

        assertThat(statements)
                .last()
                .isEqualTo("CREATE PUBLICATION publication FOR TABLE \"Tenant-7\".\"puri_outbox\""
                        + " WITH (publish = 'insert')");
    }

    @Test
    void refusesASchemaWithACommaInItsName() {
        ResultSet row = fake(ResultSet.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "next" -> true;
            case "getString" -> (int) arguments[0] == 4 ? "logical" : "a,b";
            case "getLong" -> 7L;
            default -> null;
        });
        PreparedStatement statement = fake(
                PreparedStatement.class,
                (proxy, method, arguments) -> method.getName().equals("executeQuery") ? row : null);
        Connection connection = fake(Connection.class, (proxy, method, arguments) -> statement);
        assertThatThrownBy(() -> OutboxReplication.of(connection, "puri_outbox"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("the schema \"a,b\" of puri_outbox has a comma");
    }
}
