package dev.puri.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.testkit.OfflineMaven;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other builds that use the artifacts of this one. */
class ExternalBuildIT {
    private static final Path ROOT = Path.of("..", "..");
    private static final int JAVA_17_CLASS_FILES = 61;

    /** An address at which nobody listens; opening a client needs no server. */
    private static final String NO_RESOLVER = "http://127.0.0.1:1";

    @TempDir
    private Path folder;

    private OfflineMaven maven;

    @BeforeEach
    void install() throws IOException {
        maven = OfflineMaven.in(folder);
        maven.installPom("puri", ROOT);
        maven.installPom("client-bom", ROOT.resolve("client/bom"));
        maven.install("schemas", ROOT.resolve("schemas"));
        maven.install("client", ROOT.resolve("client/core"));
        maven.install("client-storage", ROOT.resolve("client/storage"));
    }

    @AfterEach
    void close() throws IOException {
        maven.close();
    }

    private static String first(Pattern pattern, Path file) throws IOException {
        Matcher found = pattern.matcher(Files.readString(file));
        assertThat(found.find()).as("%s in %s", pattern, file).isTrue();
        return found.group(1);
    }

    /** The coordinates as docs/java-client.md shows them, in {@code src/it/service}. */
    private Path build() throws IOException, InterruptedException {
        Path project = folder.resolve("service");
        OfflineMaven.copy(Path.of("src/it/service"), project);
        String coordinates = first(
                Pattern.compile("```xml\n(<dependencyManagement>.*?client-bom.*?)```", Pattern.DOTALL),
                ROOT.resolve("docs/java-client.md"));
        Path pom = project.resolve("pom.xml");
        Files.writeString(
                pom, Files.readString(pom).replace("<!-- coordinates of docs/java-client.md -->", coordinates));
        OfflineMaven.Run run = maven.run(project, "compile");
        assertThat(run.status()).as(run.output()).isZero();
        return project.resolve("target");
    }

    private static List<Path> jars(Path target) throws IOException {
        try (Stream<Path> jars = Files.list(target.resolve("lib"))) {
            return jars.sorted().toList();
        }
    }

    @Test
    void documentedCoordinatesSufficeToBuildAndRunAService() throws Exception {
        Path target = build();
        String classPath = Stream.concat(Stream.of(target.resolve("classes")), jars(target).stream())
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        Path out = folder.resolve("out");
        Process process = new ProcessBuilder(
                        OfflineMaven.java().toString(), "-cp", classPath, "com.example.Main", NO_RESOLVER)
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        try {
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String printed = Files.readString(out, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(printed).isZero();
        assertThat(printed)
                .containsPattern("minted music:tracks:[0-9a-z]+ trk_[0-9a-z]{15}\\R")
                .contains("stored 42 for music:users:42")
                .contains("asked 0");
    }

    @Test
    void aServiceGetsTheJarsThatTheClientsRationaleListsAndNoOthers() throws Exception {
        List<Path> jars = jars(build());
        String listed = first(
                Pattern.compile("whole class path: (.*?)\\.\\R\\R", Pattern.DOTALL),
                ROOT.resolve("client/core/RATIONALE.md"));
        TreeSet<String> expected = Pattern.compile("`([^`]+)`")
                .matcher(listed)
                .results()
                .map(name -> name.group(1) + ".jar")
                .collect(Collectors.toCollection(TreeSet::new));
        Collections.addAll(expected, "client.jar", "client-storage.jar");
        assertThat(jars).extracting(jar -> jar.getFileName().toString()).containsExactlyElementsOf(expected);
        for (String ours : List.of("schemas.jar", "client.jar", "client-storage.jar")) {
            assertRunsOnJava17(
                    jars.stream().filter(jar -> jar.endsWith(ours)).findFirst().orElseThrow());
        }
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
        assertThat(entries("client/core", "client", "sources")).contains("dev/puri/client/Identities.java");
        assertThat(entries("client/core", "client", "javadoc")).contains("dev/puri/client/Identities.html");
        assertThat(entries("client/storage", "client-storage", "sources"))
                .contains("dev/puri/client/storage/PuriColumns.java");
        assertThat(entries("client/storage", "client-storage", "javadoc"))
                .contains("dev/puri/client/storage/PuriColumns.html");
        assertThat(entries("schemas", "schemas", "sources"))
                .contains("dev/puri/schemas/identity/Puri.java", "dev/puri/schemas/avro/IdentityEvent.java");
        assertThat(entries("schemas", "schemas", "javadoc"))
                .contains("dev/puri/schemas/identity/Puri.html", "dev/puri/schemas/avro/IdentityEvent.html");
    }

    private static List<String> entries(String module, String artifact, String classifier) throws IOException {
        Path jar =
                ROOT.resolve(module + "/target/" + artifact + "-" + OfflineMaven.version() + "-" + classifier + ".jar");
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(JarEntry::getName).toList();
        }
    }
}
