package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxSchemaTest {
    @ParameterizedTest
    @EnumSource(Dialect.class)
    void everyTableTakesTheGivenName(Dialect dialect) {
        assertThat(OutboxSchema.sql(dialect, "catalog.events_out"))
                .contains("CREATE TABLE catalog.events_out (")
                .contains("CREATE TABLE catalog.events_out_blocked (")
                .doesNotContain("puri_outbox");
        assertThat(OutboxSchema.sql(dialect)).contains("CREATE TABLE puri_outbox (");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a;b", "a b", "A", "1a", "a.b.c", "a.", ".a", "a'b", "a-b", "\"a\""})
    void refusesNamesThatAreMoreThanAName(String name) {
        assertThatThrownBy(() -> OutboxSchema.sql(Dialect.POSTGRESQL, name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + name + "\"");
        assertThatThrownBy(() -> new Outbox(Dialect.MYSQL, name, () -> null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void mySqlAndMariaDbHaveTheSameTables() {
        assertThat(withoutComments(Dialect.MYSQL)).isEqualTo(withoutComments(Dialect.MARIADB));
    }

    private static String withoutComments(Dialect dialect) {
        return OutboxSchema.sql(dialect).replaceAll("(?m)^--.*$", "");
    }

    @Test
    void theErrorOfAMissingTableNamesTheFileThatCreatesIt() {
        SQLException missing = new SQLException("relation \"puri_outbox\" does not exist", "42P01", 7);
        assertThat((Throwable) OutboxSchema.withMissingTableHint(missing, Dialect.POSTGRESQL, "puri_outbox"))
                .hasMessageContainingAll("does not exist; ", "dev/puri/client/outbox/postgresql/V1__puri_outbox.sql")
                .hasCause(missing);
        SQLException other = new SQLException("deadlock detected", "40P01");
        assertThat((Throwable) OutboxSchema.withMissingTableHint(other, Dialect.POSTGRESQL, "puri_outbox"))
                .isSameAs(other);
    }
}
