package dev.puri.spring.boot;

import dev.puri.client.outbox.Outbox;
import dev.puri.schemas.log.Event;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
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
 * <p>It works with every transaction manager that binds a JDBC connection of the outbox's {@code DataSource} to the thread: those for
 * JDBC, Jakarta Persistence and Hibernate do. In any other transaction, for example of JTA, it refuses events, because the row would be
 * committed or rolled back independently of the change that it reports.
 *
 * <p>After the commit, for example in a listener of the phase {@code AFTER_COMMIT}, a new transaction is needed. An event that is added
 * there without one is refused if the transaction had events before. If it is the first one, it is lost: Spring shows that only at
 * the end of the transaction, and it is logged as an error. Thread-safe.
 */
public final class TransactionOutbox {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionOutbox.class);

    private final Outbox outbox;
    private final JdbcTemplate jdbc;
    private final BoundConnections bound;
    private final Runnable committed;

    /**
     * @param dataSource the DataSource of the application's transactions and of the outbox's table
     * @param committed called after the commit of a transaction with events, on its thread, for example to wake a relay; must not
     *     block
     */
    public TransactionOutbox(Outbox outbox, DataSource dataSource, Runnable committed) {
        this.outbox = outbox;
        DataSource target = target(dataSource);
        this.jdbc = new JdbcTemplate(target);
        this.bound = new BoundConnections(target);
        this.committed = committed;
    }

    /** The DataSource whose connections transaction managers bind to the thread. */
    private static DataSource target(DataSource dataSource) {
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : dataSource;
        return target == null ? dataSource : target;
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
     * @throws IllegalTransactionStateException if the thread has no transaction of the outbox's {@code DataSource}, or its transaction
     *     has been committed with other events
     * @throws IllegalStateException if the transaction's connection has auto-commit on, as with
     *     {@code hibernate.connection.provider_disables_autocommit} and a pool that does not
     * @throws org.springframework.dao.DataAccessException if the database refuses them
     * @throws IllegalArgumentException if an event is larger than {@link Outbox#MAX_PAYLOAD_BYTES}
     */
    public void addAll(List<Event> events) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalTransactionStateException(
                    "an event is added to the outbox in the transaction of the change that it reports, and there is none;"
                            + " is the method @Transactional, and called through its bean?");
        }
        if (!bound.hasTransaction()) {
            throw new IllegalTransactionStateException(
                    "the active transaction has no connection of the outbox's DataSource, so the event would not be committed"
                            + " with it: the transaction is of another DataSource, or of JTA. Name the transaction manager"
                            + " of the outbox's DataSource, as in @Transactional(\"catalogTransactions\"), or make the"
                            + " TransactionOutbox with the DataSource of the transaction");
        }
        Commit commit = commit();
        if (commit != null && commit.isDone) {
            throw new IllegalTransactionStateException(
                    "the transaction has been committed, so the event would be lost: a listener of the phase AFTER_COMMIT"
                            + " needs a new transaction, as of @Transactional(propagation = REQUIRES_NEW)");
        }
        ConnectionCallback<Integer> adding = connection -> {
            outbox.addAll(connection, events);
            return events.size();
        };
        jdbc.execute(adding);
        if (commit == null && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new Commit());
        }
    }

    /** The state of this outbox in the thread's transaction; null before its first event. */
    private @Nullable Commit commit() {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            return null;
        }
        return TransactionSynchronizationManager.getSynchronizations().stream()
                .filter(each -> each instanceof Commit commit && commit.isOf(this))
                .map(Commit.class::cast)
                .findFirst()
                .orElse(null);
    }

    /**
     * Checks whether a transaction manager has bound a connection to the thread. {@code DataSourceUtils} binds connections too, when one
     * is used inside a transaction of another DataSource. Such a connection has no transaction: with auto-commit off, its writes are
     * rolled back when it returns to its pool. The difference is visible only to subclasses of Spring's transaction manager
     * ({@code isExistingTransaction}), so this is one.
     */
    private static final class BoundConnections extends DataSourceTransactionManager {
        private static final long serialVersionUID = 1L;

        BoundConnections(DataSource dataSource) {
            super(dataSource);
        }

        boolean hasTransaction() {
            Object resource = TransactionSynchronizationManager.getResource(obtainDataSource());
            // DataSourceUtils and the manager for JDBC mark their connections as synchronized; other managers do not.
            return resource instanceof ConnectionHolder connection
                    && (!connection.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
        }
    }

    /** Follows a transaction with events. Spring does not call {@link #afterCommit} if the first event was added after the commit. */
    private final class Commit implements TransactionSynchronization {
        private boolean isDone;

        boolean isOf(TransactionOutbox of) {
            return of == TransactionOutbox.this;
        }

        /** First, before other callbacks that may add events after the commit. */
        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            isDone = true;
            committed.run();
        }

        @Override
        public void afterCompletion(int status) {
            if (status == STATUS_COMMITTED && !isDone) {
                LOG.error("Events were added to the outbox after their transaction had been committed, and are lost: a"
                        + " listener of the phase AFTER_COMMIT needs a new transaction");
            }
        }
    }
}
