package dev.puri.client.outbox.debezium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.debezium.config.Configuration;
import io.debezium.connector.postgresql.PostgresConnectorConfig;
import io.debezium.embedded.async.AsyncEngineConfig;
import io.debezium.relational.TableId;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DebeziumFeedTest {
    @ParameterizedTest
    @ValueSource(strings = {"public", "Tenant-7", "my schema", "a.b", "a\"b"})
    void readsTheTableInASchemaWithAnyName(String schema) {
        Map<String, String> properties =
                DebeziumFeed.fixedProperties(new OutboxReplication(schema, "puri_outbox", "publication", "slot"));
        PostgresConnectorConfig config = new PostgresConnectorConfig(Configuration.from(properties));
        TableId table = new TableId(null, schema, "puri_outbox");
        assertThat(config.getSnapshotSelectOverridesByTable())
                .containsExactly(Map.entry(
                        table,
                        "SELECT seq FROM \"" + schema.replace("\"", "\"\"") + "\".\"puri_outbox\" ORDER BY seq"));
        assertThat(config.getTableFilters().dataCollectionFilter().isIncluded(table))
                .isTrue();
    }

    /** The creation of the slot waits for older transactions. */
    @Test
    void aStartMayTakeHours() {
        Configuration config = Configuration.from(DebeziumFeed.DEFAULTS);
        assertThat(config.getLong(AsyncEngineConfig.TASK_MANAGEMENT_TIMEOUT_MS)).isEqualTo(6 * 3600 * 1000);
        assertThat(new PostgresConnectorConfig(config).createSlotCommandTimeout())
                .isEqualTo(6 * 3600);
    }

    /** The statement would be overwritten. */
    @Test
    void refusesAStatementForTheSnapshotOfItsTable() {
        String property = "snapshot.select.statement.overrides.public.puri_outbox";
        assertThatThrownBy(() -> new DebeziumFeed("puri_outbox", Map.of(property, "SELECT 1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(property);
    }

    @Test
    void refusesPropertiesThatItSetsItself() {
        Map<String, String> properties = Map.of(
                "database.hostname", "db-1", "slot.name", "mine", "snapshot.mode", "never", "poll.interval.ms", "5");
        assertThatThrownBy(() -> new DebeziumFeed("puri_outbox", properties))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("slot.name, snapshot.mode");
    }
}
