package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How every relay treats rows that cannot be published, on every database. */
public abstract class BlockedRowsContract extends RelayFixture {
    @Test
    void aRowThatTheBrokerRefusesBlocksItsOwnPuriUntilItIsTaken() throws Exception {
        EventLog log = log();
        log.setMaxMessageBytes(3000);
        OutboxRelay relay = relay();
        UUID first = commit(event("a"));
        UUID tooLarge = commit(large("a"));
        UUID behind = commit(event("a"));
        UUID other = commit(event("b"));
        until(() -> {
            assertThat(log.idsOf(puri("b"))).containsExactly(other);
            assertThat(relay.status().blockedRows()).isEqualTo(2);
        });
        RelayStatus status = relay.status();
        assertThat(status.problem()).isNull();
        assertThat(status.blocked()).singleElement().satisfies(blocked -> {
            assertThat(blocked.puri()).isEqualTo(puri("a"));
            assertThat(blocked.eventId()).isEqualTo(tooLarge);
            assertThat(blocked.reason()).contains("RecordTooLarge");
        });

        UUID last = commit(event("a"));
        UUID otherLast = commit(event("b"));
        until(() -> {
            assertThat(log.idsOf(puri("b"))).containsExactly(other, otherLast);
            assertThat(relay.status().blockedRows()).isEqualTo(3);
        });
        assertThat(log.idsOf(puri("a"))).containsExactly(first);

        assertThat(relay.retry(behind)).as("a row that waits behind another").isFalse();
        assertThat(relay.retry(tooLarge)).isTrue();
        log.setMaxMessageBytes(1_000_000);
        // It may be published already: its next attempt may have come first.
        relay.retry(tooLarge);
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first, tooLarge, behind, last));
        until(() -> assertThat(relay.status().blockedRows()).isZero());
        assertThat(relay.status().waiting()).isZero();
    }

    @Test
    void rowsOfOneTransactionDoNotOvertakeTheOneThatTheBrokerRefuses() throws Exception {
        EventLog log = log();
        log.setMaxMessageBytes(3000);
        List<Event> all = List.of(event("a"), large("a"), event("a"), event("b"));
        try (Connection connection = transaction()) {
            outbox().addAll(connection, all);
            connection.commit();
        }
        OutboxRelay relay = relay();
        until(() -> {
            assertThat(relay.status().blockedRows()).isEqualTo(2);
            assertThat(log.idsOf(puri("b"))).containsExactly(all.get(3).eventId());
        });
        assertThat(log.idsOf(puri("a"))).containsExactly(all.get(0).eventId());

        assertThat(relay.skip(all.get(1).eventId())).isTrue();
        assertThat(relay.skip(all.get(1).eventId())).isFalse();
        until(() -> assertThat(log.idsOf(puri("a")))
                .containsExactly(all.get(0).eventId(), all.get(2).eventId()));
    }

    @Test
    void onlyTheFirstBlockedRowOfAPuriHasATimeToRetry() throws Exception {
        log().setMaxMessageBytes(3000);
        OutboxRelay relay = relay();
        UUID first = commit(large("a"));
        commit(event("a"));
        commit(event("a"));
        until(() -> assertThat(relay.status().blockedRows()).isEqualTo(3));
        until(() -> assertThat(relay.status().blocked())
                .singleElement()
                .satisfies(blocked -> assertThat(blocked.eventId()).isEqualTo(first)));
        try (Connection connection = database().dataSource().getConnection();
                ResultSet times = connection
                        .createStatement()
                        .executeQuery("SELECT COUNT(retry_ms) FROM " + table + "_blocked")) {
            times.next();
            assertThat(times.getInt(1)).isEqualTo(1);
        }
    }

    @Test
    void aRelayThatStartsRetriesBlockedRowsThatAKilledOneLeftWithoutATime() throws Exception {
        EventLog log = log();
        List<UUID> ids = List.of(commit(event("a")), commit(event("a")));
        String columns = "seq, id, aggregatetype, aggregateid, type, payload, created_ms";
        database()
                .execute(List.of(
                        "INSERT INTO " + table + "_blocked (" + columns + ", attempts) SELECT " + columns + ", 0 FROM "
                                + table,
                        "DELETE FROM " + table));
        relay();
        until(() -> assertThat(log.idsOf(puri("a"))).isEqualTo(ids));
    }

    /** As when an operator's process ends between two statements of a skip. */
    @Test
    void aRelayThatLeadsAlreadyRetriesBlockedRowsWithoutATime() throws Exception {
        EventLog log = log();
        OutboxRelay relay =
                relay(settings().withTimes(Duration.ofMillis(20), Duration.ofMillis(300), SHORT), Feed.NONE);
        UUID first = commit(event("a"));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first));
        log.setMaxMessageBytes(3000);
        UUID tooLarge = commit(large("a"));
        UUID behind = commit(event("a"));
        until(() -> assertThat(relay.status().blockedRows()).isEqualTo(2));
        database().execute(List.of("DELETE FROM " + table + "_blocked WHERE error IS NOT NULL"));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(first, behind));
        assertThat(log.idsOf(puri("a"))).doesNotContain(tooLarge);
    }

    /** More rows than a page has. */
    @Test
    void blockedRowsThatComeDueTogetherAreAllPublished() throws Exception {
        EventLog log = log();
        int rows = commitThreePages();
        String columns = "seq, id, aggregatetype, aggregateid, type, payload, created_ms";
        database()
                .execute(List.of(
                        "INSERT INTO " + table + "_blocked (" + columns + ", attempts, error, retry_ms) SELECT "
                                + columns + ", 1, 'refused', 7 FROM " + table,
                        "DELETE FROM " + table));
        OutboxRelay relay = relay();
        until(() -> assertThat(relay.status().blockedRows()).isZero());
        assertThat(log.applied()).hasSize(rows);
    }

    @Test
    void aRowThatCannotBeReadBlocksItsOwnPuri() throws Exception {
        EventLog log = log();
        UUID broken = commit(event("a"));
        database().execute(List.of("UPDATE " + table + " SET payload = '" + "garbage" + "'"));
        UUID other = commit(event("b"));
        OutboxRelay relay = relay();
        until(() -> assertThat(log.idsOf(puri("b"))).containsExactly(other));
        until(() -> assertThat(relay.status().blocked())
                .singleElement()
                .satisfies(blocked -> assertThat(blocked.eventId()).isEqualTo(broken)));
    }

    @Test
    void aMissingTopicBlocksItsOwnPuris() throws Exception {
        properties.put("max.block.ms", "1000");
        OutboxRelay relay = relay();
        UUID blocked = commit(event("a"));
        until(() -> assertThat(relay.status().blocked()).isNotEmpty());

        String missing = namespace;
        namespace = namespace + "-x";
        EventLog other = log();
        UUID published = commit(event("b"));
        until(() -> assertThat(other.idsOf(puri("b"))).containsExactly(published));

        namespace = missing;
        EventLog log = log();
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(blocked));
        until(() -> assertThat(relay.status().blockedRows()).isZero());
    }

    /** Asked one after the other, they would take eight times {@code max.block.ms}. */
    @Test
    void missingTopicsOfOneWaveTakeTheTimeOfOne() throws Exception {
        Duration maxBlock = Duration.ofSeconds(3);
        properties.put("max.block.ms", String.valueOf(maxBlock.toMillis()));
        OutboxRelay relay = relay();
        EventLog log = log();
        List<Event> all = new ArrayList<>(List.of(event("a")));
        String existing = namespace;
        for (int i = 0; i < 8; i++) {
            namespace = existing + "-" + i;
            all.add(event("a"));
        }
        namespace = existing;
        long begun = System.nanoTime();
        try (Connection connection = transaction()) {
            outbox().addAll(connection, all);
            connection.commit();
        }
        until(() -> assertThat(relay.status().blocked()).hasSize(8));
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(maxBlock.multipliedBy(4));
        until(() -> assertThat(log.idsOf(puri("a"))).containsExactly(all.get(0).eventId()));
    }
}
