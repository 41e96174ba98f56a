package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** In which transactions an outbox takes part. Its connections have auto-commit off, as those of some pools. */
class TransactionOutboxTest {
    private final DataSource dataSource = new Pool(false);
    private final AtomicInteger commits = new AtomicInteger();
    private final TransactionOutbox outbox = outbox(dataSource);

    private TransactionOutbox outbox(DataSource of) {
        return new TransactionOutbox(new Outbox(Dialect.POSTGRESQL), of, commits::incrementAndGet);
    }

    private static TransactionTemplate transactionOf(DataSource dataSource) {
        return new TransactionTemplate(new DataSourceTransactionManager(dataSource));
    }

    @Test
    void acceptsATransactionOfTheSameDataSource() {
        transactionOf(dataSource).executeWithoutResult(status -> outbox.addAll(List.of()));
        assertThat(commits).hasValue(1);
    }

    @Test
    void acceptsATransactionThroughAProxyOfTheDataSource() {
        transactionOf(dataSource)
                .executeWithoutResult(status ->
                        outbox(new TransactionAwareDataSourceProxy(dataSource)).addAll(List.of()));
        assertThat(commits).hasValue(1);
    }

    /** While the application shuts down, the bean of the relay can no longer be looked up. */
    @Test
    void aCommittedTransactionSucceedsAlthoughTheActionAfterTheCommitFails() {
        TransactionOutbox failing = new TransactionOutbox(new Outbox(Dialect.POSTGRESQL), dataSource, () -> {
            commits.incrementAndGet();
            throw new IllegalStateException("injected");
        });
        transactionOf(dataSource).executeWithoutResult(status -> failing.addAll(List.of()));
        assertThat(commits).hasValue(1);
    }

    @Test
    void aTransactionOfAnotherDataSourceIsRefusedWithCauseAndCure() {
        assertRefused(() -> transactionOf(new Pool(false)).executeWithoutResult(status -> outbox.addAll(List.of())));
    }

    @Test
    void aConnectionThatIsOnlyUsedInsideAnotherTransactionIsRefused() {
        assertRefused(() -> transactionOf(new Pool(false)).executeWithoutResult(status -> {
            // Spring keeps the connection on the thread until the other transaction ends.
            new JdbcTemplate(dataSource).execute((Connection connection) -> 0);
            assertThat(TransactionSynchronizationManager.hasResource(dataSource))
                    .isTrue();
            outbox.addAll(List.of());
        }));
    }

    @Test
    void acceptsANestedTransactionAndRefusesTheOuterOneAfterIt() {
        assertRefused(() -> transactionOf(new Pool(false)).executeWithoutResult(outer -> {
            transactionOf(dataSource).executeWithoutResult(status -> outbox.addAll(List.of()));
            outbox.addAll(List.of());
        }));
        assertThat(commits).hasValue(1);
    }

    @Test
    void acceptsTheTransactionOfAPersistenceProvider() throws Exception {
        // JpaTransactionManager binds the provider's connection like this.
        TransactionSynchronizationManager.bindResource(dataSource, new ConnectionHolder(dataSource.getConnection()));
        transactionOf(new Pool(false)).executeWithoutResult(status -> outbox.addAll(List.of()));
        assertThat(commits).hasValue(1);
    }

    @Test
    void aBoundConnectionInAutoCommitModeIsRefused() throws Exception {
        DataSource committing = new Pool(true);
        TransactionSynchronizationManager.bindResource(committing, new ConnectionHolder(committing.getConnection()));
        try {
            assertThatThrownBy(() -> transactionOf(dataSource)
                            .executeWithoutResult(status -> outbox(committing).addAll(List.of())))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        } finally {
            TransactionSynchronizationManager.unbindResource(committing);
        }
    }

    private void afterCommit(Runnable listener) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                listener.run();
            }
        });
    }

    @Test
    void anEventAfterTheCommitOfOthersIsRefused() {
        assertThatThrownBy(() -> transactionOf(dataSource).executeWithoutResult(status -> {
                    afterCommit(() -> outbox.addAll(List.of()));
                    outbox.addAll(List.of());
                }))
                .isInstanceOf(IllegalTransactionStateException.class)
                .hasMessageContaining("has been committed")
                .hasMessageContaining("AFTER_COMMIT");
        assertThat(commits).hasValue(1);
    }

    @Test
    void acceptsANewTransactionAfterTheCommit() {
        TransactionTemplate inner = transactionOf(dataSource);
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        transactionOf(dataSource).executeWithoutResult(status -> {
            afterCommit(() -> inner.executeWithoutResult(again -> outbox.addAll(List.of())));
            outbox.addAll(List.of());
        });
        assertThat(commits).hasValue(2);
    }

    private static void assertRefused(Runnable adding) {
        assertThatThrownBy(adding::run)
                .isInstanceOf(IllegalTransactionStateException.class)
                .hasMessageContaining("would not be part of")
                .hasMessageContaining("another DataSource")
                .hasMessageContaining("@Transactional(");
    }

    @BeforeEach
    @AfterEach
    void forgetConnections() {
        TransactionSynchronizationManager.unbindResourceIfPossible(dataSource);
    }

    /** Connections that only answer. */
    private static final class Pool extends AbstractDataSource {
        private final boolean autoCommit;

        Pool(boolean autoCommit) {
            this.autoCommit = autoCommit;
        }

        @Override
        public Connection getConnection() {
            return (Connection) Proxy.newProxyInstance(
                    Pool.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getDeclaringClass() == Object.class) {
                            return switch (method.getName()) {
                                case "equals" -> proxy == arguments[0];
                                case "hashCode" -> System.identityHashCode(proxy);
                                default -> "connection";
                            };
                        }
                        if (method.getName().equals("getAutoCommit")) {
                            return autoCommit;
                        }
                        Class<?> type = method.getReturnType();
                        return type == boolean.class ? (Object) false : type == int.class ? (Object) 0 : null;
                    });
        }

        @Override
        public Connection getConnection(String user, String password) {
            return getConnection();
        }
    }
}
