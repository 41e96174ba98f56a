package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.IdentityResolverContract;
import dev.puri.client.resolve.ResolverClient;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The same registry, asked over HTTP and in this process. */
@Timeout(300)
final class IdentityResolverContractIT {
    private static final AtomicInteger OPENED = new AtomicInteger();

    @TempDir
    private static Path folder;

    private static RegistryFixture registry;

    @BeforeAll
    static void start() {
        registry = new RegistryFixture(folder);
    }

    @AfterAll
    static void stop() {
        registry.close();
    }

    @Nested
    final class OverHttp extends IdentityResolverContract {
        OverHttp() {
            super(registry);
        }

        @Override
        protected IdentityResolver open(int maxPending) {
            return ResolverClient.open(
                    registry.overHttp().maxPending(maxPending).build());
        }
    }

    @Nested
    final class Embedded extends IdentityResolverContract {
        Embedded() {
            super(registry);
        }

        @Override
        protected IdentityResolver open(int maxPending) {
            EmbeddedResolver opened =
                    EmbeddedResolver.open(registry.embedded(folder.resolve("embedded-" + OPENED.incrementAndGet()))
                            .maxPending(maxPending)
                            .build());
            opened.awaitReady(RegistryFixture.SOON);
            assertThat(opened.progress().servesLookUps()).isTrue();
            return opened;
        }
    }
}
