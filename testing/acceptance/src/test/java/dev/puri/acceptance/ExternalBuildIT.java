package dev.puri.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.testkit.OfflineMaven;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Other builds that use the artifacts of this one. The project in {@code src/it/external} has three services. Its tests
 * start the registry with the annotation of {@code client-testing}, publish, and resolve.
 */
@Execution(ExecutionMode.CONCURRENT)
class ExternalBuildIT {
    private static final Path ROOT = Path.of("..", "..");
    private static final int JAVA_17_CLASS_FILES = 61;

    /** A version of the root pom, which this build has downloaded. */
    private static final Pattern VERSION = Pattern.compile("@([a-z0-9.-]+[.]version)@");

    @TempDir
    private static Path folder;

    private static OfflineMaven maven;

    /** The modules of the BOM by artifact. */
    private static final Map<String, Path> MODULES = new TreeMap<>();

    private static Path project;
    private static OfflineMaven.Run build;

    @BeforeAll
    static void installAndBuild() throws Exception {
        Set<String> managed = all("<artifactId>([^<]+)</artifactId>", ROOT.resolve("client/bom/pom.xml"));
        for (String module : all("<module>([^<]+)</module>", ROOT.resolve("pom.xml"))) {
            String artifact = OfflineMaven.artifact(ROOT.resolve(module));
            if (managed.contains(artifact)) {
                MODULES.put(artifact, ROOT.resolve(module));
            }
        }
        assertThat(MODULES.keySet()).isEqualTo(managed);
        maven = OfflineMaven.in(folder);
        maven.install(Stream.concat(Stream.of(ROOT), MODULES.values().stream()).toList());

        project = folder.resolve("external");
        OfflineMaven.copy(Path.of("src/it/external"), project);
        Files.createDirectories(project.resolve("collections"));
        Files.copy(ROOT.resolve("examples/music/collections.yaml"), project.resolve("collections/collections.yaml"));
        complete(project);
        build = maven.run(project, "verify");
    }

    @AfterAll
    static void close() throws IOException {
        maven.close();
    }

    private static Set<String> all(String pattern, Path file) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(file))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String first(String pattern, Path file) throws IOException {
        Matcher found = Pattern.compile(pattern, Pattern.DOTALL).matcher(Files.readString(file));
        assertThat(found.find()).as("%s in %s", pattern, file).isTrue();
        return found.group(1);
    }

    /** Inserts README's coordinates and Java, and the versions of the root pom. */
    private static void complete(Path external) throws IOException {
        Path readme = ROOT.resolve("README.md");
        String coordinates = first("```xml\n(<dependencyManagement>.*?client-bom.*?)```", readme);
        String example = first("```java\n(.*?)```", readme);
        String rootPom = Files.readString(ROOT.resolve("pom.xml"));
        try (Stream<Path> files = Files.walk(external)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(file)
                        .replace("<!-- coordinates of README -->", coordinates)
                        .replace("// example of README", example);
                Files.writeString(file, VERSION.matcher(text).replaceAll(name -> version(name.group(1), rootPom)));
            }
        }
    }

    private static String version(String name, String rootPom) {
        Matcher found = Pattern.compile("<" + Pattern.quote(name) + ">([^<]+)<").matcher(rootPom);
        assertThat(found.find()).as("%s in the root pom", name).isTrue();
        return Matcher.quoteReplacement(found.group(1));
    }

    private static List<Path> jars() throws IOException {
        try (Stream<Path> jars = Files.list(project.resolve("service/target/lib"))) {
            return jars.sorted().toList();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "service, MainTest",
        "spring-service, CatalogApplicationTest",
        "embedded-service, EmbeddedServiceTest",
    })
    void aServiceWithTheCoordinatesOfReadmeIsBuiltAndItsTestsPass(String service, String test) throws IOException {
        assertThat(build.status()).as(build.output()).isZero();
        Path report = project.resolve(service + "/target/surefire-reports/com.example." + test + ".txt");
        assertThat(report).content().contains("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0");
    }

    @Test
    void aServiceGetsTheJarsThatTheClientsRationaleListsAndNoOthers() throws Exception {
        List<Path> jars = jars();
        String listed = first("whole class path: (.*?)\\.\\R\\R", ROOT.resolve("client/core/RATIONALE.md"));
        TreeSet<String> expected = Pattern.compile("`([^`]+)`")
                .matcher(listed)
                .results()
                .map(name -> name.group(1) + ".jar")
                .collect(Collectors.toCollection(TreeSet::new));
        Collections.addAll(expected, "client.jar", "client-storage.jar");
        assertThat(jars).extracting(jar -> jar.getFileName().toString()).containsExactlyElementsOf(expected);
    }

    @Test
    void allModulesExceptTheEmbeddedResolverRunOnJava17() throws Exception {
        Set<String> needJava25 = Set.of("client-embedded-resolver", "identity-table", "projection");
        for (String artifact : MODULES.keySet()) {
            if (hasJava(artifact) && !needJava25.contains(artifact)) {
                assertRunsOnJava17(maven.installed(artifact, ""));
            }
        }
    }

    private static boolean hasJava(String artifact) {
        return Files.isDirectory(Objects.requireNonNull(MODULES.get(artifact)).resolve("src/main/java"));
    }

    private static void assertRunsOnJava17(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            List<JarEntry> classes = jar.stream()
                    .filter(entry -> entry.getName().endsWith(".class"))
                    .toList();
            assertThat(classes).isNotEmpty();
            for (JarEntry each : classes) {
                try (InputStream bytes = jar.getInputStream(each);
                        DataInputStream data = new DataInputStream(bytes)) {
                    data.readInt();
                    data.readUnsignedShort();
                    assertThat(data.readUnsignedShort())
                            .as("%s in %s", each, file)
                            .isLessThanOrEqualTo(JAVA_17_CLASS_FILES);
                }
            }
        }
    }

    /** Maven built the jars of this build in other folders, at another time. */
    @Test
    void aSecondBuildElsewhereGivesTheSameBytes() throws Exception {
        Path module = ROOT.resolve("client/declarations");
        Path copy = Files.createDirectories(folder.resolve("elsewhere"));
        Files.copy(module.resolve("pom.xml"), copy.resolve("pom.xml"));
        OfflineMaven.copy(module.resolve("src"), copy.resolve("src"));
        OfflineMaven.Run run = maven.run(
                copy, "-Dmaven.test.skip=true", "-Dspotless.check.skip=true", "-Dpuri.checks.skip=true", "verify");
        assertThat(run.status()).as(run.output()).isZero();
        for (String kind : List.of("", "-sources", "-javadoc")) {
            String jar = "client-declarations-" + OfflineMaven.version() + kind + ".jar";
            assertThat(copy.resolve("target").resolve(jar))
                    .hasSameBinaryContentAs(module.resolve("target").resolve(jar));
        }
    }

    @Test
    void sourcesAndJavadocComeWithTheJars() throws Exception {
        for (String artifact : MODULES.keySet()) {
            if (hasJava(artifact)) {
                assertThat(entries(artifact, "-sources")).as(artifact).anyMatch(name -> name.endsWith(".java"));
                assertThat(entries(artifact, "-javadoc")).as(artifact).contains("index.html");
            }
        }
        assertThat(entries("client", "-sources")).contains("dev/puri/client/Identities.java");
        assertThat(entries("client", "-javadoc")).contains("dev/puri/client/Identities.html");
        assertThat(entries("schemas", "-sources"))
                .contains("dev/puri/schemas/identity/Puri.java", "dev/puri/schemas/avro/IdentityEvent.java");
        assertThat(entries("schemas", "-javadoc"))
                .contains("dev/puri/schemas/identity/Puri.html", "dev/puri/schemas/avro/IdentityEvent.html");
    }

    private static List<String> entries(String artifact, String suffix) throws IOException {
        try (JarFile file = new JarFile(maven.installed(artifact, suffix).toFile())) {
            return file.stream().map(JarEntry::getName).toList();
        }
    }
}
