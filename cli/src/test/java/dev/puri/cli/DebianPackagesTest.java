package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of {@code examples/debian-packages} makes valid events of unusual names. */
class DebianPackagesTest {
    static final Path EXAMPLE = Path.of("..", "examples", "debian-packages");

    /** Package, version, section, maintainer, summary, as {@code dpkg-query} prints them. */
    static final List<List<String>> PACKAGES = List.of(
            List.of(
                    "g++",
                    "4:12.2",
                    "devel",
                    "Debian GCC Maintainers <debian-gcc@lists.debian.org>",
                    "GNU C++ compiler"),
            List.of("libc6:amd64", "2.36", "libs", "GNU Libc Maintainers <libc@example.org>", "GNU C Library"),
            List.of("docker.io", "20.10", "admin", "Théo, «Ünï» O'Ñeill <theo+deb@example.org>", "runs \"things\""),
            List.of("firmware", "1", "non-free/firmware", "Firmware \\ Team <http://a.b/c?d=e&f#g>", "50% off [sic]"),
            List.of("a{b}|c^d`e", "1~rc1", "日本語", "Emoji 😀 Team <a@b>", "tab-free, UTF-8: ✓"),
            List.of("docker.io", "20.10", "ADMIN", "THÉO, «ünï» o'Ñeill <THEO+deb@example.org>", "the same again"));

    private static List<Event> events(Path workDir) throws Exception {
        Path list = workDir.resolve("list");
        Files.writeString(list, listing());
        Path lines = workDir.resolve("events.jsonl");
        Path errors = workDir.resolve("errors");
        Process script = new ProcessBuilder(EXAMPLE.resolve("events").toString())
                .redirectInput(list.toFile())
                .redirectOutput(lines.toFile())
                .redirectError(errors.toFile())
                .start();
        assertThat(script.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(errors).isEmptyFile();
        assertThat(script.exitValue()).isZero();
        return Files.readAllLines(lines).stream()
                .map(EventLineParserTest::parse)
                .map(parsed -> switch (parsed) {
                    case EventLineParser.Valid valid -> valid.event();
                    case EventLineParser.Invalid invalid -> throw new AssertionError(invalid);
                })
                .toList();
    }

    static String listing() {
        StringBuilder listing = new StringBuilder();
        PACKAGES.forEach(fields -> listing.append(String.join("\t", fields)).append('\n'));
        return listing.toString();
    }

    /** Every name of the list, once. */
    static Set<Puri> names() {
        Set<Puri> names = new HashSet<>();
        for (List<String> fields : PACKAGES) {
            names.add(Puri.of("debian", "packages", fields.get(0)));
            names.add(Puri.of("debian", "sections", fields.get(2)));
            names.add(Puri.of("debian", "maintainers", fields.get(3)));
        }
        return names;
    }

    @Test
    void everyNaturalKeyIsTheIdentifierOfOneEvent(@TempDir Path workDir) throws Exception {
        List<Event> events = events(workDir);
        // Two spellings of a key are one identity only in ASCII: É and é, Ü and ü stay apart.
        assertThat(events.stream().map(Event::puri)).containsExactlyInAnyOrderElementsOf(names());
        assertThat(events.stream().map(event -> event.puri().plainIdentifier()))
                .contains("libc6:amd64", "non-free/firmware", "a{b}|c^d`e", "日本語", "emoji 😀 team <a@b>");
    }

    @Test
    void attributesKeepTheTextUnchanged(@TempDir Path workDir) throws Exception {
        List<String> titles = events(workDir).stream()
                .map(event -> created(event).attributes().get("title"))
                .toList();
        assertThat(titles)
                .contains("Théo, «Ünï» O'Ñeill <theo+deb@example.org>", "Firmware \\ Team <http://a.b/c?d=e&f#g>");
        assertThat(events(workDir).stream()
                        .map(event -> created(event).attributes().get("summary")))
                .contains("runs \"things\"", "50% off [sic]");
    }

    @Test
    void aNameIsAlwaysInTheSameShard(@TempDir Path workDir) throws Exception {
        assertThat(shards(workDir)).isEqualTo(shards(workDir));
        assertThat(Set.copyOf(shards(workDir).values())).containsExactlyInAnyOrder("de-1", "fr-1", "us-1");
    }

    private static Map<Puri, String> shards(Path workDir) throws Exception {
        return events(workDir).stream()
                .collect(Collectors.toMap(
                        Event::puri, event -> created(event).shard().text()));
    }

    private static Change.Created created(Event event) {
        return (Change.Created) event.change();
    }

    @Test
    void declaresTheCollectionsOfItsEvents(@TempDir Path workDir) throws Exception {
        List<Declaration> declared;
        Path file = EXAMPLE.resolve("collections.yaml");
        try (Reader text = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            declared = CollectionsFile.read(file.toString(), text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Set<String> used = new HashSet<>();
        events(workDir).forEach(event -> used.add(event.puri().qualifiedCollection()));
        assertThat(declared.stream().map(Declaration::key)).containsAll(used);
        assertThat(used).hasSize(3).allSatisfy(name -> assertThat(name).isEqualTo(name.toLowerCase(Locale.ROOT)));
    }
}
