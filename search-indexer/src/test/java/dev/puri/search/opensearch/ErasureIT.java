package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.Ask;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexHome;
import dev.puri.search.index.Item;
import dev.puri.search.index.Log;
import dev.puri.search.index.SearchIndex;
import dev.puri.testkit.OpenSearchFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ErasureIT {
    /** Words that no compression divides: each is found as it stands wherever it is stored. */
    private static final List<String> SECRETS = List.of("zqxjkvbpwm", "qjzvxkgwfy", "trk_9x8w7v6u5t4s3r2");

    private final OpenSearchFixture node = OpenSearchFixture.shared();

    @Test
    void whatIsErasedStandsInNoFileAfterAPurge() throws Exception {
        Log log = new Log();
        try (IndexHome home = new OpenSearchHome(Nodes.settings(node, "erasure"), new CursorSeal(new byte[32]))) {
            SearchIndex index = home.serving();
            log.write(
                    Item.of("people:users:" + SECRETS.get(0), "name", "Ana " + SECRETS.get(1))
                            .bearing(SECRETS.get(2)),
                    Item.of("people:users:stays", "name", "Bea"));
            index.apply(log.since(0));
            index.refresh();
            assertThat(filesWith(SECRETS.get(1))).as("the transaction log").anyMatch(file -> file.endsWith(".tlog"));
            flush();
            assertThat(filesWith(SECRETS.get(1))).as("segments").isNotEmpty().noneMatch(file -> file.endsWith(".tlog"));

            int before = log.size();
            log.erase("people:users:" + SECRETS.get(0));
            index.apply(log.since(before));
            index.refresh();
            index.commit(log.reached());
            index.purge();

            for (String secret : SECRETS) {
                assertThat(filesWith(secret)).as(secret).isEmpty();
            }
            assertThat(Ask.text("bea").purisOf(index)).containsExactly("people:users:stays");
        }
    }

    private void flush() throws Exception {
        try (Cluster cluster = new Cluster(Nodes.settings(node, "raw"))) {
            cluster.write("POST", "/erasure/_flush?force=true", null);
        }
    }

    private List<String> filesWith(String text) throws IOException {
        try (Stream<Path> files = Files.walk(node.data())) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> contains(file, text))
                    .map(Path::toString)
                    .toList();
        }
    }

    private static boolean contains(Path file, String text) {
        try {
            // One byte is one character, so that bytes are found as text.
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text);
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
