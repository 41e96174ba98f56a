package dev.puri.spring.boot;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Application contexts with the starter's auto-configurations, and fakes of the services outside the process. */
final class Contexts {
    /** Settings that suffice to publish, although nothing listens at the addresses. */
    static final String[] KAFKA = {
        "puri.kafka.bootstrap-servers=127.0.0.1:1", "puri.schema-registry.url=http://127.0.0.1:1"
    };

    private Contexts() {}

    static boolean isBoot4() {
        return String.valueOf(SpringBootVersion.getVersion()).startsWith("4.");
    }

    /** Without a health configuration: that of the other Boot cannot even be looked at. */
    static ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PuriAutoConfiguration.class,
                        PublisherAutoConfiguration.class,
                        ResolverAutoConfiguration.class,
                        OutboxAutoConfiguration.class,
                        StorageAutoConfiguration.class,
                        MonitorAutoConfiguration.class));
    }

    /** The same with the health configuration of the Boot that runs. */
    static ApplicationContextRunner runnerWithHealth() throws ClassNotFoundException {
        String name = Contexts.class.getPackageName() + (isBoot4() ? ".Boot4" : ".Boot3") + "HealthAutoConfiguration";
        return runner().withConfiguration(AutoConfigurations.of(Class.forName(name)));
    }

    /** An unreachable database. */
    static DataSource noDatabase() {
        return new AbstractDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                throw new SQLException("away");
            }

            @Override
            public Connection getConnection(String user, String password) throws SQLException {
                throw new SQLException("away");
            }
        };
    }

    /** A resolver of the application's own, which fails. */
    static IdentityResolver failingResolver(RuntimeException failure) {
        return new IdentityResolver() {
            @Override
            public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
                throw failure;
            }

            @Override
            public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
                throw failure;
            }

            @Override
            public void close() {}
        };
    }

    /** A resolver of the application's own, which knows nothing. */
    static IdentityResolver ownResolver() {
        return new IdentityResolver() {
            @Override
            public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
                return CompletableFuture.completedStage(new Verdict.Unknown(ref));
            }

            @Override
            public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
                return CompletableFuture.completedStage(
                        refs.stream().<Verdict>map(Verdict.Unknown::new).toList());
            }

            @Override
            public void close() {}
        };
    }
}
