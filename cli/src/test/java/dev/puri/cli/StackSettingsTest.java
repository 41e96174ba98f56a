package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchSettings;
import dev.puri.settings.InvalidSettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The settings that {@code up} and {@code demo} read from the environment, a file and their options. */
class StackSettingsTest {
    @TempDir
    private Path folder;

    @Command
    private static final class Options {
        @CommandLine.Mixin
        private StackSettings settings = new StackSettings();
    }

    private static StackSettings withOptions(String... args) {
        Options options = new Options();
        new CommandLine(options).parseArgs(args);
        return options.settings;
    }

    private CommandLineRun up(Map<String, String> environment, String... more) {
        List<String> args =
                new ArrayList<>(List.of("up", "--data", folder.resolve("data").toString()));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            args.addAll(List.of(port, "0"));
        }
        args.addAll(List.of(more));
        return CommandLineRun.of(environment, args.toArray(String[]::new));
    }

    @Test
    void everyMistakeIsListedBeforeAnythingStarts() {
        CommandLineRun run = up(Map.of(
                "PURI_NONSENSE", "1",
                "PURI_MAX_REFFS", "5",
                "PURI_SEARCH_THREADS", "none",
                "PURI_STREAMS_THREADS", "0",
                "PURI_HTTP_PORT", "8000"));
        assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run.err())
                .contains("PURI_NONSENSE: no such setting")
                .contains("PURI_MAX_REFFS: no such setting")
                .contains("PURI_MAX_REFS")
                .contains("PURI_SEARCH_THREADS: \"none\"")
                .contains("PURI_STREAMS_THREADS: \"0\"")
                .contains("PURI_HTTP_PORT: puri up and puri demo set this themselves; use --port")
                .doesNotContain("starting a Kafka broker");
        assertThat(run.errLines().stream().filter(line -> line.contains("PURI_NONSENSE")))
                .as("reported once, although three servers read it")
                .hasSize(1);
    }

    @Test
    void theFileIsReadAndItsMistakesAreListedToo() throws Exception {
        Path file = Files.writeString(
                folder.resolve("puri.properties"), "max.reffs=5\nstreams.state.dir=elsewhere\nbootstrap.server=b:1\n");
        CommandLineRun run = up(Map.of(), "--config", file.toString());
        assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run.err())
                .contains("max.reffs in " + file + ": no such setting")
                .contains("streams.state.dir in " + file + ": puri up and puri demo set this themselves; use --data")
                .contains("bootstrap.server in " + file);
    }

    @Test
    void listenAddressesWithoutLoopbackAndTlsAreMistakes() throws Exception {
        Path file = Files.writeString(folder.resolve("puri.properties"), "streams.http.host=10.0.0.7\n");
        StackSettings settings = withOptions("--config", file.toString())
                .withEnvironment(Map.of(
                        "PURI_HTTP_HOST", "192.0.2.1",
                        "PURI_PUBLIC_HTTP_HOST", "0.0.0.0",
                        "PURI_TLS_CERTIFICATE", "server.pem"));
        assertThatThrownBy(() -> settings.check(Map.of()))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining(
                        "PURI_HTTP_HOST: the servers of puri up and puri demo call each other at 127.0.0.1")
                .hasMessageContaining("streams.http.host in " + file + ": the servers")
                .hasMessageContaining(
                        "PURI_TLS_CERTIFICATE: puri up and puri demo set this themselves; the servers call each")
                .message()
                .doesNotContain("PURI_PUBLIC_HTTP_HOST");
    }

    @Test
    void environmentMayContainAddressesForOtherCommands() {
        StackSettings settings = withOptions()
                .withEnvironment(Map.of("PURI_BOOTSTRAP_SERVER", "other:9092", "PURI_RESOLVER", "http://other:8080"));
        settings.check(Map.of());
        assertThat(settings.read(StreamsSettings.class, Map.of("bootstrap.server", "127.0.0.1:1"))
                        .bootstrapServer())
                .isEqualTo("127.0.0.1:1");
    }

    @Test
    void variablesReachTheirServersAndOverrideTheFile() throws Exception {
        Path file = Files.writeString(folder.resolve("puri.properties"), "max.refs=7\nsearch.threads=3\n");
        StackSettings settings = withOptions("--config", file.toString()).withEnvironment(Map.of("PURI_MAX_REFS", "5"));
        assertThat(settings.read(ResolverSettings.class, Map.of()).maxRefs()).isEqualTo(5);
        assertThat(settings.read(SearchSettings.class, Map.of()).searchThreads())
                .isEqualTo(3);
    }

    @Test
    void kafkaPropertiesReachEveryServer() {
        StackSettings settings = withOptions("--kafka", "fetch.min.bytes=2")
                .withEnvironment(Map.of("PURI_KAFKA_FETCH_MAX_WAIT_MS", "77"));
        Map<String, String> expected = Map.of("fetch.max.wait.ms", "77", "fetch.min.bytes", "2");
        assertThat(settings.read(StreamsSettings.class, Map.of()).kafka().byName())
                .containsAllEntriesOf(expected);
        assertThat(settings.read(ResolverSettings.class, Map.of()).kafka().byName())
                .containsAllEntriesOf(expected);
        assertThat(settings.read(SearchSettings.class, Map.of()).kafka().byName())
                .containsAllEntriesOf(expected);
    }

    @Test
    void defaultsForOneMachineCanBeOverridden() {
        StackSettings byDefault = withOptions();
        assertThat(byDefault.read(ResolverSettings.class, Map.of()).drainDelay())
                .isEqualTo(Duration.ZERO);
        Map<String, String> environment = new HashMap<>();
        environment.put("PURI_DRAIN_DELAY", "3s");
        environment.put("PURI_STREAMS_STORE_MEMORY", "512");
        StackSettings overridden = withOptions().withEnvironment(environment);
        assertThat(overridden.read(ResolverSettings.class, Map.of()).drainDelay())
                .isEqualTo(Duration.ofSeconds(3));
        assertThat(overridden.read(StreamsSettings.class, Map.of()).streamsStoreMemory())
                .isEqualTo(512)
                .isGreaterThan(byDefault.read(StreamsSettings.class, Map.of()).streamsStoreMemory());
    }

    @Test
    void aMissingFileIsAMistake() {
        assertThatThrownBy(() -> withOptions("--config", folder.resolve("none").toString())
                        .check(Map.of()))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("cannot be read");
    }
}
