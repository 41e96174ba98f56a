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
 * Generates Java constants for the collections in a file of declarations: a class for each namespace, and a constant
 * for each collection. The command <code>puri collections apply -f</code> reads the same file. The project needs
 * <code>dev.puri:client</code>.
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
@SuppressWarnings("NullAway.Init")
public final class GenerateMojo extends AbstractMojo {
    private static final Pattern PACKAGE_NAME = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*");

    /** The YAML file with the declarations. */
    @Parameter(
            property = "puri.file",
            defaultValue = "${project.basedir}/src/main/puri/collections.yaml",
            required = true)
    private File file;

    /** The package of the generated classes. */
    @Parameter(property = "puri.package", required = true)
    private String packageName;

    /** The folder for the generated sources. Other Java files in the package's subfolder are deleted. */
    @Parameter(defaultValue = "${project.build.directory}/generated-sources/puri", required = true)
    private File outputDirectory;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    /** Called by Maven. */
    public GenerateMojo() {}

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (!PACKAGE_NAME.matcher(packageName).matches()) {
            throw new MojoFailureException("packageName is not a valid package name: " + packageName);
        }
        try {
            Map<String, String> classes = ConstantsGenerator.generate(packageName, file.getName(), read(file.toPath()));
            write(outputDirectory.toPath().resolve(packageName.replace('.', '/')), classes);
            project.addCompileSourceRoot(outputDirectory.getPath());
            getLog().info("Generated " + classes.size() + " classes from " + file.getName() + " in package "
                    + packageName);
        } catch (IllegalArgumentException e) {
            throw new MojoFailureException(e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new MojoFailureException(
                    "there is no file " + e.getMessage() + "; set <file> to the file of declarations", e);
        } catch (IOException | UncheckedIOException e) {
            throw new MojoExecutionException("cannot generate from " + file + ": " + e.getMessage(), e);
        }
    }

    private static List<Declaration> read(Path file) throws IOException {
        try (Reader text = Files.newBufferedReader(file)) {
            return CollectionsFile.read(file.toString(), text);
        }
    }

    /**
     * Writes the classes, and deletes other Java files in the folder. A file whose text is unchanged is not written, so
     * it is not recompiled.
     */
    static void write(Path folder, Map<String, String> classes) throws IOException {
        Files.createDirectories(folder);
        Set<Path> written = new HashSet<>();
        for (Map.Entry<String, String> entry : classes.entrySet()) {
            Path file = folder.resolve(entry.getKey() + ".java");
            written.add(file);
            if (!Files.exists(file) || !Files.readString(file).equals(entry.getValue())) {
                Files.writeString(file, entry.getValue());
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
