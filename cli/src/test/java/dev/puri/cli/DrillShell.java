package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs commands that are not those of {@code puri}, and HTTP requests. */
final class DrillShell {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private DrillShell() {}

    /** Runs a command in a shell, and fails if it fails. */
    static void run(String line, Path directory, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path output = directory.resolve("shell.out");
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        shell.environment().putAll(environment);
        Process process = shell.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(line).isTrue();
        assertThat(process.exitValue())
                .as(line + ": " + Files.readString(output))
                .isZero();
    }

    /** Returns the body of a response, or the error as text. */
    static String get(String url) {
        try {
            return HTTP.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException e) {
            return e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e.toString();
        }
    }
}
