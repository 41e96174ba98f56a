package dev.puri.spring.boot;

import dev.puri.client.outbox.Outbox;
import dev.puri.schemas.log.Event;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Adds events to the Spring transaction of the calling thread. They are published if it commits, and not if it is rolled
 * back.
 *
 * <pre>{@code
 * @Transactional
 * public void create(NewIdentity track, String title) {
 *     jdbc.update("INSERT INTO tracks (id, title) VALUES (?, ?)", track.uuid(), title);
 *     outbox.add(events.created(track, owner, shard).attribute("title", title).build());
 * }
 * }</pre>
 *
 * <p>It works with every transaction manager that binds a JDBC connection of the outbox's {@code DataSource} to the thread:
 * those for JDBC, Jakarta Persistence and Hibernate do. Thread-safe.
 */
public final class TransactionOutbox {
    private final Outbox outbox;
    private final JdbcTemplate jdbc;
    private final WakeUp wakeUp;

    /**
     * @param dataSource of the application's transactions, and of the table
     * @param committed called after each commit of a transaction with events, by its thread; wakes a relay, and must
     *     not block
     */
    public TransactionOutbox(Outbox outbox, DataSource dataSource, Runnable committed) {
        this.outbox = outbox;
        this.jdbc = new JdbcTemplate(dataSource);
        this.wakeUp = new WakeUp(committed);
    }

    /**
     * Adds an event.
     *
     * @see #addAll
     */
    public void add(Event event) {
        addAll(List.of(event));
    }

    /**
     * Adds events, in this order.
     *
     * @throws IllegalTransactionStateException when the thread has no transaction of the outbox's {@code DataSource}
     * @throws org.springframework.dao.DataAccessException when the database refuses them
     * @throws IllegalArgumentException when an event is larger than {@link Outbox#MAX_PAYLOAD_BYTES}
     */
    public void addAll(List<Event> events) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalTransactionStateException(
                    "an event is added to the outbox in the transaction of the change that it reports, and there is none;"
                            + " is the method @Transactional, and called through its bean?");
        }
        ConnectionCallback<Integer> adding = connection -> {
            if (connection.getAutoCommit()) {
                throw new IllegalTransactionStateException(
                        "the active transaction is of another DataSource than the outbox's");
            }
            outbox.addAll(connection, events);
            return events.size();
        };
        jdbc.execute(adding);
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            // A set: once for each transaction, however many events it adds.
            TransactionSynchronizationManager.registerSynchronization(wakeUp);
        }
    }

    private record WakeUp(Runnable committed) implements TransactionSynchronization {
        @Override
        public void afterCommit() {
            committed.run();
        }
    }
}
