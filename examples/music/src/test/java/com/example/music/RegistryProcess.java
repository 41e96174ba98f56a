package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The registry as {@code puri up} runs it, with the collections of this example. */
final class RegistryProcess implements AutoCloseable {
    private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
    private static final Pattern ADDRESSES =
            Pattern.compile("puri: broker ([^\\s,]+), schema registry ([^\\s,]+),(?s:.*)puri: search (\\S+)");

    private final Process process;
    private final Path errors;
    private String resolver = "";
    private Matcher addresses = ADDRESSES.matcher("");

    /**
     * Starts it, and returns when it answers.
     *
     * @param folder for its data
     */
    RegistryProcess(Path folder) throws Exception {
        errors = folder.resolve("registry.errors");
        List<String> command = command();
        // It ends with this process.
        command.add(command.size() - 1, "dev.puri.embedded.ChildMain");
        command.addAll(List.of("up", "--data", folder.resolve("registry").toString()));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            command.addAll(List.of(port, "0"));
        }
        process = process(command).redirectError(errors.toFile()).start();
        try {
            String ready = process.inputReader().readLine();
            assertThat(ready).as(Files.readString(errors)).startsWith("ready http://");
            resolver = ready.substring("ready ".length());
            addresses = ADDRESSES.matcher(Files.readString(errors));
            assertThat(addresses.find()).as(Files.readString(errors)).isTrue();
            applyCollections(folder.resolve("apply.log"));
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    /** The puri command of this tree, without its launcher, which would build. */
    static List<String> command() {
        Path target = ROOT.resolve("cli/target");
        assertThat(target.resolve("lib")).as("made by: mvn package -pl cli -am").isDirectory();
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dpuri.apicurio.home=" + ROOT.resolve("testing/embedded/target/apicurio"),
                "-cp",
                target.resolve("*") + System.getProperty("path.separator") + target.resolve("lib/*"),
                "dev.puri.cli.Main"));
    }

    private static ProcessBuilder process(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        return builder;
    }

    private void applyCollections(Path log) throws Exception {
        List<String> command = command();
        command.addAll(List.of("collections", "apply", "-f", "src/main/puri/collections.yaml"));
        ProcessBuilder apply = process(command).redirectErrorStream(true).redirectOutput(log.toFile());
        apply.environment().putAll(environment());
        Process applying = apply.start();
        assertThat(applying.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(applying.exitValue()).as(Files.readString(log)).isZero();
    }

    /** Its addresses, as variables of the puri command and of programs in other languages. */
    Map<String, String> environment() {
        return Map.of(
                "PURI_BOOTSTRAP_SERVER", addresses.group(1),
                "PURI_SCHEMA_REGISTRY", addresses.group(2),
                "PURI_RESOLVER", resolver);
    }

    /** Settings of an application that uses it. */
    List<String> settings() {
        return List.of(
                "--puri.kafka.bootstrap-servers=" + addresses.group(1),
                "--puri.schema-registry.url=" + addresses.group(2),
                "--puri.resolver.addresses=" + resolver,
                // A cold topology on a busy machine may need longer than a user would wait.
                "--music.claim-wait=60s",
                "--music.search-url=" + addresses.group(3));
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
