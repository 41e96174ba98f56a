package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The schema registry comes back empty. */
class SchemaRegistryDrillIT {
    private static final String SECTION = "Schema registry lost";

    @TempDir
    private Path folder;

    @TempDir
    private Path files;

    @Test
    void wrongIdsAreFoundAndTheBackupRestoresThem() throws Exception {
        try (RestartableSchemaRegistry registry = SchemaRegistryFixture.start()) {
            // Another program's schema has the first id, so that the next registration gives other ids.
            registerOther(registry.url());
            try (DrillStack stack = new DrillStack(folder, files, registry.url()).startServers(false)) {
                Music.publish(stack);
                stack.run("Backups", "/v1/export");
                stack.stopTopology();

                registry.stop();
                registry.startEmpty();
                stack.startTopology();
                stack.awaitHealth("topology", "which the schema registry does not have");
                assertThat(DrillShell.get(registry.url() + "/subjects")).isEqualTo("[]");
                Music.assertKept(stack);

                stack.run(SECTION, "puri topics create");
                CommandLineRun check = stack.puri("topics check");
                assertThat(check.status()).isEqualTo(1);
                assertThat(check.err())
                        .contains(
                                "puri.identities.v1 has records with the schema id 3",
                                "is dev.puri.schemas.avro.Document, not dev.puri.schemas.avro.IdentityRow");
                stack.awaitHealth("topology", "is dev.puri.schemas.avro.Document");

                registry.stop();
                registry.startEmpty();
                stack.run(SECTION, "admin/import");
                stack.run(SECTION, "puri topics check");
                stack.awaitReady();
                DrillStack.assertDone(stack.publish(Music.created("music:users:8", "")));
                stack.awaitVerdict("music:users:8", "found");
                Music.assertKept(stack);
                Music.assertFirstClaimsWin(stack);
            }
        }
    }

    @Test
    void aRegistryWithoutOtherSchemasGetsTheSameIds() throws Exception {
        try (RestartableSchemaRegistry registry = SchemaRegistryFixture.start();
                DrillStack stack = new DrillStack(folder, files, registry.url()).startServers(false)) {
            Music.publish(stack);
            stack.stopTopology();
            registry.stop();
            registry.startEmpty();

            stack.run(SECTION, "puri topics create");
            stack.run(SECTION, "puri topics check");
            stack.startTopology();
            stack.awaitReady();
            DrillStack.assertDone(stack.publish(Music.created("music:users:8", "")));
            stack.awaitVerdict("music:users:8", "found");
            Music.assertFirstClaimsWin(stack);
        }
    }

    private static void registerOther(String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/subjects/other-value/versions"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"schema\":\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Other\\\",\\\"fields\\\":[]}\"}"))
                .build();
        assertThat(HttpClient.newHttpClient()
                        .send(request, HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(200);
    }
}
