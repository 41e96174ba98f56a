package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topic of the identities is deleted. */
class IdentitiesDrillIT {
    @TempDir
    private Path folder;

    @TempDir
    private Path files;

    private DrillStack stack;

    @BeforeEach
    void start() {
        stack = new DrillStack(folder, files, SchemaRegistryFixture.shared().url()).startServers(true);
        Music.publish(stack);
    }

    @AfterEach
    void stop() {
        // Null if the start failed.
        if (stack != null) {
            stack.close();
        }
    }

    @Test
    void theTopologyWritesAllRowsAgain() throws Exception {
        String section = "Identities topic lost";
        stack.run(section, "/v1/export");
        // The export is older than these events, as a backup may be.
        DrillStack.assertDone(stack.publish(
                Music.created("music:users:8", ""),
                "{\"type\":\"moved\",\"puri\":\"" + Music.USER + "\",\"shard\":\"us-1\"}"));
        stack.awaitVerdict("music:users:8", "found");
        JsonNode track = stack.resolve(Music.TRACK);

        stack.deleteTopics("puri[.]identities[.]v1");
        assertThat(stack.puri("topics check").err()).contains("puri.identities.v1 is missing");
        stack.awaitHealth("resolver", "there is no topic puri.identities.v1");
        assertThat(stack.resolve(Music.TRACK)).isEqualTo(track);

        stack.stopTopology();
        stack.run(section, "puri topics create");
        stack.awaitHealth("resolver", "puri.identities.v1 has 0 rows, and the serving table has 5");
        assertThat(stack.puri("topics check").err())
                .contains("puri.identities.v1 has never had records in the partitions");
        assertThat(stack.resolve(Music.TRACK)).isEqualTo(track);
        stack.startTopology();
        stack.run(section, "puri identities republish");

        stack.awaitReady();
        assertThat(stack.resolve(Music.TRACK)).isEqualTo(track);
        Music.assertKept(stack);
        stack.awaitVerdict("music:users:8", "found");
        assertThat(stack.resolve(Music.USER).path("shard").asText()).isEqualTo("us-1");
        Music.assertFirstClaimsWin(stack);

        // A new resolver knows nothing but the topic.
        stack.stopResolver();
        stack.run("Disk of a resolver lost", "rm -rf");
        stack.startResolver();
        stack.awaitReady();
        Music.assertKept(stack);
        awaitSearchable();
    }

    @Test
    void theTopologyIsRebuiltFromCompleteEvents() throws Exception {
        String section = "Rebuild from the events";
        JsonNode track = stack.resolve(Music.TRACK);
        stack.stopTopology();
        stack.deleteTopics("puri-registry-registrations-changelog");
        stack.deleteTopics("puri[.]identities[.]v1");

        stack.run(section, "rm -rf");
        stack.startTopology();
        stack.awaitReady();

        assertThat(stack.resolve(Music.TRACK)).isEqualTo(track);
        Music.assertKept(stack);
        Music.assertFirstClaimsWin(stack);
        awaitSearchable();
    }

    private void awaitSearchable() {
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(stack.puri("search salt").out()).contains(Music.TRACK));
    }
}
