package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.log.Topics;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topics of a cluster without servers. */
class TopicsIT {
    @TempDir
    private Path folder;

    private RestartableBroker broker;
    private Admin admin;

    @BeforeEach
    void start() {
        broker = Broker.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void aDeletedEventsTopicGetsTheNumberOfPartitionsOfTheOthers() throws Exception {
        assertThat(create("--partitions", "3").status()).isZero();
        delete(Topics.EVENTS);
        CommandLineRun other = create("--partitions", "4");
        assertThat(other.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(other.err()).contains("puri.identities.v1 has 3 partitions, not 4", "nothing was created");

        CommandLineRun create = create();

        assertThat(create.status()).as(create.err()).isZero();
        assertThat(create.outLines()).contains("created  puri.events.v1", "exists   puri.identities.v1");
        assertThat(TopicsCommand.describe(admin, Set.of(Topics.EVENTS))
                        .get(Topics.EVENTS)
                        .partitions())
                .hasSize(3);
    }

    @Test
    void checkReportsTheMistakesOfTopicsThoughTheSchemaRegistryIsUnreachable() throws Exception {
        assertThat(create().status()).isZero();
        CommandLineRun apply = puri("namespaces:\n  music: {ownsTopic: true}\n", "collections", "apply", "-f", "-");
        assertThat(apply.status()).as(apply.err()).isZero();
        delete(Topics.GRANTS);
        Path impatient = Files.writeString(folder.resolve("impatient.properties"), "max.retries=0\n");

        CommandLineRun check = puri(
                "",
                "topics",
                "check",
                "--schema-registry",
                "http://127.0.0.1:1",
                "--command-config",
                impatient.toString());

        assertThat(check.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(check.errLines())
                .hasSize(2)
                .anyMatch(line -> line.contains("puri.grants.v1 is missing"))
                .anyMatch(line ->
                        line.contains("the declared topics and the schemas were not checked: the schema registry at"
                                + " http://127.0.0.1:1 did not serve"));
    }

    private void delete(String topic) throws Exception {
        admin.deleteTopics(List.of(topic)).all().get();
        await().atMost(Duration.ofSeconds(20))
                .until(() -> !admin.listTopics().names().get().contains(topic));
    }

    private CommandLineRun create(String... options) {
        List<String> args = new ArrayList<>(List.of("topics", "create"));
        args.addAll(List.of(options));
        return puri("", args.toArray(String[]::new));
    }

    private CommandLineRun puri(String input, String... args) {
        return CommandLineRun.reading(
                Map.of(
                        "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY", SchemaRegistryFixture.shared().url()),
                input,
                args);
    }
}
