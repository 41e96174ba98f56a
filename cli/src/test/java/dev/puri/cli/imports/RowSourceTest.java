package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that a careless reader would read as fewer rows, or as other ones. */
final class RowSourceTest {
    @TempDir
    private Path folder;

    @Test
    void readsQuotedFieldsAndEmptyOnes() throws Exception {
        assertThat(csv("\uFEFFid,title\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\r\n"))
                .containsExactly(Map.of("id", "1", "title", "a, \"b\"\nc"), Map.of("id", "2"));
    }

    @Test
    void refusesDamagedCsv() {
        assertThatThrownBy(() -> csv("id,title\n1\n")).hasMessageContaining("has 1 fields, but there are 2 columns");
        assertThatThrownBy(() -> csv("id,id\n1,2\n")).hasMessageContaining("two columns have the same name");
        assertThatThrownBy(() -> csv("id,title\n1,\"open\n2,x\n")).hasMessageContaining("closing quote");
        assertThatThrownBy(() -> csv("")).hasMessageContaining("the file is empty");
        assertThatThrownBy(() -> rows(new RowSource.Csv(latin1("id\n\u00e9\n"))))
                .isInstanceOf(java.io.IOException.class);
    }

    @Test
    void readsTextsNumbersAndEmptyValues() throws Exception {
        assertThat(ndjson("{\"id\":7,\"title\":\"x\",\"gone\":null,\"empty\":\"\",\"list\":[1]}\n\n{\"id\":true}\n"))
                .containsExactly(Map.of("id", "7", "title", "x"), Map.of("id", "true"));
    }

    @Test
    void refusesDamagedNdjson() {
        assertThatThrownBy(() -> ndjson("{\"id\":1} {\"id\":2}\n")).hasMessageContaining("line 1 is not JSON");
        assertThatThrownBy(() -> ndjson("{\"id\":1,\"id\":2}\n")).hasMessageContaining("line 1 is not JSON");
        assertThatThrownBy(() -> ndjson("{\"id\":1}\n[2]\n")).hasMessageContaining("line 2 is not a JSON object");
        assertThatThrownBy(() -> ndjson("{\"id\":1}\n{\"id\":")).hasMessageContaining("line 2 is not JSON");
        assertThatThrownBy(() -> rows(new RowSource.Ndjson(latin1("{\"id\":\"\u00e9\"}\n"))))
                .hasMessageContaining("not UTF-8");
    }

    @Test
    void countsLines() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "id\n1\n2\n");
        assertThat(RowSource.count(new RowSource.Csv(file), Map.of())).isEqualTo(3);
        assertThat(RowSource.count(new RowSource.Ndjson(file), Map.of())).isEqualTo(3);
        RowSource.Jdbc unknown = new RowSource.Jdbc("jdbc:nothing:x", "select 1", null, null, null);
        assertThat(RowSource.count(unknown, Map.of())).isNull();
    }

    /** Counting would read what the import is to read, and would wait for a writer. */
    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void doesNotCountTheLinesOfAPipe() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThat(RowSource.count(new RowSource.Csv(pipe), Map.of())).isNull();
    }

    private Path latin1(String text) throws Exception {
        return Files.write(folder.resolve("latin1"), text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private List<Map<String, String>> csv(String text) throws Exception {
        return rows(new RowSource.Csv(Files.writeString(folder.resolve("file.csv"), text)));
    }

    private List<Map<String, String>> ndjson(String text) throws Exception {
        return rows(new RowSource.Ndjson(Files.writeString(folder.resolve("file.ndjson"), text)));
    }

    private static List<Map<String, String>> rows(RowSource.Origin origin) throws Exception {
        List<Map<String, String>> rows = new ArrayList<>();
        try (RowSource source = RowSource.open(origin, Map.of())) {
            for (Map<String, String> row = source.next(); row != null; row = source.next()) {
                rows.add(row);
            }
        }
        return rows;
    }
}
