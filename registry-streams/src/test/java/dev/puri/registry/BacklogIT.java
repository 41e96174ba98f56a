package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStack.Observed;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Tests how the topology processes events that were published while no instance ran. */
@Isolated("measures the fairness of threads")
class BacklogIT {
    private static final int EVENTS = 48_000;

    /** With fetches of 1 MiB a partition, Kafka's default, it is 8,800 to 12,900, with ours 1,000 to 1,300. */
    private static final int MOST_OF_OTHERS = 6_000;

    private static final Prefix PREFIX = new Prefix("ply");

    private final IdentityMinter minter = new IdentityMinter();

    @Test
    void noPartitionWaitsForTheWholeBacklogOfAnother(@TempDir Path stateDir) throws Exception {
        try (RegistryStack stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of())) {
            stack.declare(List.of(new Collection("soundcloud", "plays", PREFIX, Set.of(), false, false, "", false)));
            publish(stack);
            try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir))) {
                await().atMost(Duration.ofMinutes(3))
                        .until(() -> stack.look().identities().size() == EVENTS);
            }
            List<Observed> inOrder = new ArrayList<>(stack.identities());
            inOrder.sort(Comparator.comparingLong(Observed::timestamp));
            for (int partition = 0; partition < RegistryStack.PARTITIONS; partition++) {
                assertThat(mostOfOthersInARow(inOrder, partition))
                        .as("rows of other partitions between two of partition " + partition)
                        .isBetween(1, MOST_OF_OTHERS);
            }
        }
    }

    private static int mostOfOthersInARow(List<Observed> inOrder, int partition) {
        int most = 0;
        int others = 0;
        // Threads do not start at the same time, so rows before a partition's first row do not count.
        boolean hasBegun = false;
        for (Observed row : inOrder) {
            if (row.position().partition() != partition) {
                others++;
                continue;
            }
            most = hasBegun ? Math.max(most, others) : most;
            hasBegun = true;
            others = 0;
        }
        return most;
    }

    private void publish(RegistryStack stack) throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(stack.clientProperties())) {
            List<CompletionStage<Position>> sent = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                Change created = new Change.Created(
                        minter.uuid(), new Owner("catalog"), new Shard("br-1"), minter.handle(PREFIX), Map.of());
                Puri puri = Puri.of("soundcloud", "plays", Integer.toString(i));
                sent.add(publisher.publish(new Event(minter.uuid(), puri, Instant.now(), "test", null, null, created)));
            }
            for (CompletionStage<Position> position : sent) {
                position.toCompletableFuture().get(60, TimeUnit.SECONDS);
            }
        }
    }
}
