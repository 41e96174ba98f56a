package com.example.music;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@RegistryTest(collections = "collections.yaml")
class TracksIT {
    private final Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.sortable());

    @Test
    void aTrackIsFoundByItsHandle(Registry registry) throws Exception {
        NewIdentity track = tracks.mint();
        Event created = new Events("catalog")
                .created(track, new Owner("catalog"), new Shard("eu-1"))
                .build();
        try (IdentityPublisher publisher = new IdentityPublisher(registry.properties());
                ResolverClient resolver = ResolverClient.open(
                        ResolverOptions.at(registry.resolverUrl()).build())) {
            Position token = publisher.publishSync(created);
            assertInstanceOf(
                    PublishOutcome.Accepted.class, publisher.awaitSync(track.puri(), token, Duration.ofSeconds(30)));

            assertEquals(
                    new Shard("eu-1"),
                    resolver.resolve(track.handle().text()).placement().shard());
        }
    }
}
