package dev.puri.registry;

import static org.awaitility.Awaitility.await;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A single event passes all stages without waiting for a commit interval. */
class LoneClientIT {
    /** With this interval alone, each of three stages would wait that long. */
    private static final Duration COMMIT_INTERVAL = Duration.ofMinutes(5);

    private static final Duration WITHIN = Duration.ofMinutes(2);

    private final IdentityMinter minter = new IdentityMinter();

    @Test
    void eachStageCommitsAtOnce(@TempDir Path stateDir) throws Exception {
        // Kafka Streams requires an interval shorter than the time-out of transactions.
        Map<String, String> intervals = Map.of(
                "commit.interval.ms", Long.toString(COMMIT_INTERVAL.toMillis()),
                "producer.transaction.timeout.ms", Long.toString(2 * COMMIT_INTERVAL.toMillis()));
        try (RegistryStack stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of())) {
            Prefix prefix = new Prefix("trk");
            stack.declare(List.of(new Collection("lone", "tracks", prefix, Set.of(), false, false, "", false)));
            try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir, intervals));
                    IdentityPublisher publisher = new IdentityPublisher(stack.clientProperties())) {
                Position published = publisher
                        .publish(created(prefix))
                        .toCompletableFuture()
                        .get(WITHIN.toSeconds(), TimeUnit.SECONDS);
                await().atMost(WITHIN).until(() -> stack.look().outcomes().containsKey(published));
            }
        }
    }

    private Event created(Prefix prefix) {
        return new Event(
                minter.uuid(),
                Puri.of("lone", "tracks", "1"),
                Instant.now(),
                "test",
                null,
                null,
                new Change.Created(
                        minter.uuid(), new Owner("catalog"), new Shard("br-1"), minter.handle(prefix), Map.of()));
    }
}
