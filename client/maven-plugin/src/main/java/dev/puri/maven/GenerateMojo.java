package dev.puri.maven;

import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Declaration;
import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/**
 * Generates constants of the collections in a file of declarations, which <code>puri collections apply -f</code> takes too: a class for
 * each namespace, a constant for each collection. The project needs <code>dev.puri:client</code>.
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
@SuppressWarnings("NullAway.Init")
public final class GenerateMojo extends AbstractMojo {
    private static final Pattern PACKAGE = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*");

    /** The YAML file of declarations. */
    @Parameter(
            property = "puri.file",
            defaultValue = "${project.basedir}/src/main/puri/collections.yaml",
            required = true)
    private File file;

    /** The package of the classes. */
    @Parameter(property = "puri.package", required = true)
    private String packageName;

    /** The folder of generated sources. Other Java files in the package's folder there are deleted. */
    @Parameter(defaultValue = "${project.build.directory}/generated-sources/puri", required = true)
    private File outputDirectory;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    /** For Maven. */
    public GenerateMojo() {}

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (!PACKAGE.matcher(packageName).matches()) {
            throw new MojoFailureException("packageName is no name of a package: " + packageName);
        }
        try {
            Map<String, String> classes = ConstantsGenerator.generate(packageName, file.getName(), read(file.toPath()));
            write(outputDirectory.toPath().resolve(packageName.replace('.', '/')), classes);
            project.addCompileSourceRoot(outputDirectory.getPath());
            getLog().info(classes.size() + " classes of " + file.getName() + " in " + packageName);
        } catch (IllegalArgumentException e) {
            throw new MojoFailureException(e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new MojoFailureException("there is no file " + e.getMessage() + "; <file> names it", e);
        } catch (IOException | UncheckedIOException e) {
            throw new MojoExecutionException("cannot generate from " + file + ": " + e.getMessage(), e);
        }
    }

    private static List<Declaration> read(Path file) throws IOException {
        try (Reader text = Files.newBufferedReader(file)) {
            return CollectionsFile.read(file.toString(), text);
        }
    }

    /** Writes the classes. A file whose text is unchanged keeps its time, so that it is not compiled again. */
    static void write(Path folder, Map<String, String> classes) throws IOException {
        Files.createDirectories(folder);
        Set<Path> written = new HashSet<>();
        for (Map.Entry<String, String> each : classes.entrySet()) {
            Path file = folder.resolve(each.getKey() + ".java");
            written.add(file);
            if (!Files.exists(file) || !Files.readString(file).equals(each.getValue())) {
                Files.writeString(file, each.getValue());
            }
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (!written.contains(file) && file.toString().endsWith(".java")) {
                    Files.delete(file);
                }
            }
        }
    }
}
