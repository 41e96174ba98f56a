package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CursorSealTest {
    private static final byte[] CONTENT = "music:tracks:secret".getBytes(StandardCharsets.US_ASCII);
    private static final SearchQuery QUERY =
            SampleQuery.text("moon").shards("a", "b").query();

    @TempDir
    private Path folder;

    @Test
    void onlyTheSameQueryOpensACursor() throws Exception {
        CursorSeal seal = CursorSeal.ofFile(folder.resolve("key"));
        Cursor cursor = seal.seal(QUERY, CONTENT);
        assertThat(seal.open(
                        SampleQuery.text("moon")
                                .shards("b", "a")
                                .limit(3)
                                .plain()
                                .query(),
                        cursor))
                .isEqualTo(CONTENT);
        assertThat(new String(Base64.getUrlDecoder().decode(cursor.token()), StandardCharsets.ISO_8859_1))
                .doesNotContain("secret");
        assertThat(seal.seal(QUERY, CONTENT)).isNotEqualTo(cursor);
        assertThatThrownBy(() -> seal.open(SampleQuery.text("moon").shards("a").query(), cursor))
                .isInstanceOf(Cursor.InvalidException.class);
        assertThatThrownBy(
                        () -> seal.open(SampleQuery.text("moon").shards("a|1|b").query(), cursor))
                .isInstanceOf(Cursor.InvalidException.class);
    }

    @Test
    void keepsTheKeyForItsOwnerAndReplacesAnInvalidOne() throws Exception {
        Path file = folder.resolve("key");
        Cursor cursor = CursorSeal.ofFile(file).seal(QUERY, CONTENT);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(CursorSeal.ofFile(file).open(QUERY, cursor)).isEqualTo(CONTENT);

        Files.write(file, new byte[5]);
        CursorSeal another = CursorSeal.ofFile(file);
        assertThatThrownBy(() -> another.open(QUERY, cursor)).isInstanceOf(Cursor.InvalidException.class);
        assertThat(Files.size(file)).isEqualTo(32);
    }

    @Test
    void sealsTheLongestContent() throws Exception {
        CursorSeal seal = new CursorSeal(new byte[32]);
        assertThat(seal.open(QUERY, seal.seal(QUERY, new byte[1400]))).hasSize(1400);
    }
}
