package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.settings.KafkaProperties;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    private static final Map<String, String> NOTHING_SET = Map.of();

    @Test
    void helpGoesToStdoutWithStatus0() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "--help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("Usage: puri").contains("Exit status:").contains("publish");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void everySubcommandHasHelpAndNothingOnStderr() {
        for (String command : List.of(
                "demo",
                "up",
                "mint",
                "publish",
                "resolve",
                "collections",
                "topics",
                "rejections",
                "streams",
                "resolver",
                "search",
                "indexer")) {
            CommandLineRun run = CommandLineRun.of(NOTHING_SET, command, "--help");
            assertThat(run.status()).as(command).isZero();
            assertThat(run.out()).as(command).contains("Usage: puri " + command).contains("--bootstrap-server");
            assertThat(run.err()).as(command).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "--nonsense",
                "nonsense",
                "mint --nonsense",
                "mint -n 0",
                "mint -n many",
                "mint --prefix toolong",
                "mint a:b --prefix abc",
                "mint nocolon",
                "-o yaml mint",
                "publish",
                "publish -f x --timeout 0",
                "resolve",
                "resolve a:b:c --group-by owner",
                "collections",
                "collections apply",
                "rejections",
                "rejections list -n 0",
                "rejections list --puri x",
                "up --port 70000",
                "up --kafka-port -1",
                "demo --registry-port 65536",
                "up --data=",
                "up --bootstrap-server a:1",
                "up --command-config f",
                "streams --resolver http://a",
                "identities attributes --source=",
                "identities republish --events-since 1d --resolver http://a/?x",
                "demo --resolver http://a",
                "resolve a:b:c --resolver ftp://x",
                "resolve a:b:\uFFFD",
                "mint a:\uFFFD",
                "verify --yes",
                "verify --part index --repair",
                "verify --part snapshot",
                "verify --part registrar --snapshot x",
                "verify --part index --also-resolver http://a",
            })
    void aWrongCommandLineIsStatus2WithAMessageOnStderr(String args) {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, args.isEmpty() ? new String[0] : args.split(" "));
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).isNotBlank().doesNotContain("\tat ");
    }

    @Test
    void optionsMayPrecedeOrFollowTheCommand() {
        CommandLineRun before = CommandLineRun.of(NOTHING_SET, "-o", "json", "mint", "--prefix", "abc");
        CommandLineRun after = CommandLineRun.of(NOTHING_SET, "mint", "--prefix", "abc", "-o", "JSON");
        for (CommandLineRun run : List.of(before, after)) {
            assertThat(run.status()).isZero();
            JsonNode minted = Json.parse(run.out());
            assertThat(minted.path("uuid").asText()).matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-.*");
            assertThat(minted.path("handle").asText()).matches("abc_[1-9a-hjkmnp-z]{15}");
        }
    }

    @Test
    void mintsTheRequestedNumberOfIds() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "mint", "-n", "3");
        assertThat(run.outLines()).hasSize(3).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void optionsOfAServerAreItsSettingsAndAllMistakesAreReportedTogether() {
        CommandLineRun help = CommandLineRun.of(NOTHING_SET, "streams", "--help");
        assertThat(help.out()).contains("--streams-threads=NUMBER").contains("PURI_STREAMS_THREADS");
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "resolver", "--http-port", "x", "--max-refs", "0");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("--http-port: \"x\"").contains("--max-refs: \"0\"");
    }

    @Test
    void anUnknownVariableIsAMistakeAndTheNearestKnownNameIsSuggested() {
        CommandLineRun run =
                CommandLineRun.of(Map.of("PURI_BOOTSTRAP_SERVRE", "localhost:9092"), "mint", "soundcloud:tracks");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("PURI_BOOTSTRAP_SERVRE").contains("PURI_BOOTSTRAP_SERVER?");
    }

    @Test
    void aFileThatCannotBeReadIsStatus1() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "publish", "-f", "/does/not/exist");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.errLines())
                .singleElement()
                .asString()
                .startsWith("puri: the file /does/not/exist cannot be read");
    }

    @Test
    void aMissingFileIsNamedWithTheReason() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "identities", "republish", "-f", "/does/not/exist");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.errLines()).containsExactly("puri: /does/not/exist: no such file");
    }

    @Test
    void aWrongPropertyOfAKafkaClientIsStatus2() {
        CommandLineRun run = CommandLineRun.of(Map.of("PURI_KAFKA_SECURITY_PROTOCOL", "NONE"), "topics", "list");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.errLines())
                .singleElement()
                .asString()
                .contains("security.protocol")
                .doesNotContain("no broker answers", "--bootstrap-server");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "soon"})
    void aWrongTimeoutIsReportedUnderTheNameOfItsProperty(String timeout) {
        CommandLineRun run = CommandLineRun.reading(
                Map.of("PURI_KAFKA_DEFAULT_API_TIMEOUT_MS", timeout),
                "collections:\n  - {name: music:tracks, prefix: trk}\n",
                "collections",
                "apply",
                "-f",
                "-");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.errLines())
                .containsExactly("puri: default.api.timeout.ms must be a number of milliseconds, not " + timeout);
    }

    @Test
    void anOptionThatAServerDoesNotHaveIsRefusedAndTheRightOneIsNamed() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "resolver", "--search", "http://a");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.errLines())
                .containsExactly("puri: --search: puri resolver does not accept this option; use --search-url");
    }

    @Test
    void aTokenWithABadCharacterIsStatus2() {
        CommandLineRun run =
                CommandLineRun.of(Map.of("PURI_TOKEN", "a\u00e9"), "identities", "republish", "--events-since", "1d");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("token: contains a character").doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"acks=1", "enable.idempotence=false"})
    void aPropertyThatIsWrongForAPublisherIsStatus2(String property) {
        String[] each = property.split("=");
        assertThatThrownBy(() -> settings(Map.of(each[0], each[1])).publisher(Declarations.none()))
                .isInstanceOfSatisfying(
                        CommandException.class, e -> assertThat(e.exitStatus()).isEqualTo(ExitStatus.USAGE))
                .hasMessageContaining(property + ": must be ");
    }

    @ParameterizedTest
    @CsvSource({"mint -n 1000000000, 1", "--help, 1", "mint -n 0, 2"})
    void outputThatCannotBeWrittenIsStatus1(String args, int status) {
        StringWriter err = new StringWriter();
        PrintWriter closed = new PrintWriter(OutputStream.nullOutputStream());
        closed.close();
        Console console =
                new Console(InputStream.nullInputStream(), closed, new PrintWriter(err), NOTHING_SET, false, false);
        assertThat(Main.run(console, args.split(" "))).isEqualTo(status);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString().contains(Console.OUT_FAILED)).isEqualTo(status == 1);
    }

    @Test
    void theAddressOfABrokerThatIsNoAddressIsStatus2() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "topics", "list", "--bootstrap-server", "nowhere");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("nowhere", "set its address with --bootstrap-server");
    }

    /** Compose files pass variables that the user has not set as empty texts. */
    @Test
    void aBlankVariableNamesNoServer() {
        for (String value : List.of("", " ", "http://127.0.0.1:8083")) {
            VerifyCommand verify = parsed(Map.of("PURI_SEARCH", value), new StringWriter(), "verify");
            assertThat(verify.isNamed(VerifyCommand.Part.INDEX, "search", "PURI_SEARCH"))
                    .isEqualTo(!value.isBlank());
        }
    }

    /** Parses a command line, and returns its innermost command without running it. */
    private static <T> T parsed(Map<String, String> environment, StringWriter out, String... args) {
        Console console = new Console(
                InputStream.nullInputStream(), new PrintWriter(out), new PrintWriter(out), environment, false, false);
        return new CommandLine(new PuriCommand(console))
                .parseArgs(args)
                .asCommandLineList()
                .getLast()
                .getCommand();
    }

    @Test
    void openingAnImportPrintsJson() {
        StringWriter out = new StringWriter();
        ImportCommand.OpenCommand open = parsed(NOTHING_SET, out, "import", "open", "-d", "folder", "-o", "JSON");
        open.print(List.of("music:tracks"), List.of("music:albums"));
        assertThat(out).hasToString("{\"opened\":[\"music:tracks\"],\"stillImporting\":[\"music:albums\"]}\n");
    }

    @Test
    void aFileOfCollectionsWithMistakesIsStatus1AndWritesNothing() {
        CommandLineRun run =
                CommandLineRun.reading(NOTHING_SET, "collections:\n  - nme: a:b\n", "collections", "apply", "-f", "-");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("standard input:2: unknown key \"nme\"");
    }

    @Test
    void aDeclaredNamespaceWithoutItsTopicIsAMistake() {
        assertThat(TopicsCommand.missingTopics(
                        Set.of("music", "video"), Set.of("puri.events.v1", "puri.events.v1.video")))
                .singleElement()
                .asString()
                .startsWith("puri.events.v1.music is missing")
                .endsWith("puri topics create");
    }

    @Test
    void warnsAboutATopicOfItsOwnAndNamesTheNextCommand() {
        Namespace music = new Namespace("music", true);
        String missing = CollectionsCommand.ApplyCommand.topicWarning(music, Set.of());
        assertThat(missing).contains("accepted on puri.events.v1.music only").contains("puri topics create");
        assertThat(CollectionsCommand.ApplyCommand.topicWarning(music, Set.of("puri.events.v1.music")))
                .doesNotContain("topics create");
    }

    @Test
    void timeoutOfPublishBoundsTheTimeoutsOfKafkaClients() {
        CliSettings settings = settings(Map.of());
        assertThat(settings.withTimeout(Duration.ofSeconds(3)).clientProperties())
                .containsEntry("delivery.timeout.ms", "3000")
                .containsEntry("max.block.ms", "3000")
                .containsEntry("request.timeout.ms", "1500")
                .containsEntry("default.api.timeout.ms", "3000");
        assertThat(settings.withTimeout(Duration.ofSeconds(60)).apiTimeout()).isEqualTo(Duration.ofSeconds(15));
    }

    /** Kafka refuses a default.api.timeout.ms below request.timeout.ms. */
    @Test
    void aTimeoutThatTheUserHasNotSetIsDerivedFromTheOneThatIsSet() {
        CliSettings longRequest = settings(Map.of("request.timeout.ms", "30000"));
        CliSettings shortCall = settings(Map.of("default.api.timeout.ms", "5000"));
        for (CliSettings settings : List.of(longRequest, longRequest.withTimeout(Duration.ofSeconds(60)))) {
            assertThat(settings.interactiveProperties())
                    .containsEntry("request.timeout.ms", "30000")
                    .containsEntry("default.api.timeout.ms", "30000");
            assertThat(settings.apiTimeout()).isEqualTo(Duration.ofSeconds(30));
        }
        for (CliSettings settings : List.of(shortCall, shortCall.withTimeout(Duration.ofSeconds(60)))) {
            assertThat(settings.interactiveProperties())
                    .containsEntry("request.timeout.ms", "5000")
                    .containsEntry("default.api.timeout.ms", "5000");
        }
        assertThat(settings(Map.of()).interactiveProperties())
                .containsEntry("request.timeout.ms", "15000")
                .containsEntry("default.api.timeout.ms", "15000");
    }

    private static CliSettings settings(Map<String, String> kafka) {
        URI nowhere = URI.create("http://127.0.0.1:1");
        return new CliSettings("127.0.0.1:1", nowhere, nowhere, nowhere, Optional.empty(), new KafkaProperties(kafka));
    }

    @Test
    void printsTheVersionOfTheBuild() {
        CommandLineRun run = CommandLineRun.of(NOTHING_SET, "--version");
        assertThat(run.status()).isZero();
        assertThat(run.out()).matches("puri \\d+\\.\\d+\\.\\d+.*\\R");
    }

    @Test
    void aDirectoryOrAMissingFileIsReportedInOneLine() {
        assertThat(CommandLineRun.of(NOTHING_SET, "publish", "-f", "/tmp").errLines())
                .singleElement()
                .asString()
                .contains("/tmp is a directory");
        assertThat(CommandLineRun.of(NOTHING_SET, "collections", "apply", "-f", "/does/not/exist")
                        .errLines())
                .singleElement()
                .asString()
                .endsWith("no such file");
    }

    @Test
    void aLocaleWithoutUtf8AcceptsOnlyAsciiArguments() {
        Subcommand.requireDecodable(List.of("a:b:c"), "ANSI_X3.4-1968");
        Subcommand.requireDecodable(List.of("a:b:é"), "UTF-8");
        assertThatThrownBy(() -> Subcommand.requireDecodable(List.of("a:b:é"), "ANSI_X3.4-1968"))
                .hasMessageContaining("LC_ALL=C.UTF-8");
    }

    @Test
    void mistakesDoNotShowTheNamesOfJackson() {
        for (String line : List.of("{", "[", "{\"a\":NaN}", "{\"a\":+1}", "{\"a\":01}", "{\"a\"", "[[")) {
            assertThat(EventLineParserTest.parse(line).toString())
                    .as(line)
                    .doesNotContain("Source", "start marker", "Feature", "enable");
        }
        assertThat(EventLineParserTest.parse("{").toString()).contains("one object a line");
        assertThat(EventLineParserTest.parse("[").toString()).contains("one object a line");
    }

    @Test
    void responsesToBatchesAreJoinedInOrder() {
        JsonNode one = Json.parse("{\"results\":[1,2],\"shards\":{\"b\":[0,1]}}");
        JsonNode two = Json.parse("{\"results\":[3,4],\"shards\":{\"a\":[1],\"b\":[0]}}");
        assertThat(ResolveCommand.join(List.of(one, two)))
                .hasToString("{\"results\":[1,2,3,4],\"shards\":{\"a\":[3],\"b\":[0,1,2]}}");
    }
}
