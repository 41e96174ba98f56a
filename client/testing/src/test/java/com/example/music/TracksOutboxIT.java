package com.example.music;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@RegistryTest(collections = "collections.yaml")
class TracksOutboxIT {
    private static EmbeddedPostgres postgres; // any database of the service will do

    private final Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.sortable());

    @BeforeAll
    static void start() throws Exception {
        postgres = EmbeddedPostgres.start();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE tracks (id uuid PRIMARY KEY, title text NOT NULL)");
        }
    }

    @AfterAll
    static void stop() throws Exception {
        postgres.close();
    }

    @Test
    void aTrackIsFoundAfterItsTransaction(Registry registry) throws Exception {
        DataSource dataSource = postgres.getPostgresDatabase();
        Map<String, Object> properties = registry.properties();
        NewIdentity track = tracks.mint();
        Event event = new Events("catalog")
                .created(track, new Owner("catalog"), new Shard("br-1"))
                .build();
        try (IdentityPublisher publisher = new IdentityPublisher(properties);
                ResolverClient resolver = ResolverClient.open(
                        ResolverOptions.at(registry.resolverUrl()).build())) {

            // Once. In production the same SQL is a migration: dev/puri/client/outbox/postgresql/V1__puri_outbox.sql.
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                for (String sql : OutboxSchema.statements(Dialect.POSTGRESQL, OutboxSchema.DEFAULT_TABLE)) {
                    statement.execute(sql);
                }
            }

            Outbox outbox = new Outbox(Dialect.POSTGRESQL);
            // The relay runs as long as the service. Of several instances one publishes.
            try (OutboxRelay relay = OutboxRelay.start(RelaySettings.of(dataSource, Dialect.POSTGRESQL, properties))) {
                try (Connection connection = dataSource.getConnection();
                        PreparedStatement insert = connection.prepareStatement("INSERT INTO tracks VALUES (?, ?)")) {
                    connection.setAutoCommit(false);
                    insert.setObject(1, track.uuid());
                    insert.setString(2, "Blue");
                    insert.executeUpdate();
                    outbox.add(connection, event);
                    connection.commit();
                }
                relay.wake(); // publishes now; otherwise within 50 ms

                Ref ref = Ref.of(track.puri());
                await().atMost(Duration.ofSeconds(30)).until(() -> resolver.resolve(ref) instanceof Verdict.Found);
                assertEquals(
                        new Shard("br-1"), resolver.resolve(ref).placement().shard());

                // The outbox gives no token. Publishing the same event gives one, and the event counts once.
                Position published = publisher.publishSync(event);
                PublishOutcome outcome = publisher.awaitSync(event.puri(), published, Duration.ofSeconds(10));
                assertInstanceOf(PublishOutcome.Accepted.class, outcome);
            }
        }
    }
}
