package dev.puri.search.index;

import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The packages that this machine can install. Their identifiers are numbers, so only their attributes match a query.
 */
final class PackageList {
    private static final Path SCRIPT = Path.of("examples/debian-packages/index");

    private PackageList() {}

    /**
     * One package.
     *
     * @param dependents number of packages that depend on it
     */
    record Package(
            int number,
            String name,
            String version,
            String section,
            String maintainer,
            String summary,
            int dependents) {
        Item item() {
            return Item.of(
                    puri(),
                    "title",
                    name,
                    "version",
                    version,
                    "summary",
                    summary,
                    "section",
                    section,
                    "maintainer",
                    maintainer);
        }

        String puri() {
            return Puri.of("debian", "packages", "no-" + number).toString();
        }
    }

    /** Returns all packages by name; empty if the machine has no package lists. */
    static List<Package> read() throws IOException, InterruptedException {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.exists(folder.resolve(SCRIPT))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new IOException("no folder above has " + SCRIPT);
        }
        Process script = new ProcessBuilder(folder.resolve(SCRIPT).toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (script.waitFor() != 0) {
            return List.of();
        }
        List<Package> packages = new ArrayList<>();
        for (String line : output.lines().toList()) {
            String[] parts = line.split("\t", -1);
            packages.add(new Package(
                    packages.size(), parts[0], parts[1], parts[2], parts[3], parts[4], Integer.parseInt(parts[5])));
        }
        return packages;
    }

    /** Returns the packages with new numbers in their order. */
    static List<Package> numbered(Collection<Package> packages) {
        List<Package> numbered = new ArrayList<>();
        for (Package each : packages) {
            numbered.add(new Package(
                    numbered.size(),
                    each.name,
                    each.version,
                    each.section,
                    each.maintainer,
                    each.summary,
                    each.dependents));
        }
        return numbered;
    }
}
