package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.log.Reason;
import dev.puri.search.SearchSettings;
import dev.puri.settings.KnownSetting;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests that README and docs match the code. */
class DocumentationTest {
    private static final Pattern NAMED_COMMAND = Pattern.compile("`(?:\\./)?puri ([^`]+)`");

    /** A command of the launcher, which another module implements. */
    private static final String BENCH = "bench";

    /** Names in the examples of testing.md. The tests of client/testing check these examples. */
    private static final Set<String> OF_TESTS = Set.of("PURI_TEST_STACK", "PURI_TEST_CACHE", "PURI_TEST_IMAGE");

    private static List<String> named(Page page) {
        return NAMED_COMMAND
                .matcher(page.text().replaceAll("\\s+", " "))
                .results()
                .map(command -> command.group(1))
                .toList();
    }

    @Test
    void everyCommandOfTheExamplesParses() {
        List<String> commands = Page.all().stream()
                .flatMap(page -> page.lines("sh", "./puri ").stream())
                .map(line -> line.replaceAll("\\s+#.*| &.*", ""))
                .toList();
        assertThat(commands).hasSizeGreaterThan(4);
        for (String command : commands) {
            String[] words = command.substring("./puri ".length()).split(" +", -1);
            assertThatCode(() -> CommandLineRun.parser().parseArgs(words))
                    .as(command)
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void everyFileOfTheExamplesExists() {
        List<String> files = Page.all().stream()
                .flatMap(page -> page.blocks("sh").stream())
                .flatMap(block -> Arrays.stream(block.split("\\s+")))
                .filter(word -> word.startsWith("examples/"))
                .toList();
        assertThat(files)
                .isNotEmpty()
                .allSatisfy(file -> assertThat(Page.ROOT.resolve(file)).exists());
    }

    @Test
    void everyDocumentedCommandAndOptionExists() {
        List<String> named =
                Page.all().stream().flatMap(page -> named(page).stream()).toList();
        assertThat(named).hasSizeGreaterThan(10);
        CommandLine parser = CommandLineRun.parser();
        for (String text : named) {
            CommandLine command = parser;
            boolean mayBeName = true;
            for (String word : text.replaceAll("[\\[\\]]", "").split(" +", -1)) {
                if (word.equals(BENCH) && mayBeName) {
                    assertThat(Page.of("puri").text()).contains(BENCH);
                    break;
                }
                boolean isGroup = !command.getSubcommands().isEmpty();
                if (mayBeName && isGroup && word.matches("[a-z]+")) {
                    assertThat(command.getSubcommands()).as(text).containsKey(word);
                    command = Objects.requireNonNull(command.getSubcommands().get(word));
                } else {
                    mayBeName = false;
                }
                if (word.startsWith("-")) {
                    assertThat(command.getCommandSpec().findOption(word))
                            .as("%s in %s", word, text)
                            .isNotNull();
                }
            }
        }
    }

    @Test
    void everyCommandIsDocumented() {
        Set<String> named = named(Page.of("docs/cli.md")).stream()
                .map(command -> command.replaceAll("^((?:[a-z]+ ?)+).*", "$1").strip())
                .collect(Collectors.toCollection(TreeSet::new));
        CommandLineRun.parser().getSubcommands().forEach((name, command) -> {
            if (command.getSubcommands().isEmpty()) {
                assertThat(named).contains(name);
            } else {
                command.getSubcommands()
                        .keySet()
                        .forEach(sub -> assertThat(named).contains(name + ' ' + sub));
            }
        });
    }

    @Test
    void tableOfSettingsMatchesTheCode() {
        Set<String> said = Page.of("docs/settings.md").rows().stream()
                .filter(row -> row.get(0).startsWith("PURI_"))
                .map(row -> String.join(" | ", row.subList(0, 3)))
                .collect(Collectors.toCollection(TreeSet::new));
        Map<String, Map<String, KnownSetting>> known = Map.of(
                "commands", settings(CliSettings.class),
                "resolver", settings(ResolverSettings.class),
                "indexer", settings(SearchSettings.class),
                "streams", settings(StreamsSettings.class));
        assertThat(PuriCommand.SETTINGS).hasSize(known.size());
        // A row for each default of a name, with the programs that use it.
        Map<String, Map<String, Set<String>>> users = new TreeMap<>();
        known.forEach((user, settings) ->
                settings.forEach((name, setting) -> users.computeIfAbsent(name, none -> new TreeMap<>())
                        .computeIfAbsent(setting.byDefault(), none -> new TreeSet<>())
                        .add(user)));
        Set<String> holds = new TreeSet<>();
        users.forEach((name, byDefault) ->
                byDefault.forEach((value, of) -> holds.add(name + " | " + named(of, known.keySet()) + " | " + value)));
        assertThat(said).isEqualTo(holds);
    }

    private static String named(Set<String> users, Set<String> all) {
        Set<String> servers = new TreeSet<>(all);
        servers.remove("commands");
        return users.equals(all) ? "all" : users.equals(servers) ? "servers" : String.join(", ", users);
    }

    private static Map<String, KnownSetting> settings(Class<? extends Record> type) {
        return Settings.list(type).stream()
                .collect(Collectors.toMap(KnownSetting::environmentName, setting -> setting));
    }

    @Test
    void tablesOfPathsMatchTheServers() throws IOException {
        Set<String> said = Stream.of("docs/http-api.md", "docs/search.md")
                .flatMap(page -> Page.of(page).rows().stream())
                .map(row -> row.get(0))
                .filter(cell -> cell.matches("(GET|POST|DELETE) /.*"))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> answered = new TreeSet<>(paths(ResolverSettings.class, "/openapi.json"));
        answered.addAll(paths(SearchSettings.class, "/openapi-search.json"));
        assertThat(said).isEqualTo(answered);
    }

    private static Set<String> paths(Class<?> beside, String contract) throws IOException {
        Set<String> paths = new TreeSet<>();
        try (InputStream openApi = Objects.requireNonNull(beside.getResourceAsStream(contract))) {
            new ObjectMapper()
                    .readTree(openApi)
                    .path("paths")
                    .properties()
                    .forEach(path -> path.getValue()
                            .fieldNames()
                            .forEachRemaining(method ->
                                    paths.add(method.toUpperCase(java.util.Locale.ROOT) + ' ' + path.getKey())));
        }
        return paths;
    }

    @Test
    void tableOfVerdictsMatchesTheContract() throws IOException {
        String page = Page.of("docs/http-api.md").text();
        List<String> said = page.substring(page.indexOf("## Verdicts"), page.indexOf("## Tokens"))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> Page.cells(line).get(0))
                .toList();
        List<String> verdicts = new ArrayList<>();
        try (InputStream openApi =
                Objects.requireNonNull(ResolverSettings.class.getResourceAsStream("/openapi.json"))) {
            new ObjectMapper()
                    .readTree(openApi)
                    .at("/components/schemas/Result/properties/verdict/enum")
                    .forEach(verdict -> verdicts.add(verdict.asText()));
        }
        assertThat(said).isEqualTo(verdicts);
    }

    @Test
    void everyReasonOfARefusalIsExplained() {
        String page = Page.of("docs/events.md").text();
        String table = page.substring(
                page.indexOf("## What becomes of an event"), page.indexOf("\n## Attributes and documents"));
        Set<String> named = Pattern.compile("`([A-Z_]+)`")
                .matcher(table)
                .results()
                .map(reason -> reason.group(1))
                .collect(Collectors.toSet());
        assertThat(named)
                .isEqualTo(Arrays.stream(Reason.values()).map(Enum::name).collect(Collectors.toSet()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/java-client.md"})
    void theJavaOfTheExampleCompiles(String page, @TempDir Path classes) {
        List<String> blocks = Page.of(page).blocks("java");
        assertThat(blocks).isNotEmpty();
        String body = String.join("\n", blocks);
        String source = """
                import dev.puri.client.*;
                import dev.puri.client.declarations.*;
                import dev.puri.client.outbox.*;
                import dev.puri.client.resolve.*;
                import dev.puri.schemas.collection.*;
                import dev.puri.schemas.identity.*;
                import dev.puri.schemas.log.*;
                import java.io.Reader;
                import java.nio.file.Files;
                import java.nio.file.Path;
                import java.sql.Connection;
                import java.sql.PreparedStatement;
                import java.sql.Statement;
                import java.time.Clock;
                import java.time.Duration;
                import java.util.List;
                import java.util.Map;
                import javax.sql.DataSource;
                import org.slf4j.Logger;

                class Example {
                    /** The Maven plugin generates this constant from examples/music/collections.yaml. */
                    static final class Soundcloud {
                        static final PuriCollection TRACKS = PuriCollection.of("soundcloud", "tracks", "trk");
                    }

                    void example(Map<String, String> properties, DataSource dataSource, Clock clock, Logger log)
                            throws Exception {
                %s
                    }
                }
                """.formatted(body);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options =
                List.of("-d", classes.toString(), "-proc:none", "-cp", System.getProperty("java.class.path"));
        assertThat(compiler.getTask(null, null, problems, options, null, List.of(file))
                        .call())
                .as(() -> problems.getDiagnostics().toString())
                .isTrue();
    }

    @Test
    void artifactsOfAServiceAreInTheBomAndNameNoOtherVersion() throws IOException {
        String bom = Page.of("client/bom/pom.xml").text();
        String version = bom.replaceAll("(?s)^.*?(<version>[^<]+</version>).*", "$1");
        Pattern dependency = Pattern.compile("(?s)<dependency>.*?</dependency>");
        List<String> ours = Page.all().stream()
                .flatMap(page -> page.blocks("xml").stream())
                .flatMap(block -> dependency.matcher(block).results())
                .map(MatchResult::group)
                .filter(each -> each.contains("<groupId>dev.puri</groupId>"))
                .toList();
        assertThat(ours).hasSizeGreaterThan(6).allSatisfy(each -> {
            if (each.contains("<artifactId>client-bom</artifactId>")) {
                assertThat(each).contains(version);
            } else {
                assertThat(each).doesNotContain("<version>");
                assertThat(bom).contains(each.replaceAll("(?s).*(<artifactId>.*</artifactId>).*", "$1"));
            }
        });
    }

    @Test
    void everyMetricForAlarmsIsInTheCode() throws IOException {
        Set<String> metrics = Pattern.compile("puri(?:_[a-z]+)+")
                .matcher(Page.of("docs/operations.md").text())
                .results()
                // Prometheus adds this suffix to the names of counters.
                .map(metric -> '"' + metric.group().replaceFirst("_total$", "").replace('_', '.') + '"')
                .collect(Collectors.toSet());
        assertThat(metrics).hasSizeGreaterThan(1);
        for (String module : List.of("registry-streams", "search-indexer", "shared")) {
            try (Stream<Path> files = Files.walk(Page.ROOT.resolve(module))) {
                for (Path file : files.filter(file -> file.toString().matches(".*/src/main/java/.*[.]java"))
                        .toList()) {
                    String code = Files.readString(file);
                    metrics.removeIf(code::contains);
                }
            }
        }
        assertThat(metrics).isEmpty();
    }

    @Test
    void theFirstResponseOfReadmeHasTheFieldsOfAResult() throws IOException {
        String shown = Page.readme().blocks("sh").get(0).replaceAll("(?s)^\\$ curl [^\\n]*\\n", "");
        List<String> fields = new ArrayList<>();
        new ObjectMapper().readTree(shown).fieldNames().forEachRemaining(fields::add);
        assertThat(fields)
                .containsExactly(
                        "ref",
                        "verdict",
                        "puri",
                        "handle",
                        "owner",
                        "shard",
                        "uuid",
                        "status",
                        "epoch",
                        "createdAt",
                        "changedAt");
    }

    @Test
    void everyDocumentedVariableExists() {
        Set<String> known = new TreeSet<>(Set.of(PuriCommand.VARIABLES_READ_BEFORE_SETTINGS));
        PuriCommand.SETTINGS.forEach(each -> settings(each).forEach((name, setting) -> {
            known.add(name);
            if (setting.isSecret()) {
                known.add(name + "_FILE");
            }
        }));
        known.add(Reason.PURI_TAKEN.name());
        known.addAll(OF_TESTS);
        assertThat(Page.all().stream()
                        .flatMap(page -> Pattern.compile("PURI_[A-Z_]+[A-Z]")
                                .matcher(page.text())
                                .results())
                        .map(MatchResult::group))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(known.contains(name) || name.startsWith("PURI_KAFKA"))
                        .as(name)
                        .isTrue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/events.md"})
    void javaScriptMatchesTheTestedExample(String page) {
        List<String> blocks = Page.of(page).blocks("js");
        String program = Page.of("examples/music/node/reviews.mjs").text();
        assertThat(blocks).isNotEmpty().allSatisfy(block -> assertThat(program).contains(block));
    }

    @Test
    void declarationsAreReadable() throws IOException {
        String concepts = Page.of("docs/concepts.md").blocks("yaml").get(0);
        assertThat(Page.of("examples/music/collections.yaml").text()).contains(concepts);
        String modes = Page.of("docs/concepts.md").blocks("yaml").get(1);
        assertThat(CollectionsFile.read("concepts.md", new StringReader(modes)))
                .extracting(Declaration::mode)
                .containsExactly(WriteMode.READ_ONLY, WriteMode.importBy("legacy-import"));
        String search = Page.of("docs/search.md").blocks("yaml").get(0);
        assertThat(CollectionsFile.read("search.md", new StringReader(search))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/concepts.md", "docs/cli.md"})
    void linesOfEventsAreReadable(String page) {
        List<String> lines = Page.of(page).lines("json", "{");
        assertThat(lines)
                .hasSize(6)
                .allSatisfy(line ->
                        assertThat(EventLineParserTest.parse(line)).as(line).isInstanceOf(EventLineParser.Valid.class));
    }

    @Test
    void figuresOfReadmeMatchThePerformancePage() {
        List<List<String>> measured = Page.of("docs/performance.md")
                .text()
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(Page::cells)
                .toList();
        String readme = Page.readme().text();
        List<List<String>> figures = readme.substring(readme.indexOf("## Figures"), readme.indexOf("## Read on"))
                .lines()
                .filter(line -> line.startsWith("| "))
                .skip(1)
                .map(line -> Page.cells(line).stream()
                        .filter(cell -> cell.matches("[0-9.,]+"))
                        .toList())
                .toList();
        assertThat(figures).hasSizeGreaterThan(4).allSatisfy(row -> {
            assertThat(row).isNotEmpty();
            assertThat(measured).anySatisfy(cells -> assertThat(cells).containsAll(row));
        });
    }

    @Test
    void linesForKcatNameTopicsAndTheUsualAddresses() {
        List<String> lines = Page.of("docs/events.md").lines("sh", "kcat ");
        assertThat(lines).isNotEmpty().allSatisfy(line -> {
            List<String> words = List.of(line.split(" +", -1));
            assertThat(words.get(words.indexOf("-b") + 1)).isEqualTo(CliSettings.DEFAULT_BOOTSTRAP_SERVER);
            assertThat(RegistryTopics.names()).contains(words.get(words.indexOf("-t") + 1));
            if (words.contains("-r")) {
                assertThat(words.get(words.indexOf("-r") + 1)).isEqualTo(CliSettings.DEFAULT_SCHEMA_REGISTRY);
            }
        });
    }

    @Test
    void theBuildServerRunsTheCommandsOfReadme() {
        List<String> commands = Page.readme().blocks("sh").stream()
                .flatMap(String::lines)
                .map(line -> line.replaceAll("\\s+#.*", ""))
                .filter(line -> line.startsWith("mvn ") || line.equals("./puri demo"))
                .toList();
        assertThat(commands).containsExactly("./puri demo", "mvn verify");
        assertThat(Page.of(".ci/run").text().lines())
                .contains("./puri demo --exit")
                .filteredOn(line -> line.startsWith("mvn "))
                .singleElement()
                .asString()
                .startsWith("mvn -B -ntp verify 2>&1");
    }
}
