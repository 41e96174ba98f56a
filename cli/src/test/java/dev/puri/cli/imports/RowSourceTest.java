package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
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
        assertThatThrownBy(() -> csv("id,title\n1\n"))
                .hasMessageContaining("line 2 has 1 fields, but there are 2 columns");
        assertThatThrownBy(() -> csv("id,title\n\n1,\"a\nb\"\n2\r\n3,x\n")).hasMessageContaining("line 5 has 1 fields");
        assertThatThrownBy(() -> csv("id,title\n1,x\n2")).hasMessageContaining("line 3 has 1 fields");
        assertThatThrownBy(() -> csv("id,id\n1,2\n")).hasMessageContaining("two columns have the same name");
        assertThatThrownBy(() -> csv("id,title\n1,\"open\n2,x\n")).hasMessageContaining("closing quote");
        assertThatThrownBy(() -> csv("")).hasMessageContaining("the file is empty");
        assertThatThrownBy(() -> rows(new RowSource.Csv(latin1("id\n\u00e9\n"))))
                .isInstanceOf(java.io.IOException.class);
    }

    @Test
    void readsTextsNumbersAndEmptyValues() throws Exception {
        assertThat(ndjson("\uFEFF{\"id\":7,\"title\":\"x\",\"gone\":null,\"empty\":\"\"}\n\n{\"id\":true}\n"))
                .containsExactly(Map.of("id", "7", "title", "x"), Map.of("id", "true"));
    }

    @Test
    void namesColumnsWithArraysAndObjects() throws Exception {
        Path file = Files.writeString(folder.resolve("file.ndjson"), "{\"id\":7,\"list\":[1],\"object\":{}}\n");
        assertThat(sourceRows(new RowSource.Ndjson(file)))
                .containsExactly(new SourceRow.Values(Map.of("id", "7"), Set.of("list", "object"), Set.of()));
    }

    @Test
    void numbersWithAFractionKeepTheirDigits() throws Exception {
        Path file = Files.writeString(folder.resolve("file.ndjson"), """
                {"n":12345678.0}
                {"n":0.1234567890123456789012345}
                {"n":1.50}
                {"n":1.5e3}
                {"n":1e999999999}
                {"n":12345678901234567890}
                """);
        List<SourceRow> rows = sourceRows(new RowSource.Ndjson(file));
        assertThat(rows.subList(0, 5))
                .allSatisfy(
                        row -> assertThat(((SourceRow.Values) row).fractional()).containsExactly("n"));
        assertThat(rows)
                .extracting(row -> ((SourceRow.Values) row).texts().get("n"))
                .containsExactly(
                        "12345678.0",
                        "0.1234567890123456789012345",
                        "1.50",
                        "1500",
                        "1E+999999999",
                        "12345678901234567890");
        assertThat(((SourceRow.Values) rows.getLast()).fractional()).isEmpty();
    }

    @Test
    void refusesDamagedNdjson() {
        assertThatThrownBy(() -> ndjson("{\"id\":1} {\"id\":2}\n")).hasMessageContaining("line 1 is not JSON");
        assertThatThrownBy(() -> ndjson("{\"id\":1,\"id\":2}\n")).hasMessageContaining("line 1 is not JSON");
        assertThatThrownBy(() -> ndjson("{\"id\":1}\n[2]\n")).hasMessageContaining("line 2 is not a JSON object");
        assertThatThrownBy(() -> ndjson("{\"id\":1}\n{\"id\":")).hasMessageContaining("line 2 is not JSON");
        assertThatThrownBy(() -> rows(new RowSource.Ndjson(latin1("{\"id\":\"\u00e9\"}\n"))))
                .hasMessageContaining("line 1 is not UTF-8");
        assertThatThrownBy(() -> ndjson("{\"id\":1}\n{\"id\":\"" + "1".repeat(17 << 20) + "\"}\n"))
                .hasMessageContaining("line 2 is longer than 16777216 bytes");
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

    @Test
    void theNameOfADatabaseHasNoPassword() {
        assertThat(name("jdbc:postgresql://u:secret@db-1:5432/music?password=secret"))
                .isEqualTo("jdbc:postgresql://db-1:5432/music");
        assertThat(name("jdbc:postgresql://db-1/music?user=u&password=sec@ret")).isEqualTo("jdbc:postgresql:…");
        assertThat(name("jdbc:postgresql://db-1/music?user=u&password=secret"))
                .isEqualTo("jdbc:postgresql://db-1/music");
        assertThat(name("jdbc:mysql://u:s/ec@re//t@db-1/music")).isEqualTo("jdbc:mysql://db-1/music");
        assertThat(name("jdbc:mysql://u:sec?ret@db-1/music")).isEqualTo("jdbc:mysql:…");
        assertThat(name("jdbc:mysql://u:sec;ret@db-1/music")).isEqualTo("jdbc:mysql:…");
        assertThat(name("jdbc:mysql://address=(host=db-1)(user=u)(password=secret)/music"))
                .isEqualTo("jdbc:mysql:…");
        assertThat(name("jdbc:oracle:thin:scott/tiger@//db-1:1521/music")).isEqualTo("jdbc:oracle://db-1:1521/music");
        assertThat(name("jdbc:oracle:thin:scott/tiger@db-1:1521:music")).isEqualTo("jdbc:oracle:db-1:1521:music");
        assertThat(name("jdbc:oracle:thin:scott/tiger@(DESCRIPTION=(HOST=db-1))"))
                .isEqualTo("jdbc:oracle:…");
        assertThat(name("jdbc:oracle:thin:scott/tiger")).isEqualTo("jdbc:oracle:…");
        assertThat(name("jdbc:sqlserver://db-1:1433;user=u;password=secret;databaseName=music"))
                .isEqualTo("jdbc:sqlserver://db-1:1433");
        assertThat(name("jdbc:db2://db-1:50000/music:user=u;password=secret;")).isEqualTo("jdbc:db2:…");
        assertThat(name("jdbc:teradata://db-1/USER=u,PASSWORD=sec@ret")).isEqualTo("jdbc:teradata:…");
        assertThat(name("jdbc:sqlite:/var/lib/music.db")).isEqualTo("jdbc:sqlite:/var/lib/music.db");
        assertThat(name("postgresql://u:secret@db-1/music")).isEqualTo("jdbc:…");
    }

    @Test
    void aConnectionThatCannotBeReadOnlyIsClosed() throws Exception {
        SQLException failure = new SQLException("there is no read-only connection");
        List<String> calls = new ArrayList<>();
        FakeDriver driver = new FakeDriver((proxy, method, args) -> {
            calls.add(method.getName());
            if (method.getName().equals("setReadOnly")) {
                throw failure;
            }
            return null;
        });
        DriverManager.registerDriver(driver);
        try {
            RowSource.Jdbc origin = new RowSource.Jdbc("jdbc:fake:x", "select 1", null, null, null);
            assertThatThrownBy(() -> rows(origin)).isSameAs(failure);
            assertThat(calls).containsExactly("setReadOnly", "close");
        } finally {
            DriverManager.deregisterDriver(driver);
        }
    }

    @Test
    void aJarWithoutItsDriverIsAFailureOfTheInput() throws Exception {
        Path jar = folder.resolve("driver.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry("META-INF/services/java.sql.Driver"));
            out.write("missing.Driver".getBytes(StandardCharsets.UTF_8));
        }
        assertThatThrownBy(() -> rows(new RowSource.Jdbc("jdbc:missing:x", "select 1", null, null, jar)))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("missing.Driver");
    }

    private static String name(String url) {
        return new RowSource.Jdbc(url, "select 1", null, null, null).name();
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
        return sourceRows(origin).stream()
                .map(row -> ((SourceRow.Values) row).texts())
                .toList();
    }

    private static List<SourceRow> sourceRows(RowSource.Origin origin) throws Exception {
        List<SourceRow> rows = new ArrayList<>();
        try (RowSource source = RowSource.open(origin, Map.of())) {
            for (SourceRow row = source.next(); row != null; row = source.next()) {
                rows.add(row);
            }
        }
        return rows;
    }
}
