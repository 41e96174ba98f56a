package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the code in docs/tutorial.md with that of the example. */
class TutorialTest {
    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    private static String sources() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                all.append(Files.readString(file)).append('\n');
            }
        }
        for (String file : List.of("pom.xml", "node/reviews.mjs", "python/concerts.py", "python/resolve.py")) {
            all.append(Files.readString(Path.of(file))).append('\n');
        }
        return withoutSpace(all.toString());
    }

    @Test
    void eachPieceOfCodeIsAnExcerptOfTheExample() throws IOException {
        String sources = sources();
        for (String language : List.of("java", "js", "python", "yaml", "sql", "xml")) {
            List<String> blocks = Tutorial.blocks(language);
            assertThat(blocks).as(language).isNotEmpty();
            // An ellipsis on a line of its own leaves something out.
            assertThat(blocks.stream()
                            .flatMap(block -> Pattern.compile("(?m)^\\s*…\\s*$").splitAsStream(block)))
                    .allSatisfy(piece -> assertThat(sources).contains(withoutSpace(piece)));
        }
    }

    @Test
    void eachFileThatItNamesIsThere() throws IOException {
        List<String> links = Pattern.compile("]\\(([^)#]+)\\)")
                .matcher(Tutorial.text())
                .results()
                .map(link -> link.group(1))
                .filter(link -> !link.contains("://"))
                .toList();
        assertThat(links)
                .isNotEmpty()
                .allSatisfy(link ->
                        assertThat(Path.of("..", "..", "docs").resolve(link)).exists());
    }

    @Test
    void theBuildServerInstallsThePackagesThatItNames() throws IOException {
        List<String> packages = Tutorial.blocks("sh").stream()
                .flatMap(block ->
                        Pattern.compile("apt-get install (.+)").matcher(block).results())
                .flatMap(command -> Stream.of(command.group(1).split(" ")))
                .toList();
        assertThat(packages).isNotEmpty();
        assertThat(Files.readString(Path.of("..", "..", ".ci", "run"))).contains(packages);
        assertThat(PythonPrograms.MISSING).contains(packages);
    }

    @Test
    void theMigrationOfTheOutboxIsThatOfTheClient() throws IOException {
        assertThat(Files.readString(Path.of("src/main/resources/db/migration/V2__puri_outbox.sql")))
                .isEqualTo(OutboxSchema.sql(Dialect.POSTGRESQL));
    }
}
