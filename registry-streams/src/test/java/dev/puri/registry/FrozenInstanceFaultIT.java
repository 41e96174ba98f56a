package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
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
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One of two instances is frozen by SIGSTOP in the middle of its work, and resumes later. */
class FrozenInstanceFaultIT {
    private static final Duration LATE = Duration.ofMinutes(3);
    private static final int EVENTS = 300;
    private static final Prefix PREFIX = new Prefix("trk");

    private final IdentityMinter minter = new IdentityMinter();
    private final List<Position> published = new ArrayList<>();

    @Test
    void othersTakeOverAndEveryEventIsAnsweredOnce(@TempDir Path folder) throws Exception {
        try (RegistryStack stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of());
                IdentityPublisher publisher = new IdentityPublisher(stack.clientProperties())) {
            stack.declare(List.of(new Collection("soundcloud", "tracks", PREFIX, Set.of(), false, false, "", false)));
            Path log = folder.resolve("streams.log");
            Process frozen = StreamsProcess.start(stack.settings(folder.resolve("frozen")), log);
            Process other = StreamsProcess.start(stack.settings(folder.resolve("other")), log);
            try {
                // The broker does not know the group before its first member joins.
                await().atMost(LATE).ignoreException(ExecutionException.class).until(() -> membersWithWork(stack) == 4);
                publish(publisher);
                // Answers are on their way, so a transaction is open or about to be.
                StreamsProcess.freeze(frozen);
                publish(publisher);
                awaitAnswers(stack, log);
                StreamsProcess.thaw(frozen);
                publish(publisher);
                awaitAnswers(stack, log);
                assertThat(other.isAlive()).isTrue();
            } finally {
                StreamsProcess.kill(frozen);
                StreamsProcess.kill(other);
            }
            // Throws when an event has two answers.
            Map<Position, Outcome> outcomes = stack.look().outcomes();
            assertThat(outcomes.keySet()).containsExactlyInAnyOrderElementsOf(published);
            assertThat(outcomes.values()).containsOnly(Outcome.APPLIED);
        }
    }

    /** Two threads of each instance. */
    private static long membersWithWork(RegistryStack stack) throws Exception {
        ConsumerGroupDescription group = stack.admin()
                .describeConsumerGroups(List.of("puri-registry"))
                .all()
                .get(60, TimeUnit.SECONDS)
                .get("puri-registry");
        return group.members().stream()
                .filter(member -> !member.assignment().topicPartitions().isEmpty())
                .count();
    }

    private void publish(IdentityPublisher publisher) throws Exception {
        List<CompletionStage<Position>> sent = new ArrayList<>();
        for (int i = 0; i < EVENTS; i++) {
            Puri puri = Puri.of("soundcloud", "tracks", minter.uuid().toString());
            Change created = new Change.Created(
                    minter.uuid(), new Owner("catalog"), new Shard("br-1"), minter.handle(PREFIX), Map.of());
            sent.add(publisher.publish(new Event(minter.uuid(), puri, Instant.now(), "test", null, null, created)));
        }
        for (CompletionStage<Position> position : sent) {
            published.add(position.toCompletableFuture().get(60, TimeUnit.SECONDS));
        }
    }

    private void awaitAnswers(RegistryStack stack, Path log) throws Exception {
        try {
            await().atMost(LATE).until(() -> stack.look().outcomes().keySet().containsAll(published));
        } catch (RuntimeException e) {
            throw new AssertionError(
                    stack.outcomes().size() + " of " + published.size() + " answers; " + Files.readString(log), e);
        }
    }
}
