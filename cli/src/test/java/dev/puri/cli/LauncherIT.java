package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code ./puri} in a temporary source tree, with a fake Maven. The command runs from the class path of this test.
 */
class LauncherIT {
    private static final List<String> MODULES = List.of(
            "schemas",
            "client/core",
            "client/declarations",
            "registry-streams",
            "resolver-api",
            "search-indexer",
            "testing/embedded",
            "shared/settings",
            "shared/http-service",
            "shared/projection",
            "shared/registry-rules",
            "shared/identity-table",
            "cli");

    /** A fake Maven that does only what these tests need. It runs in the root of the tree. */
    private static final String MAKE_THE_JAR = "mkdir -p cli/target/lib && cp ../built.jar cli/target/cli-1.jar";

    @TempDir
    private Path folder;

    private Path root;
    private Path stamp;
    private final Map<String, String> environment = new TreeMap<>();

    private record Run(int status, String out, String err) {}

    @BeforeEach
    void layOutATree() throws IOException {
        root = Files.createDirectories(folder.resolve("a tree"));
        Files.copy(Path.of("..", "puri"), root.resolve("puri"));
        for (String module : MODULES) {
            touch(Files.createDirectories(root.resolve(module).resolve("src/main")), "2026-01-01T00:00:00Z");
            touch(root.resolve(module).resolve("pom.xml"), "2026-01-01T00:00:00Z");
        }
        touch(root.resolve("pom.xml"), "2026-01-01T00:00:00Z");
        Files.createDirectories(root.resolve("testing/embedded/target/apicurio"));
        Files.createDirectories(root.resolve("cli/target/lib"));
        writeJarOfThisClassPath(folder.resolve("built.jar"), "old");
        Files.copy(folder.resolve("built.jar"), root.resolve("cli/target/cli-1.jar"));
        stamp = touch(root.resolve("cli/target/puri-build.stamp"), "2026-01-02T00:00:00Z");
        fakeMaven("echo \"no build was due\"; exit 1");
    }

    @Test
    void runsThroughALinkFromAnyDirectoryWithAnyDefaultJava() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("a tree/puri"));
        environment.put("JAVA_HOME", "/does/not/exist");
        Run run = run(link, "mint", "--prefix", "abc");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).matches("[0-9a-f-]{36}  abc_.{15}\\R");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void reportsTheFoundVersionsIfNoJdkIsNewEnough() throws Exception {
        Path puri = root.resolve("puri");
        Files.writeString(puri, Files.readString(puri).replace("needed_java=25", "needed_java=999"));
        Run run = run(puri, "mint");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .contains("needs a JDK 999 or newer, and found none")
                .contains("found Java " + Runtime.version().feature() + " in " + System.getProperty("java.home"))
                .contains("JAVA_HOME");
    }

    @Test
    void argumentsAndStatusPassThroughUnchanged() throws Exception {
        Run run = run(root.resolve("puri"), "mint", "--prefix", "two words");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("\"two words\"");
    }

    @Test
    void upAndDemoHaveABoundedHeapUnlessTheUserSetsAnother() throws Exception {
        environment.put("PURI_JAVA_OPTS", "-XX:+PrintFlagsFinal");
        for (String command : List.of("up", "demo")) {
            assertThat(run(root.resolve("puri"), command, "--help").out())
                    .containsPattern("MaxHeapSize +:?= " + (512L << 20) + " ")
                    .containsPattern("UseSerialGC +:?= true ");
        }
        environment.put("PURI_JAVA_OPTS", "-XX:+PrintFlagsFinal -Xmx2g -XX:+UseParallelGC");
        Run more = run(root.resolve("puri"), "up", "--help");
        assertThat(more.status()).as(more.err()).isZero();
        assertThat(more.out())
                .containsPattern("MaxHeapSize +:?= " + (2L << 30) + " ")
                .containsPattern("UseParallelGC +:?= true ");
    }

    @Test
    void aNewerSourceOrPomIsBuiltOnce() throws Exception {
        fakeMaven("echo \"$@\" >> '" + folder.resolve("builds") + "'; " + MAKE_THE_JAR);
        touch(root.resolve("client/core/pom.xml"), "2026-01-03T00:00:00Z");
        Run first = run(root.resolve("puri"), "mint");
        assertThat(first.status()).as(first.err()).isZero();
        assertThat(first.err()).contains("puri: building cli").contains("puri: built in");
        assertThat(first.out().lines()).hasSize(1);
        assertThat(Files.readString(folder.resolve("builds"))).contains("-pl cli -am package");
        assertThat(Files.getLastModifiedTime(stamp).toInstant()).isAfter(Instant.parse("2026-01-03T00:00:00Z"));

        assertThat(run(root.resolve("puri"), "mint").err()).isEmpty();
        touch(
                root.resolve("schemas/src/main/New.java"),
                Instant.now().plusSeconds(60).toString());
        assertThat(run(root.resolve("puri"), "mint").err()).contains("puri: building cli");
        assertThat(Files.readAllLines(folder.resolve("builds"))).hasSize(2);
    }

    @Test
    void aSourceThatChangesDuringABuildIsBuiltByTheNextRun() throws Exception {
        fakeMaven("touch cli/src/main/New.java; " + MAKE_THE_JAR);
        Files.delete(stamp);
        for (int i = 0; i < 2; i++) {
            assertThat(run(root.resolve("puri"), "mint").err()).contains("puri: built in");
        }
    }

    @Test
    void jarsOfSourcesAndDocumentationAreNotOnTheClassPath() throws Exception {
        touch(root.resolve("cli/target/cli-1-sources.jar"), "2026-01-01T00:00:00Z");
        touch(root.resolve("cli/target/cli-1-javadoc.jar"), "2026-01-01T00:00:00Z");
        environment.put("PURI_JAVA_OPTS", "-XshowSettings:properties");
        assertThat(run(root.resolve("puri"), "mint").err())
                .contains("cli-1.jar")
                .doesNotContain("cli-1-");
    }

    @Test
    void runningCommandsKeepTheirJarsAndOldVersionsAreRemoved() throws Exception {
        fakeMaven(MAKE_THE_JAR);
        Path other = touch(root.resolve("cli/target/lib/other-1.0.jar"), "2026-01-01T00:00:00Z");
        Path client = touch(root.resolve("cli/target/lib/client-1.jar"), "2026-01-01T00:00:00Z");
        Path own = root.resolve("cli/target/cli-1.jar");
        // A second link keeps the content of the old jar, as a JVM that has the jar open does.
        Path open = Files.createLink(folder.resolve("open.jar"), own);
        byte[] before = Files.readAllBytes(own);
        writeJarOfThisClassPath(folder.resolve("built.jar"), "new");
        touch(root.resolve("cli/src/main/New.java"), "2026-01-03T00:00:00Z");
        assertThat(run(root.resolve("puri"), "mint").status()).isZero();
        assertThat(open).hasBinaryContent(before);
        assertThat(own).hasSameBinaryContentAs(folder.resolve("built.jar"));
        assertThat(Files.readAllBytes(own)).isNotEqualTo(before);
        assertThat(other).exists();
        assertThat(client)
                .as("a module's jar has the name of its artifact, not of its folder")
                .doesNotExist();

        touch(root.resolve("client/core/pom.xml"), Instant.now().plusSeconds(60).toString());
        assertThat(run(root.resolve("puri"), "mint").status()).isZero();
        assertThat(other).doesNotExist();
    }

    @Test
    void aFailedBuildShowsItsLogAndIsTriedAgain() throws Exception {
        fakeMaven("echo 'Broken.java:[3,4] cannot find symbol'; exit 1");
        Files.delete(stamp);
        for (int i = 0; i < 2; i++) {
            Run run = run(root.resolve("puri"), "mint");
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.out()).isEmpty();
            assertThat(run.err())
                    .contains("Broken.java:[3,4] cannot find symbol")
                    .contains("the build failed");
        }
        assertThat(root.resolve("target/puri-build.lock")).doesNotExist();
    }

    @Test
    void takesOverALockWhoseHolderHasEnded() throws Exception {
        fakeMaven(MAKE_THE_JAR);
        Files.delete(stamp);
        Path lock = Files.createDirectories(root.resolve("target/puri-build.lock"));
        Process gone = new ProcessBuilder("true").start();
        gone.waitFor();
        Files.writeString(lock.resolve("pid"), Long.toString(gone.pid()));
        Run run = run(root.resolve("puri"), "mint");
        assertThat(run.status()).as(run.err()).isZero();
    }

    /** A jar that contains only a manifest, which refers to the class path of this test. */
    private static void writeJarOfThisClassPath(Path jar, String version) throws IOException {
        String urls = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" "));
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, urls);
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    }

    private void fakeMaven(String script) throws IOException {
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path maven = Files.writeString(bin.resolve("mvn"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static Path touch(Path file, String time) throws IOException {
        if (!Files.exists(file)) {
            Files.createFile(file);
        }
        return Files.setLastModifiedTime(file, FileTime.from(Instant.parse(time)));
    }

    private Run run(Path puri, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(puri.toString()));
        command.addAll(List.of(args));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_") || name.startsWith("JAVA_"));
        // The launcher must find the JDK of the tests wherever it is installed.
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        builder.environment().merge("PATH", folder.resolve("bin") + ":", (path, bin) -> bin + path);
        Process process = builder.start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("still running: " + command);
        }
        return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
    }
}
