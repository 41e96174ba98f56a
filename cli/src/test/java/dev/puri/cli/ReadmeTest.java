package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.log.Reason;
import dev.puri.search.SearchSettings;
import dev.puri.settings.KnownSetting;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
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
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What README says is what the code does. */
class ReadmeTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");
    private static final Pattern NAMED_COMMAND = Pattern.compile("`(?:\\./)?puri ([^`]+)`");

    /** The launcher hands it to another module. */
    private static final String BENCH = "bench";

    private final String readme = read("README.md");

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static CommandLine commandLine() {
        Console console = new Console(
                InputStream.nullInputStream(),
                new PrintWriter(new StringWriter()),
                new PrintWriter(new StringWriter()),
                Map.of(),
                false,
                false);
        return new CommandLine(new PuriCommand(console));
    }

    private List<String> codeBlocks(String language) {
        List<String> blocks = CODE_BLOCK
                .matcher(readme)
                .results()
                .filter(block -> block.group(1).equals(language))
                .map(block -> block.group(2))
                .toList();
        assertThat(blocks).as("blocks of %s", language).isNotEmpty();
        return blocks;
    }

    /** Rows of the tables whose first cell is code: the cells, without their marks. */
    private List<List<String>> rows() {
        return readme.lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> Arrays.stream(line.substring(1, line.length() - 1).split("\\|", -1))
                        .map(cell -> cell.strip().replace("`", ""))
                        .toList())
                .toList();
    }

    @Test
    void everyCommandOfTheExamplesParses() {
        List<String> commands = codeBlocks("sh").stream()
                .flatMap(String::lines)
                .map(line -> line.replaceAll("\\s+#.*| &.*", ""))
                .filter(line -> line.startsWith("./puri "))
                .toList();
        assertThat(commands).hasSizeGreaterThan(4);
        for (String command : commands) {
            String[] words = command.substring("./puri ".length()).split(" +", -1);
            assertThatCode(() -> commandLine().parseArgs(words)).as(command).doesNotThrowAnyException();
        }
    }

    @Test
    void everyFileOfTheExamplesIsThere() {
        List<String> files = codeBlocks("sh").stream()
                .flatMap(block -> Arrays.stream(block.split("\\s+")))
                .filter(word -> word.startsWith("examples/"))
                .toList();
        assertThat(files).isNotEmpty();
        List<String> links = Pattern.compile("]\\(([^)#]+)\\)")
                .matcher(readme)
                .results()
                .map(link -> link.group(1))
                .filter(link -> !link.contains("://"))
                .toList();
        assertThat(links).isNotEmpty();
        assertThat(files).allSatisfy(file -> assertThat(ROOT.resolve(file)).exists());
        assertThat(links).allSatisfy(link -> assertThat(ROOT.resolve(link)).exists());
    }

    @Test
    void everyCommandAndOptionThatIsNamedExists() {
        List<String> named = NAMED_COMMAND
                .matcher(readme)
                .results()
                .map(command -> command.group(1))
                .toList();
        assertThat(named).hasSizeGreaterThan(10);
        for (String text : named) {
            CommandLine command = commandLine();
            boolean mayBeName = true;
            for (String word : text.replaceAll("[\\[\\]]", "").split(" +", -1)) {
                if (word.equals(BENCH) && mayBeName) {
                    assertThat(read("puri")).contains(BENCH);
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
    void everyCommandThatExistsIsNamed() {
        Set<String> named = NAMED_COMMAND
                .matcher(readme)
                .results()
                .map(command ->
                        command.group(1).replaceAll("^((?:[a-z]+ ?)+).*", "$1").strip())
                .collect(Collectors.toCollection(TreeSet::new));
        commandLine().getSubcommands().forEach((name, command) -> {
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
    void theTableOfSettingsIsThatOfTheCode() {
        Set<String> said = rows().stream()
                .filter(row -> row.get(0).startsWith("PURI_"))
                .map(row -> String.join(" | ", row.subList(0, 3)))
                .collect(Collectors.toCollection(TreeSet::new));
        Map<String, Map<String, KnownSetting>> known = Map.of(
                "commands", settings(CliSettings.class),
                "resolver", settings(ResolverSettings.class),
                "indexer", settings(SearchSettings.class),
                "streams", settings(StreamsSettings.class));
        assertThat(PuriCommand.SETTINGS).hasSize(known.size());
        // A row for each default of a name, and whose it is.
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
    void theTablesOfPathsAreThoseOfTheServers() throws IOException {
        Set<String> said = rows().stream()
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
    void everyReasonOfARefusalIsExplained() {
        String table = readme.substring(readme.indexOf("## What becomes of an event"), readme.indexOf("\n## Settings"));
        Set<String> named = Pattern.compile("`([A-Z_]+)`")
                .matcher(table)
                .results()
                .map(reason -> reason.group(1))
                .collect(Collectors.toSet());
        assertThat(named)
                .isEqualTo(Arrays.stream(Reason.values()).map(Enum::name).collect(Collectors.toSet()));
    }

    @Test
    void theJavaOfTheExampleCompiles(@TempDir Path classes) throws IOException {
        String body = String.join("\n", codeBlocks("java"));
        String source = """
                import dev.puri.client.*;
                import dev.puri.schemas.identity.*;
                import dev.puri.schemas.log.*;
                import java.io.IOException;
                import java.time.Clock;
                import java.time.Duration;
                import java.util.Map;
                import org.slf4j.Logger;

                class Example {
                    void example(Map<String, String> properties, Clock clock, Logger log) throws IOException {
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
    void theAnswerThatOpensItHasTheFieldsOfAResult() throws IOException {
        String shown = codeBlocks("sh").get(0).replaceAll("(?s)^\\$ curl [^\\n]*\\n", "");
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
    void nobodyIsToldOfAVariableThatDoesNotExist() {
        Set<String> known = new TreeSet<>(Set.of(PuriCommand.EARLY_VARIABLES));
        PuriCommand.SETTINGS.forEach(each -> settings(each).forEach((name, setting) -> {
            known.add(name);
            if (setting.isSecret()) {
                known.add(name + "_FILE");
            }
        }));
        known.add(Reason.PURI_TAKEN.name());
        assertThat(Pattern.compile("PURI_[A-Z_]+[A-Z]")
                        .matcher(readme)
                        .results()
                        .map(MatchResult::group))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(known.contains(name) || name.startsWith("PURI_KAFKA"))
                        .as(name)
                        .isTrue());
    }
}
