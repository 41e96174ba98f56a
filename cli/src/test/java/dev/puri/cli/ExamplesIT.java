package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What README and the examples tell a newcomer to type, typed against the whole registry. */
@NullUnmarked
class ExamplesIT {
    private static final Path ROOT = Path.of("..");
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What nobody can know beforehand. */
    private static final List<String> MINTED = List.of("uuid", "handle", "createdAt", "changedAt");

    @TempDir
    private static Path dir;

    private static EmbeddedStack stack;
    private static Map<String, String> environment;

    @BeforeAll
    static void start() {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(dir.resolve("data")), step -> {});
        environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistry(),
                "PURI_RESOLVER", stack.resolver(),
                "PURI_SEARCH", stack.search());
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    private static String readme() throws IOException {
        return Files.readString(ROOT.resolve("README.md"));
    }

    private static String firstOf(String regex, String text) {
        Matcher matcher = Pattern.compile(regex, Pattern.DOTALL).matcher(text);
        assertThat(matcher.find()).as(regex).isTrue();
        return matcher.group(1);
    }

    private static CommandLineRun run(String command) {
        String[] words = Arrays.stream(command.split(" +", -1))
                .skip(1)
                .map(word -> word.startsWith("examples/") ? ROOT.resolve(word).toString() : word)
                .toArray(String[]::new);
        return CommandLineRun.of(environment, words);
    }

    @Test
    void theWalkThroughOfReadmeGoesAsItSays() throws Exception {
        List<String> commands = firstOf("## A walk through\\s+```sh\\n(.*?)```", readme())
                .lines()
                .filter(line -> !line.contains("./puri up "))
                .toList();
        assertThat(commands).hasSize(5);

        CommandLineRun apply = run(commands.get(0));
        assertThat(apply.status()).as(apply.err()).isEqualTo(ExitStatus.DONE);
        assertThat(apply.out()).contains("soundcloud:tracks", "soundcloud:users");

        CommandLineRun publish = run(commands.get(1));
        assertThat(publish.status()).as(publish.err()).isEqualTo(ExitStatus.PARTLY);
        assertThat(publish.out()).containsPattern("PUBLISHED +APPLIED +UNCHANGED +REFUSED +MALFORMED\\R5 +4 +0 +1 +0");
        assertThat(publish.err()).contains("line 4", "PURI_TAKEN", "br-1");

        CommandLineRun resolve = run(commands.get(2));
        assertThat(resolve.status()).as(resolve.err()).isEqualTo(ExitStatus.PARTLY);
        assertThat(resolve.out())
                .containsPattern("SoundCloud:Tracks:123 +found +br-1 +catalog")
                .containsPattern("soundcloud:users:7 +found +us-1 +accounts")
                .containsPattern("soundcloud:tracks:404 +unknown");

        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            CommandLineRun search = run(commands.get(3));
            assertThat(search.status()).as(search.err()).isEqualTo(ExitStatus.DONE);
            assertThat(search.out()).contains("soundcloud:tracks:123");
        });

        CommandLineRun rejections = run(commands.get(4));
        assertThat(rejections.status()).as(rejections.err()).isEqualTo(ExitStatus.DONE);
        assertThat(rejections.out()).containsPattern("PURI_TAKEN +soundcloud:tracks:123 +catalog in br-1");

        theQuestionThatOpensReadmeHasItsAnswer();
    }

    private static void theQuestionThatOpensReadmeHasItsAnswer() throws Exception {
        String path = firstOf("\\$ curl http://127\\.0\\.0\\.1:8080(\\S+)", readme());
        JsonNode shown = JSON.readTree(firstOf("\\$ curl [^\\n]*\\n(\\{.*?})\\n```", readme()));
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(stack.resolver() + path)).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            JsonNode real = JSON.readTree(answer.body());
            assertThat(names(real)).isEqualTo(names(shown));
            MINTED.forEach(name -> assertThat(real.path(name).asText())
                    .hasSameSizeAs(shown.path(name).asText()));
            assertThat(((ObjectNode) real).deepCopy().without(MINTED).toString())
                    .isEqualTo(((ObjectNode) shown).deepCopy().without(MINTED).toString());
        }
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    /** A machine whose packages have every awkward name there is. */
    private static Path commandsOfAnotherMachine() throws IOException {
        Path bin = Files.createDirectories(dir.resolve("bin"));
        Path list = bin.resolve("packages");
        Files.writeString(list, DebianPackagesTest.listing());
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        write(
                bin.resolve("puri"),
                "exec '%s' -cp '%s' dev.puri.cli.Main \"$@\"".formatted(java, System.getProperty("java.class.path")));
        // Asked for names alone, or for the format that the example names.
        write(
                bin.resolve("dpkg-query"),
                "case $3 in *Version*) cat '%s' ;; *) cut -f 1 '%s' ;; esac".formatted(list, list));
        return bin;
    }

    private static void write(Path script, String line) throws IOException {
        Files.writeString(script, "#!/bin/sh\n" + line + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }

    private static String packages(Path bin) throws Exception {
        Path output = dir.resolve("output");
        ProcessBuilder script = new ProcessBuilder(
                        DebianPackagesTest.EXAMPLE.resolve("run.sh").toString(),
                        dir.resolve("kept").toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Map<String, String> variables = new HashMap<>(environment);
        variables.put("PURI", bin.resolve("puri").toString());
        variables.put("PATH", bin + ":" + System.getenv("PATH"));
        script.environment().putAll(variables);
        Process process = script.start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    @Test
    void aMachinesPackagesArePublishedOnceHoweverOftenTheExampleRuns() throws Exception {
        Path bin = commandsOfAnotherMachine();
        int events = DebianPackagesTest.names().size();
        assertThat(packages(bin))
                .contains(sum(events, events, 0))
                .containsPattern("pkg_\\w{15} +found")
                .containsPattern("debian:packages:g\\+\\+ +found")
                .containsPattern("debian:packages:libc6%3Aamd64 +found")
                .containsPattern("debian:packages:no-such-package +unknown");
        assertThat(packages(bin)).contains(sum(events, 0, events)).contains(sum(0, 0, 0));
    }

    private static String sum(int published, int applied, int unchanged) {
        return "{\"published\":%d,\"applied\":%d,\"unchanged\":%d,\"refused\":0,\"malformed\":0}"
                .formatted(published, applied, unchanged);
    }
}
