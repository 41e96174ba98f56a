package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.testkit.DeletedRecords;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topology loses its disks, its changelogs or their records. */
class StateDrillIT {
    private static final String CHANGELOG = "puri-registry-registrations-changelog";

    @TempDir
    private Path folder;

    @TempDir
    private Path files;

    private DrillStack stack;

    @BeforeEach
    void start() {
        stack = new DrillStack(folder, files, SchemaRegistryFixture.shared().url()).startServers(false);
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
    void disksOfTheTopologyAreRestoredFromItsChangelogs() throws Exception {
        stack.stopTopology();
        stack.run("Disks of the topology lost", "rm -rf");
        assertThat(folder.resolve("streams")).doesNotExist();

        stack.startTopology();
        stack.awaitReady();
        Music.assertFirstClaimsWin(stack);
        Music.assertKept(stack);
        assertThat(stack.resolve(Music.TRACK).path("epoch").asInt()).isEqualTo(2);
    }

    @Test
    void changelogsAreRestoredFromAnExport() throws Exception {
        stack.stopTopology();
        stack.deleteTopics(CHANGELOG);
        assertRestoredFromAnExport(CHANGELOG + " is missing, although the topology puri-registry has run");
    }

    @Test
    void aTruncatedChangelogIsRestoredFromAnExport() throws Exception {
        stack.stopTopology();
        DeletedRecords.deleteAll(stack.admin(), CHANGELOG);
        assertRestoredFromAnExport(" of " + CHANGELOG + " before offset ");
    }

    /**
     * Performs the drill.
     *
     * @param reason how the check and the topology say what was lost
     */
    private void assertRestoredFromAnExport(String reason) throws Exception {
        String section = "Changelogs lost";
        // Services continue to publish.
        DrillStack.assertDone(stack.puri(Music.created("music:users:8", ""), "publish -f -"));

        CommandLineRun check = stack.puri("topics check");
        assertThat(check.status()).isEqualTo(1);
        assertThat(check.err()).contains(reason, "docs/disasters.md, \"Changelogs lost\"");
        List<String> changelogs = stack.topics(CHANGELOG);
        stack.startTopology();
        stack.awaitHealth("topology", reason);
        assertThat(stack.topics(CHANGELOG)).as("created without records").isEqualTo(changelogs);

        stack.stopTopology();
        stack.awaitHealth("resolver", "\"behind\":0");
        stack.run(section, "/v1/export");
        stack.run(section, "rm -rf");
        stack.writeYamlOf(section, "importing.yaml", "restore.yaml");
        stack.write("collections.yaml", Music.COLLECTIONS);
        stack.run(section, "puri collections apply");
        stack.startTopology();
        stack.awaitTopology();
        // The resolver has its table all the time.
        Music.assertKept(stack);
        // Opened earlier, the namespace would accept it: events wait 5 s for a declaration.
        await().atMost(Duration.ofSeconds(60))
                .until(() ->
                        stack.puri("rejections list --puri music:users:8").out().contains("NOT_WRITABLE"));
        stack.awaitHealth("resolver", "differs from the registrar");
        stack.run(section, "puri import plan");
        stack.run(section, "kafka-consumer-groups.sh");
        stack.awaitHealth("topology", "\"parked\":0");
        stack.awaitHealth("resolver", "\"behind\":0");
        stack.run(section, "puri import verify");
        stack.run(section, "puri rejections replay");

        stack.awaitReady();
        Music.assertKept(stack);
        stack.awaitVerdict("music:users:8", "found");
        Music.assertFirstClaimsWin(stack);
        assertThat(stack.resolve(Music.TRACK).path("epoch").asInt())
                .as("epochs start again")
                .isEqualTo(1);
        // The clerk kept the handle of the erased identity, and the text is there again.
        assertThat(stack.publish(Music.created("music:tracks:thief", ",\"handle\":\"trk_444444444444444\""))
                        .err())
                .contains("HANDLE_TAKEN");
        assertThat(stack.publish("{\"type\":\"moved\",\"puri\":\"" + Music.TRACK + "\",\"shard\":\"us-1\"}")
                        .status())
                .isZero();
        assertThat(stack.puri("identities attributes").out()).contains("Salt Harbour");
        assertThat(stack.puri("topics check").err()).contains("topics are correct");
    }
}
