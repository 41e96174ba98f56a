package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.log.Topics;
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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands and programs of README, docs and examples, run against the whole registry. */
@NullUnmarked
@Order(2)
class ExamplesIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String DEFAULT_RESOLVER = "http://127.0.0.1:8080";

    /** The exit status of curl if the server responded with a status of 400 or more. */
    private static final int HTTP_ERROR = 22;

    private static final String FASTAVRO_VERSION = "1.12.2";

    /** The parts of printed output that differ between runs. */
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
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl(),
                "PURI_RESOLVER", stack.resolverUrl(),
                "PURI_SEARCH", stack.indexerUrl());
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    private static String readme() {
        return Page.readme().text();
    }

    private static String firstOf(String regex, String text) {
        Matcher matcher = Pattern.compile(regex, Pattern.DOTALL).matcher(text);
        assertThat(matcher.find()).as(regex).isTrue();
        return matcher.group(1);
    }

    private static CommandLineRun run(String command) {
        String[] words = Arrays.stream(command.split(" +", -1))
                .skip(1)
                .map(word ->
                        word.startsWith("examples/") ? Page.ROOT.resolve(word).toString() : word)
                .toArray(String[]::new);
        return CommandLineRun.of(environment, words);
    }

    @Test
    void theWalkThroughOfReadmeWorks() throws Exception {
        List<String> commands = firstOf("## Walk-through\\s+```sh\\n(.*?)```", readme())
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
                    HttpRequest.newBuilder(URI.create(stack.resolverUrl() + path))
                            .build(),
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

    @Test
    void eventsOfTheConceptsPageHaveThePrintedOutcomes() {
        Page concepts = Page.of("docs/concepts.md");
        List<List<String>> outcomes = concepts.text()
                .lines()
                .filter(line -> line.matches("\\| \\d \\| .*"))
                .map(Page::cells)
                .toList();
        String events = String.join("\n", concepts.lines("json", "{"));
        assertThat(outcomes).hasSameSizeAs(concepts.lines("json", "{"));

        CommandLineRun publish = CommandLineRun.reading(environment, events, "publish", "-f", "-", "--wait");
        List<List<String>> refused = outcomes.stream()
                .filter(row -> row.get(1).startsWith("refused"))
                .toList();
        assertThat(refused).isNotEmpty();
        assertThat(publish.errLines()).hasSameSizeAs(refused);
        refused.forEach(row -> assertThat(publish.err())
                .containsPattern("line " + row.get(0) + ": refused, " + firstOf("refused ([A-Z_]+)", row.get(1))));
        assertThat(publish.out())
                .containsPattern("\\R" + outcomes.size() + " +" + (outcomes.size() - refused.size()) + " +0 +"
                        + refused.size() + " +0");

        CommandLineRun resolve = CommandLineRun.of(environment, "resolve", "acme:cars:1", "-o", "json");
        JsonNode row = Json.parse(resolve.out()).path("results").path(0);
        assertThat(row.path("verdict").asText()).isEqualTo("merged");
        assertThat(row.path("canonical").asText()).isEqualTo("acme:cars:2");
        assertThat(row.path("epoch").asText())
                .isEqualTo(outcomes.get(outcomes.size() - 1).get(2));
    }

    @Test
    void requestsWithCurlAreAnswered() throws Exception {
        List<String> requests = Stream.of("docs/http-api.md", "docs/export.md")
                .flatMap(page -> Page.of(page).lines("sh", "curl ").stream())
                .toList();
        assertThat(requests).hasSizeGreaterThan(4);
        for (String request : requests) {
            ShellRun run = shell(request.replace("curl ", "curl --no-progress-meter --fail-with-body ")
                    .replace(DEFAULT_RESOLVER, stack.resolverUrl()));
            // The first request asks for a name that exists only if the walk-through ran before.
            assertThat(run.status()).as(request + "\n" + run.output()).isIn(0, HTTP_ERROR);
            if (run.status() == HTTP_ERROR) {
                assertThat(run.output()).contains("\"verdict\":\"unknown\"");
            }
        }
    }

    @Test
    void linesForKcatPrintRecords() throws Exception {
        ShellRun version = shell("kcat -V");
        requireHere(version.status() == 0, "kcat is not installed");
        create("acme:trains:1");
        for (String line : Page.of("docs/events.md").lines("sh", "kcat ")) {
            ShellRun run = shell(line.replace(CliSettings.DEFAULT_BOOTSTRAP_SERVER, stack.bootstrapServers())
                    .replace(CliSettings.DEFAULT_SCHEMA_REGISTRY, stack.schemaRegistryUrl()));
            if (line.contains("value=avro") && !version.output().contains("Avro")) {
                assertThat(run.status()).isNotZero();
                assertThat(run.output()).contains("Avro");
                continue;
            }
            assertThat(run.status()).as(run.output()).isZero();
            if (line.contains(Topics.IDENTITIES)) {
                assertThat(run.output()).containsPattern("acme:trains:1 position=\\d+-\\d+,outcome=applied");
            }
        }
    }

    @Test
    void theEventOfThePythonProgramIsApplied() throws Exception {
        Path packages = dir.resolve("packages");
        ShellRun install =
                shell("python3 -m pip install --quiet --timeout 10 --retries 1 --only-binary :all: --target '"
                        + packages + "' fastavro==" + FASTAVRO_VERSION);
        // Not required in CI: PyPI may be unreachable, and the distribution has no package of it.
        Assumptions.assumeTrue(install.status() == 0, "pip does not install fastavro: " + install.output());
        Path program = Files.writeString(
                dir.resolve("event.py"),
                Page.of("docs/events.md").blocks("python").get(0));
        String puri = "acme:boats:1";
        create(puri);

        ShellRun event = shell(
                "PYTHONPATH='" + packages + "' python3 '" + program + "' " + stack.schemaRegistryUrl() + " " + puri);
        assertThat(event.status()).as(event.output()).isZero();
        byte[] value = HexFormat.of().parseHex(event.output().strip());
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", stack.bootstrapServers()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(Topics.EVENTS, puri, value)).get(30, TimeUnit.SECONDS);
        }
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(
                                CommandLineRun.of(environment, "resolve", puri).out())
                        .contains("deleted"));
    }

    private static void create(String puri) {
        String event = "{\"type\":\"created\",\"puri\":\"%s\",\"owner\":\"acme\",\"shard\":\"eu-1\"}".formatted(puri);
        assertThat(CommandLineRun.reading(environment, event, "publish", "-f", "-", "--wait")
                        .status())
                .isEqualTo(ExitStatus.DONE);
    }

    private record ShellRun(int status, String output) {}

    private static ShellRun shell(String line) throws Exception {
        Path output = Files.createTempFile(dir, "shell", ".out");
        Process process = new ProcessBuilder("sh", "-c", line)
                .directory(dir.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("still running: " + line);
        }
        return new ShellRun(process.exitValue(), Files.readString(output));
    }

    /** Skips a test on a developer's machine without the tool; on the build server the test fails. */
    private static void requireHere(boolean isHere, String otherwise) {
        if (!isHere && Boolean.parseBoolean(System.getenv("CI"))) {
            throw new AssertionError(otherwise);
        }
        Assumptions.assumeTrue(isHere, otherwise);
    }

    /** A machine whose packages have unusual names of every kind. */
    private static Path commandsOfAnotherMachine() throws IOException {
        Path bin = Files.createDirectories(dir.resolve("bin"));
        Path list = bin.resolve("packages");
        Files.writeString(list, DebianPackagesTest.listing());
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        write(
                bin.resolve("puri"),
                "exec '%s' -cp '%s' dev.puri.cli.Main \"$@\"".formatted(java, System.getProperty("java.class.path")));
        // The script requests only names, or the format of the example.
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
    void packagesArePublishedOnceEvenIfTheExampleRunsTwice() throws Exception {
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
