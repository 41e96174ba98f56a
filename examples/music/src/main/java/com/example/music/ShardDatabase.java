package com.example.music;

import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.spring.boot.TransactionOutbox;
import java.util.UUID;
import java.util.function.Consumer;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/** The database of one shard, with its outbox. */
record ShardDatabase(Shard shard, JdbcClient jdbc, TransactionTemplate transaction, TransactionOutbox outbox) {
    /** Writes rows and their event in one transaction. */
    void write(Consumer<JdbcClient> rows, Event event) {
        transaction.executeWithoutResult(status -> {
            rows.accept(jdbc);
            outbox.add(event);
        });
    }

    /** Deletes a row, and also its event if the relay has not published it yet. */
    void delete(String table, UUID id, Event event) {
        transaction.executeWithoutResult(status -> {
            jdbc.sql("DELETE FROM " + table + " WHERE id = ?").param(id).update();
            jdbc.sql("DELETE FROM puri_outbox WHERE id = ?")
                    .param(event.eventId())
                    .update();
        });
    }
}
