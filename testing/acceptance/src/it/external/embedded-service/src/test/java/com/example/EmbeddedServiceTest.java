package com.example;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.example.names.Soundcloud;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.NewIdentity;
import dev.puri.client.embedded.EmbeddedResolver;
import dev.puri.client.embedded.EmbeddedResolverOptions;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.debezium.DebeziumFeed;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The outbox publishes with Debezium, and the embedded resolver finds the object. */
@RegistryTest(collections = "collections.yaml")
class EmbeddedServiceTest {
    private final Identities tracks = Soundcloud.TRACKS.identities(Identifiers.sortable());

    @Test
    void anObjectIsFoundAfterItsTransaction(Registry registry, @TempDir Path folder) throws Exception {
        NewIdentity track = tracks.mint();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                        .setServerConfig("wal_level", "logical")
                        .start();
                EmbeddedResolver resolver = EmbeddedResolver.open(EmbeddedResolverOptions.at(
                                registry.bootstrapServers(), registry.schemaRegistryUrl(), folder)
                        .build())) {
            DataSource dataSource = postgres.getPostgresDatabase();
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                for (String sql : OutboxSchema.statements(Dialect.POSTGRESQL, OutboxSchema.DEFAULT_TABLE)) {
                    statement.execute(sql);
                }
            }
            DebeziumFeed feed = new DebeziumFeed(
                    OutboxSchema.DEFAULT_TABLE,
                    Map.of(
                            "database.hostname", "localhost",
                            "database.port", Integer.toString(postgres.getPort()),
                            "database.dbname", "postgres",
                            "database.user", "postgres",
                            "database.password", "postgres"));
            RelaySettings settings = RelaySettings.of(dataSource, Dialect.POSTGRESQL, registry.properties())
                    // Without the feed, the relay would not publish within the time limit of this test.
                    .withTimes(Duration.ofMinutes(30), Duration.ofMinutes(30), Duration.ofSeconds(1));
            try (OutboxRelay relay = OutboxRelay.start(settings, feed);
                    Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                new Outbox(Dialect.POSTGRESQL)
                        .add(
                                connection,
                                new Events("catalog")
                                        .created(track, new Owner("catalog"), new Shard("us-1"))
                                        .build());
                connection.commit();

                resolver.awaitReady(Duration.ofMinutes(2));
                Ref ref = Ref.of(track.puri());
                await().atMost(Duration.ofSeconds(60)).until(() -> resolver.resolve(ref) instanceof Verdict.Found);
                assertEquals(
                        new Shard("us-1"), resolver.resolve(ref).placement().shard());
            }
        }
    }
}
