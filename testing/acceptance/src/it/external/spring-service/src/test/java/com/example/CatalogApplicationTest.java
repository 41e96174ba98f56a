package com.example;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.Verdict;
import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import dev.puri.schemas.identity.Shard;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@RegistryTest(collections = "collections.yaml")
@SpringBootTest
class CatalogApplicationTest {
    @DynamicPropertySource
    static void services(DynamicPropertyRegistry properties) throws Exception {
        Registry.shared().springProperties().forEach((name, value) -> properties.add(name, () -> value));
        // It stops when the JVM ends, after the application's context, which uses it until then.
        EmbeddedPostgres postgres = EmbeddedPostgres.start();
        String url = postgres.getJdbcUrl("postgres", "postgres");
        properties.add("spring.datasource.url", () -> url);
    }

    @Autowired
    private CatalogApplication.Tracks tracks;

    @Autowired
    private ResolverClient resolver;

    @Test
    void aTrackIsFoundAfterItsTransaction() {
        NewIdentity track = tracks.add("Blue");
        Ref ref = Ref.of(track.puri());
        await().atMost(Duration.ofSeconds(60)).until(() -> resolver.resolve(ref) instanceof Verdict.Found);
        assertEquals(new Shard("eu-1"), resolver.resolve(ref).placement().shard());
    }
}
