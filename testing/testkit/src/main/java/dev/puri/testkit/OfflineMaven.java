package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.xml.sax.SAXException;

/**
 * Runs Maven offline on a project that uses the artifacts of this build. Maven uses a separate local repository. It
 * contains links to all artifacts that this build has downloaded, and the artifacts that the test installs. Environment
 * variables that add arguments or options are not passed on.
 */
public final class OfflineMaven implements AutoCloseable {
    private static final Path GROUP = Path.of("dev", "puri");

    private final Path folder;
    private final Path repository;

    /**
     * The result of a run of Maven.
     *
     * @param status the exit status
     * @param output everything that Maven printed
     */
    public record Run(int status, String output) {}

    private OfflineMaven(Path folder) {
        this.folder = folder;
        this.repository = folder.resolve("repository");
    }

    /**
     * Creates the local repository.
     *
     * @param folder the folder for the local repository and the log
     */
    public static OfflineMaven in(Path folder) throws IOException {
        OfflineMaven maven = new OfflineMaven(folder);
        link(Path.of(property("puri.maven.repository")), maven.repository, GROUP);
        return maven;
    }

    /** Returns the version of this build's artifacts. */
    public static String version() {
        return property("puri.version");
    }

    /**
     * Returns the {@code java} command that runs Maven. If the tests run on a toolchain, Maven may run on an older
     * Java.
     */
    public static Path java() {
        return Path.of(property("puri.maven.java.home"), "bin", "java");
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException(
                    name + " is not set; the root pom sets it if Maven runs the integration tests");
        }
        return value;
    }

    /** Links all files and folders of a repository except one folder, which is for the artifacts of this build. */
    private static void link(Path from, Path to, Path excludedFolder) throws IOException {
        Files.createDirectories(to);
        Path name = excludedFolder.getName(0);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                if (!file.getFileName().equals(name)) {
                    Files.createSymbolicLink(to.resolve(file.getFileName()), file.toRealPath());
                }
            }
        }
        if (excludedFolder.getNameCount() > 1 && Files.isDirectory(from.resolve(name))) {
            link(from.resolve(name), to.resolve(name), excludedFolder.subpath(1, excludedFolder.getNameCount()));
        }
    }

    /**
     * Installs modules of this build with Maven's install plugin, as {@code mvn install} does: pom, jar, and sources
     * and Javadoc if this build has made them. One run of Maven installs all of them.
     *
     * @param modules the folders of the modules
     */
    public void install(List<Path> modules) throws IOException, InterruptedException {
        Path project = Files.createDirectories(folder.resolve("install"));
        StringBuilder executions = new StringBuilder();
        for (Path module : modules) {
            executions.append(execution(module.toRealPath()));
        }
        Files.writeString(project.resolve("pom.xml"), """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>com.example</groupId>
                  <artifactId>install</artifactId>
                  <version>1</version>
                  <packaging>pom</packaging>
                  <build>
                    <plugins>
                      <plugin>
                        <groupId>org.apache.maven.plugins</groupId>
                        <artifactId>maven-install-plugin</artifactId>
                        <version>%s</version>
                        <executions>%s</executions>
                      </plugin>
                    </plugins>
                  </build>
                </project>
                """.formatted(property("puri.maven.install.plugin"), executions));
        Run run = run(project, "validate");
        assertThat(run.status()).as(run.output()).isZero();
    }

    private static String execution(Path module) throws IOException {
        Path pom = module.resolve("pom.xml");
        String artifact = artifact(module);
        Path target = module.resolve("target");
        boolean isPom = element(pom, "packaging").equals("pom");
        Path file = isPom ? pom : target.resolve(jar(artifact, ""));
        assertThat(file).as("mvn -am verify builds the jars").exists();
        StringBuilder attached = new StringBuilder();
        for (String classifier : List.of("sources", "javadoc")) {
            Path path = target.resolve(jar(artifact, "-" + classifier));
            if (Files.exists(path)) {
                attached.append("<%1$s>%2$s</%1$s>".formatted(classifier, path));
            }
        }
        return """
                <execution>
                  <id>%s</id>
                  <phase>validate</phase>
                  <goals>
                    <goal>install-file</goal>
                  </goals>
                  <configuration>
                    <file>%s</file>
                    <pomFile>%s</pomFile>
                    %s
                  </configuration>
                </execution>
                """.formatted(artifact, file, pom, attached);
    }

    /** Returns the artifact id of a module of this build. */
    public static String artifact(Path module) throws IOException {
        return element(module.resolve("pom.xml"), "artifactId");
    }

    /** Returns the text of an element of the project, or an empty string if the pom does not have it. */
    private static String element(Path pom, String name) throws IOException {
        try {
            Document document =
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
            return XPathFactory.newInstance().newXPath().evaluate("/project/" + name, document);
        } catch (ParserConfigurationException | SAXException | XPathExpressionException e) {
            throw new IOException(pom + " cannot be read", e);
        }
    }

    private static String jar(String artifact, String suffix) {
        return artifact + "-" + version() + suffix + ".jar";
    }

    /**
     * Returns the path of an installed jar. The file does not exist if the artifact was installed without it.
     *
     * @param suffix {@code -sources}, {@code -javadoc}, or empty for the jar of the classes
     */
    public Path installed(String artifact, String suffix) {
        return repository.resolve(GROUP).resolve(artifact).resolve(version()).resolve(jar(artifact, suffix));
    }

    /** Copies the files of a project to a folder that does not exist yet. */
    public static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    /** Runs Maven in a project's folder and waits until it ends, at most 20 minutes. */
    public Run run(Path project, String... arguments) throws IOException, InterruptedException {
        Path log = folder.resolve("maven.log");
        List<String> command = Stream.concat(
                        Stream.of(
                                property("puri.maven.home") + "/bin/mvn",
                                "-o",
                                "-B",
                                "-ntp",
                                "-Dstyle.color=never",
                                "-Dmaven.repo.local=" + repository,
                                "-Dpuri.version=" + version()),
                        Stream.of(arguments))
                .toList();
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        isolate(builder.environment());
        builder.environment().put("JAVA_HOME", property("puri.maven.java.home"));
        // Maven runs for seconds, in which the C2 compiler would take more time than it saves.
        builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(20, TimeUnit.MINUTES)).isTrue();
            return new Run(process.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Removes the environment variables that give further options to Maven's launcher and to the JVM. It also keeps the
     * launcher from reading {@code ~/.mavenrc}.
     */
    static void isolate(Map<String, String> environment) {
        environment
                .keySet()
                .removeIf(name -> name.startsWith("MAVEN_")
                        || name.equals("JAVA_TOOL_OPTIONS")
                        || name.equals("JDK_JAVA_OPTIONS")
                        || name.equals("_JAVA_OPTIONS"));
        environment.put("MAVEN_SKIP_RC", "true");
    }

    /** Removes the links, because JUnit warns about each link in a temporary folder that it deletes. */
    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(repository)) {
            for (Path link : files.filter(Files::isSymbolicLink).toList()) {
                Files.delete(link);
            }
        }
    }
}
