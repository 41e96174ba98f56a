package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The whole registry as {@code puri up} runs it, in a process of its own: its class path and the application's do not
 * mix. It ends with this process.
 */
final class RegistryProcess implements AutoCloseable {
    private static final Pattern ADDRESSES = Pattern.compile("puri: broker ([^\\s,]+), schema registry ([^\\s,]+),");

    private final Process process;
    private final String resolver;
    private final Matcher addresses;

    /**
     * Starts it and returns when it answers.
     *
     * @param folder for its data
     */
    RegistryProcess(Path folder) throws IOException {
        Path root = Path.of("..", "..").toAbsolutePath().normalize();
        Path target = root.resolve("cli/target");
        assertThat(target.resolve("lib")).as("made by: mvn package -pl cli -am").isDirectory();
        Path errors = folder.resolve("registry.errors");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dpuri.apicurio.home=" + root.resolve("testing/embedded/target/apicurio"),
                "-cp",
                target.resolve("*") + System.getProperty("path.separator") + target.resolve("lib/*"),
                "dev.puri.embedded.ChildMain",
                "dev.puri.cli.Main",
                "up",
                "--data",
                folder.resolve("registry").toString()));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            command.addAll(List.of(port, "0"));
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        process = builder.start();
        try {
            String ready = process.inputReader().readLine();
            assertThat(ready).as(Files.readString(errors)).startsWith("ready http://");
            resolver = ready.substring("ready ".length());
            addresses = ADDRESSES.matcher(Files.readString(errors));
            assertThat(addresses.find()).as(Files.readString(errors)).isTrue();
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    String resolver() {
        return resolver;
    }

    String broker() {
        return addresses.group(1);
    }

    String schemaRegistry() {
        return addresses.group(2);
    }

    @Override
    public void close() {
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
