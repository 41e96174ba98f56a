package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.http.ProblemType;
import dev.puri.projection.DigestCheck;
import dev.puri.projection.wait.WaitParameters;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.testkit.Contract;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.http.HttpRequest;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The set of routes: their description, their problems, and what they answer before data is read. */
final class RoutesTest extends ServedRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void routesAreNotReadyBeforeTheirDataIsRead() {
        assertThat(get("/v1/changes", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/export", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/collections", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/rejections", 200)).isEqualTo("{\"rejections\":[],\"complete\":false}\n");
        assertThat(get("/v1/stats", 200)).contains("\"rows\":6").contains("\"records\":12");
    }

    @Test
    void answersTheDigestsOfTheTable() {
        Table complete = table;
        table = null;
        assertThat(get("/v1/digest", 503)).contains("/problems/not-ready");
        table = complete;
        DigestCheck check = new DigestCheck("puri.identities.v1", "rebuild it", Map.of(), InstantSource.system());
        PartitionDigest own = new PartitionDigest(10, 0xc5L);
        check.compare(0, 120, own, own);
        check.compare(1, 7, PartitionDigest.EMPTY, own);

        digests = Map.of(
                "topics",
                List.of(DigestCheck.topicJson(
                        "puri.identities.v1", List.of(check.toJson(0, 123, own), check.toJson(1, 8, own)))));

        assertThat(get("/v1/digest", 200))
                .startsWith("{\"topics\":[{\"topic\":\"puri.identities.v1\",\"partitions\":[{\"partition\":0,"
                        + "\"nextOffset\":123,\"rows\":10,\"digest\":\"10:00000000000000c5\",\"state\":\"equal\","
                        + "\"comparedOffset\":120,\"comparedAt\":\"")
                .contains("\"state\":\"differs\"", "\"detail\":\"partition 1 of puri.identities.v1 differs");
    }

    @Test
    void aRebuildIsAcceptedOrRefused() {
        assertThat(answered(send("POST", "/v1/table/rebuild", null), 202)).contains("\"state\":\"running\"");
        assertThat(get("/v1/table/rebuild", 200)).contains("\"reached\":4,\"end\":9");

        rebuildRefusal = "a rebuild is under way";

        assertThat(answered(send("POST", "/v1/table/rebuild", null), 409))
                .contains("/problems/cannot-rebuild", "a rebuild is under way.");
    }

    @Test
    void theContractDescribesTheLagInEveryAnswer() {
        assertThat(contract.answersWithout("Puri-Table-Lag")).isEmpty();
        assertThat(contract.answersWithout("Puri-Index-Lag")).isEmpty();
        assertThat(new Contract(client, "/openapi-public.json").answersWithout("Puri-Table-Lag"))
                .isEmpty();
    }

    @Test
    void everyProblemHasAPageAndNoOther() throws Exception {
        Set<ProblemType> made = new HashSet<>(problems(ProblemType.class));
        made.addAll(problems(Resolver.class));
        made.addAll(problems(WaitParameters.class));
        Set<ProblemType> listed = new HashSet<>(ProblemType.ofListeners());
        listed.addAll(Problems.ALL);

        assertThat(listed).isEqualTo(made);
        for (ProblemType problem : made) {
            assertThat(get("/problems/" + problem.name(), 200)).contains("<h1>" + problem.title(), problem.uri());
        }
        assertThat(get("/problems/none", 404)).contains("no-such-path", "not-ready, ");
    }

    /** All constants of a module's classes. */
    private static Set<ProblemType> problems(Class<?> ofModule) throws Exception {
        Path classes = Path.of(
                ofModule.getProtectionDomain().getCodeSource().getLocation().toURI());
        Set<ProblemType> found = new HashSet<>();
        try (FileSystem jar = Files.isDirectory(classes) ? null : FileSystems.newFileSystem(classes)) {
            Path root = jar == null ? classes : jar.getPath("/");
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".class")).toList()) {
                    String name =
                            root.relativize(file).toString().replace('/', '.').replaceFirst("\\.class$", "");
                    if (name.startsWith("dev.puri.")) {
                        for (Field field : Class.forName(name).getDeclaredFields()) {
                            if (field.getType() == ProblemType.class && Modifier.isStatic(field.getModifiers())) {
                                field.setAccessible(true);
                                found.add((ProblemType) field.get(null));
                            }
                        }
                    }
                }
            }
        }
        assertThat(found).isNotEmpty();
        return found;
    }

    @Test
    void theDescriptionNamesEveryRouteAndNoOther() throws IOException {
        Set<String> described = new TreeSet<>();
        JsonNode paths = JSON.readTree(get("/openapi.json", 200)).at("/paths");
        for (Iterator<String> names = paths.fieldNames(); names.hasNext(); ) {
            String path = names.next();
            paths.get(path)
                    .fieldNames()
                    .forEachRemaining(method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path));
        }

        assertThat(described)
                .isEqualTo(routes.stream()
                        .map(route -> route.method() + " " + route.path())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void everyReferenceInTheDescriptionLeadsSomewhere() throws IOException {
        JsonNode description = JSON.readTree(get("/openapi.json", 200));

        List<String> references = description.findValuesAsText("$ref");
        assertThat(references).isNotEmpty();
        assertThat(references)
                .allSatisfy(reference -> assertThat(
                                description.at(reference.substring(1)).isMissingNode())
                        .isFalse());
    }

    @Test
    void theContractCheckFindsViolations() {
        HttpRequest found =
                HttpRequest.newBuilder(uri("/v1/identities/" + HANDLE)).build();
        HttpRequest batch = HttpRequest.newBuilder(uri("/v1/resolve"))
                .POST(HttpRequest.BodyPublishers.ofString("{\"refs\":[\"a:b:c\"]}"))
                .build();

        assertThatThrownBy(() -> without("/components/schemas/Result/properties", "epoch")
                        .send(found))
                .hasMessageContaining("epoch");
        assertThatThrownBy(() -> without("/paths/~1v1~1identities~1{ref}/get/responses", "200")
                        .send(found))
                .hasMessageContaining("is described");
        assertThatThrownBy(() ->
                        without("/components/schemas/Batch/properties", "refs").send(batch))
                .hasMessageContaining("though");
        assertThat(new Contract(client, "/openapi.json").sendAsync(batch)).succeedsWithin(Duration.ofSeconds(20));
    }

    private Contract without(String pointer, String member) {
        JsonNode less = Contract.read("/openapi.json");
        assertThat(((ObjectNode) less.at(pointer)).remove(member)).isNotNull();
        return new Contract(client, less);
    }
}
