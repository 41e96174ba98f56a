package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class H2Test extends DatabaseContract {
    @Override
    Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:h2:mem:");
    }

    @Override
    Dialect dialect() {
        return Dialect.H2;
    }

    /** Checks the SQL only as far as H2 emulates MySQL; this test has no MySQL server. */
    @Test
    void theSqlForMysqlIsSqlToH2InItsMode() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:;MODE=MySQL");
                Statement statement = connection.createStatement()) {
            PuriColumns users = PuriColumns.of("music", "users");
            assertThatCode(() -> statement.execute("create table t ("
                            + users.asLong().columnSql(Dialect.MYSQL, "a") + ", "
                            + users.asText().columnSql(Dialect.MYSQL, "b") + ", "
                            + users.asUuidBinary().columnSql(Dialect.MYSQL, "c") + ")"))
                    .doesNotThrowAnyException();
        }
    }
}
