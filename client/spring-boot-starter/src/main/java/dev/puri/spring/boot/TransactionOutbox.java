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
 * Adds events to an outbox in the Spring transaction of the calling thread. The events are published if the transaction
 * commits, and not if it is rolled back.
 *
 * <pre>{@code
 * @Transactional
 * public void create(NewIdentity track, String title) {
 *     jdbc.update("INSERT INTO tracks (id, title) VALUES (?, ?)", track.uuid(), title);
 *     outbox.add(events.created(track, owner, shard).attribute("title", title).build());
 * }
 * }</pre>
 *
 * <p>Works with every transaction manager that binds a JDBC connection of the outbox's {@code DataSource} to the
 * thread: the managers for JDBC, Jakarta Persistence and Hibernate do this. In any other transaction, for example of
 * JTA, this class refuses events, because an event would be committed or rolled back independently of the change that
 * it reports.
 *
 * <p>After the commit, for example in a listener of the phase {@code AFTER_COMMIT}, code needs a new transaction to add
 * events. Without a new transaction, an event is refused if other events were added before the commit. If none was
 * added, this class does not know of the commit: it accepts the event, the event is lost, and an error is logged when
 * Spring reports the completion of the transaction. Thread-safe.
 */
public final class TransactionOutbox {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionOutbox.class);

    private final Outbox outbox;
    private final JdbcTemplate jdbc;
    private final BoundConnections boundConnections;
    private final Runnable afterCommit;

    /**
     * @param dataSource the DataSource of the application's transactions and of the outbox's table
     * @param afterCommit called on the transaction's thread after the commit of a transaction with events, for example
     *     to wake a relay; must not block. Its exceptions are logged, because the transaction is committed
     */
    public TransactionOutbox(Outbox outbox, DataSource dataSource, Runnable afterCommit) {
        this.outbox = outbox;
        DataSource target = targetOf(dataSource);
        this.jdbc = new JdbcTemplate(target);
        this.boundConnections = new BoundConnections(target);
        this.afterCommit = afterCommit;
    }

    /** The DataSource whose connections transaction managers bind to the thread. */
    private static DataSource targetOf(DataSource dataSource) {
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
     * Adds events in the order of the list.
     *
     * @throws IllegalTransactionStateException if the thread has no transaction of the outbox's {@code DataSource}, or
     *     its transaction had events and is already committed
     * @throws IllegalStateException if the transaction's connection has auto-commit on, for example if
     *     {@code hibernate.connection.provider_disables_autocommit} is true but the pool does not disable auto-commit
     * @throws org.springframework.dao.DataAccessException if the database refuses the events
     * @throws IllegalArgumentException if an event is larger than {@link Outbox#MAX_PAYLOAD_BYTES}
     */
    public void addAll(List<Event> events) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalTransactionStateException(
                    "an event must be added to the outbox in the transaction of the change that it reports, but this thread"
                            + " has no transaction; is the method @Transactional, and called through its bean?");
        }
        if (!boundConnections.hasTransaction()) {
            throw new IllegalTransactionStateException(
                    "the active transaction has no connection of the outbox's DataSource, so the event would not be part of"
                            + " the transaction: it is a transaction of another DataSource, or of JTA. Name the transaction"
                            + " manager of the outbox's DataSource, as in @Transactional(\"catalogTransactions\"), or create"
                            + " the TransactionOutbox with the DataSource of the transaction");
        }
        CommitSynchronization synchronization = findSynchronization();
        if (synchronization != null && synchronization.isCommitted) {
            throw new IllegalTransactionStateException(
                    "the transaction has been committed, so the event would be lost: a listener of the phase AFTER_COMMIT"
                            + " needs a new transaction, for example by @Transactional(propagation = REQUIRES_NEW)");
        }
        ConnectionCallback<Integer> addEvents = connection -> {
            outbox.addAll(connection, events);
            return events.size();
        };
        jdbc.execute(addEvents);
        if (synchronization == null && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new CommitSynchronization());
        }
    }

    /**
     * Returns the synchronization of this outbox with the thread's transaction; null before the transaction's first
     * event.
     */
    private @Nullable CommitSynchronization findSynchronization() {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            return null;
        }
        return TransactionSynchronizationManager.getSynchronizations().stream()
                .filter(CommitSynchronization.class::isInstance)
                .map(CommitSynchronization.class::cast)
                .filter(synchronization -> synchronization.belongsTo(this))
                .findFirst()
                .orElse(null);
    }

    /**
     * Checks whether a transaction manager has bound a connection to the thread. {@code DataSourceUtils} also binds
     * connections, if a connection is used inside a transaction of another DataSource. Such a connection has no
     * transaction: with auto-commit off, its writes are rolled back when the connection returns to its pool. Only
     * subclasses of Spring's transaction manager can distinguish the two cases, by {@code isExistingTransaction}, so
     * this class extends it.
     */
    private static final class BoundConnections extends DataSourceTransactionManager {
        private static final long serialVersionUID = 1L;

        BoundConnections(DataSource dataSource) {
            super(dataSource);
        }

        boolean hasTransaction() {
            Object resource = TransactionSynchronizationManager.getResource(obtainDataSource());
            // A connection that is not marked as synchronized was bound by a manager for another API, so it has a
            // transaction. DataSourceUtils and the manager for JDBC both mark connections, so Spring must be asked.
            return resource instanceof ConnectionHolder connection
                    && (!connection.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
        }
    }

    /**
     * Observes the end of a transaction with events. Spring does not call {@link #afterCommit} if the first event was
     * added after the commit.
     */
    private final class CommitSynchronization implements TransactionSynchronization {
        private boolean isCommitted;

        boolean belongsTo(TransactionOutbox outbox) {
            return outbox == TransactionOutbox.this;
        }

        /** Runs before other callbacks, which may add events after the commit. */
        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            isCommitted = true;
            try {
                afterCommit.run();
            } catch (RuntimeException e) {
                // Spring would pass the exception to the caller of the committed transaction, which may then repeat it.
                LOG.warn("The transaction is committed, but the action after the commit failed", e);
            }
        }

        @Override
        public void afterCompletion(int status) {
            if (status == STATUS_COMMITTED && !isCommitted) {
                LOG.error(
                        "Events were added to the outbox after the transaction had been committed, so they are lost: a"
                                + " listener of the phase AFTER_COMMIT needs a new transaction");
            }
        }
    }
}
