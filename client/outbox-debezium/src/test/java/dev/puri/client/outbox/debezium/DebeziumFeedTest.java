package dev.puri.client.outbox.debezium;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class DebeziumFeedTest {
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
