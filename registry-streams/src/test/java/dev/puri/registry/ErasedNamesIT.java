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
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stores' files contain nothing of an erased identity after a bounded time. */
class ErasedNamesIT {
    private static final Duration SOON = Duration.ofSeconds(60);

    /** Part of every name and text that is erased. */
    private static final String NAME = "johanna";

    private final IdentityMinter minter = new IdentityMinter();

    @Test
    void noFileOfTheStoresKeepsTheNameOrTheTextLongerThanTheBound(@TempDir Path stateDir) throws Exception {
        try (RegistryStack stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of())) {
            Prefix prefix = new Prefix("per");
            stack.declare(List.of(new Collection("people", "persons", prefix, Set.of(), true, false, "", false)));
            Puri person = Puri.of("people", "persons", NAME);
            Puri former = Puri.of("people", "persons", "former-" + NAME);
            try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir))) {
                publish(stack, created(person, prefix), created(former, prefix));
                publish(stack, event(former, new Change.Merged(person)));
            }
            assertThat(filesThatSpell(stateDir))
                    .as("names that are not erased remain")
                    .isNotEmpty();
            try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir))) {
                publish(stack, event(person, new Change.Erased()), event(former, new Change.Erased()));
            }
            Map<String, String> soon = Map.of(StoreMemory.COMPACT_WITHIN_CONFIG, "1");
            try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir, soon))) {
                await().atMost(SOON)
                        .untilAsserted(
                                () -> assertThat(filesThatSpell(stateDir)).isEmpty());
            }
            assertThat(filesThatSpell(stateDir)).isEmpty();
        }
    }

    /** Publishes and returns when every event is answered. */
    private static void publish(RegistryStack stack, Event... events) throws Exception {
        List<Position> positions = new ArrayList<>();
        try (IdentityPublisher publisher = new IdentityPublisher(stack.clientProperties())) {
            for (Event event : events) {
                positions.add(publisher.publish(event).toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS));
            }
        }
        await().atMost(SOON).until(() -> stack.look().outcomes().keySet().containsAll(positions));
    }

    private static List<Path> filesThatSpell(Path folder) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                try {
                    if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(NAME)) {
                        found.add(file);
                    }
                } catch (NoSuchFileException e) {
                    // Compacted away meanwhile.
                }
            }
        }
        return found;
    }

    private Event created(Puri puri, Prefix prefix) {
        return event(
                puri,
                new Change.Created(
                        minter.uuid(),
                        new Owner("catalog"),
                        new Shard("br-1"),
                        minter.handle(prefix),
                        Map.of("text", "about " + puri)));
    }

    private Event event(Puri puri, Change change) {
        return new Event(minter.uuid(), puri, Instant.now(), "test", null, null, change);
    }
}
