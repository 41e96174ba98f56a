package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.recovery.ExportText;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An empty registry gets the identities of an export: all of them, or those of a namespace. */
class RestoreDrillIT {
    @TempDir
    private static Path oldFolder;

    private static DrillStack old;

    @TempDir
    private static Path files;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        old = new DrillStack(oldFolder, files, SchemaRegistryFixture.shared().url()).startServers(false);
        Music.publish(old);
        DrillStack.assertDone(old.publish(Music.created("art:prints:1", "")));
        old.awaitVerdict("art:prints:1", "found");
    }

    @AfterAll
    static void stop() {
        // Null if the start failed.
        if (old != null) {
            old.close();
        }
    }

    @Test
    void aRegistryIsRestoredFromAnExport() throws Exception {
        String section = "Restore from an export";
        old.run("Changelogs lost", "/v1/export");
        JsonNode track = old.resolve(Music.TRACK);
        try (DrillStack stack = stack().startServers(false)) {
            // A namespace that nobody may write to, and one without rows.
            stack.write(
                    "collections.yaml",
                    Music.COLLECTIONS.replace("music: {}", "music: {}\n  art: {mode: READ_ONLY}\n  film: {}"));
            stack.writeYamlOf("Changelogs lost", "importing.yaml", "restore.yaml");
            // A backup of nothing must not look like one.
            assertThat(stack.puri("identities attributes").status()).isEqualTo(1);
            DrillStack.assertDone(stack.puri("identities attributes --allow-empty"));
            stack.write("empty.ndjson", ExportText.complete());
            DrillStack.assertDone(stack.puri("identities republish -f empty.ndjson --allow-empty"));
            stack.append("importing.yaml", """
                      art: {mode: IMPORT, importer: restore}
                      film: {mode: IMPORT, importer: restore}
                    """);
            stack.run(section, "puri topics create");
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> stack.resolve(Music.TRACK).path("importing").asBoolean());
            assertThat(stack.publish(Music.created(Music.TRACK, "")).err()).contains("NOT_WRITABLE");
            stack.run(section, "puri import plan");

            Music.assertKept(stack);
            JsonNode restored = stack.resolve(Music.TRACK);
            for (String same : new String[] {"uuid", "owner", "shard", "handle", "status", "createdAt"}) {
                assertThat(restored.path(same)).as(same).isEqualTo(track.path(same));
            }
            assertThat(stack.puri("identities attributes").out())
                    .contains("Salt Harbour")
                    .doesNotContain("Gone");

            // The page lists the state that a restore loses.
            assertThat(restored.path("epoch").asInt()).isEqualTo(1);
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> DrillStack.assertDone(
                            stack.publish(Music.created("music:tracks:9", ",\"handle\":\"trk_444444444444444\""))));
            Music.assertFirstClaimsWin(stack);
            assertThat(stack.puri("collections list").out())
                    .containsPattern("art +\\S+ +READ_ONLY")
                    .containsPattern("film +\\S+ +READ_WRITE");
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> DrillStack.assertDone(stack.publish(Music.created("film:reels:1", ""))));
        }
    }

    @Test
    void aNamespaceMovesToAnotherCluster() throws Exception {
        String section = "Move a namespace to another cluster";
        old.writeYamlOf(section, "readonly.yaml");
        old.run(section, "puri collections apply -f readonly.yaml");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> old.publish("{\"type\":\"moved\",\"puri\":\"" + Music.USER + "\",\"shard\":\"any-1\"}")
                        .err()
                        .contains("NOT_WRITABLE"));
        JsonNode user = old.resolve(Music.USER);
        old.run(section, "/v1/export");
        assertThat(Files.readString(files.resolve("attributes.jsonl"))).contains("Salt Harbour");

        try (DrillStack stack = stack().startServers(false)) {
            DrillStack.assertDone(stack.publish(Music.created("film:reels:1", "")));
            stack.write("collections.yaml", Music.COLLECTIONS);
            stack.writeYamlOf("Changelogs lost", "importing.yaml", "restore.yaml");
            stack.run(section, "puri collections apply -f collections.yaml");
            Music.assertKept(stack);
            assertThat(stack.resolve(Music.USER).path("uuid")).isEqualTo(user.path("uuid"));
            stack.awaitVerdict("art:prints:1", "unknown");
            stack.awaitVerdict("film:reels:1", "found");
            assertThat(stack.publish(Music.created("music:users:9", "")).err()).contains("NOT_WRITABLE");

            stack.run(section, "puri import open");
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> DrillStack.assertDone(stack.publish(Music.created("music:users:9", ""))));
            Music.assertFirstClaimsWin(stack);
        }
        assertThat(old.publish(Music.created("music:users:9", "")).err()).contains("NOT_WRITABLE");
        assertThat(old.resolve(Music.TRACK).path("verdict").asText()).isEqualTo("found");
    }

    private DrillStack stack() {
        return new DrillStack(folder, files, SchemaRegistryFixture.shared().url());
    }
}
