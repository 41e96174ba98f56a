package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.imports.Import.PlanResult;
import dev.puri.cli.recovery.ExportText;
import dev.puri.schemas.collection.Declarations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans of files, for a registry without identities. */
final class ImportPlannerTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");

    @TempDir
    private Path folder;

    /** What the progress has shown. */
    private final List<String> progress = new ArrayList<>();

    @Test
    void aMissingFileIsNamedWithTheReason() {
        assertThatThrownBy(() -> plan("""
                source: legacy
                inputs: [{ndjson: none.ndjson, puri: "music:tracks:{id}", owner: o, shard: s}]
                """))
                .isInstanceOf(ImportException.class)
                .hasMessageEndingWith("rows: no such file");
    }

    /** Only the progress needs the number of rows. Counting may fail before the rows are read, or later. */
    @Test
    void aDriverThatCannotCountDoesNotEndThePlan() throws Exception {
        CountDownLatch counted = new CountDownLatch(1);
        FakeDriver driver = FakeDriver.ofOneRow(sql -> {
            if (sql.startsWith("select count")) {
                counted.countDown();
                throw new IllegalStateException("this driver cannot count");
            }
            await().until(() -> counted.getCount() == 0 && !isCounterAlive());
        });
        DriverManager.registerDriver(driver);
        try {
            PlanResult result = plan("""
                    source: legacy
                    inputs: [{jdbc: "jdbc:fake:x", query: select id order by id, puri: "a:b:{id}", owner: o, shard: s}]
                    """);
            assertThat(result.rows()).isOne();
            assertThat(progress).containsExactly("1 of null");
        } finally {
            DriverManager.deregisterDriver(driver);
        }
    }

    private static boolean isCounterAlive() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("puri-import-counter"));
    }

    @Test
    void uuidsHaveTheVersionOfTheMapping() throws Exception {
        write("tracks.csv", "id\n1\n");
        plan("""
                source: legacy
                inputs: [{csv: tracks.csv, puri: "music:tracks:{id}", owner: o, shard: s}]
                """);
        assertThat(progress.getLast()).startsWith("1 of ");
        assertThat(planned().getFirst().uuid()).hasToString("c2b7e705-edfd-80c6-b1e5-1dd8bb5734a6");
        plan("""
                source: legacy
                uuids: v5
                inputs: [{csv: tracks.csv, puri: "music:tracks:{id}", owner: o, shard: s}]
                """);
        assertThat(planned().getFirst().uuid()).hasToString("e29d1959-3c19-5b53-8d5a-cd7a1bd742ff");
    }

    @Test
    void anArrayOrObjectInAColumnOfTheMappingIsAConflict() throws Exception {
        write("tracks.ndjson", """
                {"id":1,"title":"One","tags":["a"],"more":{"b":2}}
                {"id":2,"title":["Two"]}
                {"id":{"number":3},"title":"Three"}
                """);
        PlanResult result = plan("""
                source: legacy
                inputs:
                  - {ndjson: tracks.ndjson, puri: "music:tracks:{id}", owner: o, shard: s, attributes: {title: "{title}"}}
                """);
        assertThat(result.conflicts()).isEqualTo(Map.of("MALFORMED", 2L));
        assertThat(planned())
                .singleElement()
                .satisfies(row -> assertThat(row.attributes()).isEqualTo(Map.of("title", "One")));
        assertThat(conflicts())
                .extracting(conflict -> conflict.path("row").asText() + " "
                        + conflict.path("puri").asText() + ": "
                        + conflict.path("detail").asText())
                .containsExactly(
                        "2 music:tracks:2: the column title has an array or an object, which is no text",
                        "3 : the column id has an array or an object, which is no text");
    }

    /** A tool that reads integers and empty values as floating-point numbers writes 12345678.0 for 12345678. */
    @Test
    void aNumberWithAFractionIsAnAttributeButNoName() throws Exception {
        write("tracks.ndjson", """
                {"id":12345678.0,"bpm":120}
                {"id":2,"bpm":120.50}
                """);
        PlanResult result = plan("""
                source: legacy
                inputs:
                  - {ndjson: tracks.ndjson, puri: "music:tracks:{id}", owner: o, shard: s, attributes: {bpm: "{bpm}"}}
                """);
        assertThat(result.conflicts()).isEqualTo(Map.of("MALFORMED", 1L));
        assertThat(planned())
                .singleElement()
                .satisfies(row -> assertThat(row.attributes()).isEqualTo(Map.of("bpm", "120.50")));
        assertThat(conflicts())
                .singleElement()
                .satisfies(conflict -> assertThat(conflict.path("detail").asText())
                        .startsWith("the column id has a number with a fraction or an exponent, which is no name"));
    }

    @Test
    void anAttributeWithHalfOfASurrogatePairIsAConflict() throws Exception {
        write("tracks.ndjson", """
                {"id":1,"title":"\\ud83c\\udfb5"}
                {"id":2,"title":"\\ud83c"}
                """);
        PlanResult result = plan("""
                source: legacy
                inputs:
                  - {ndjson: tracks.ndjson, puri: "music:tracks:{id}", owner: o, shard: s, attributes: {title: "{title}"}}
                """);
        assertThat(result.conflicts()).isEqualTo(Map.of("MALFORMED", 1L));
        assertThat(planned())
                .singleElement()
                .satisfies(row -> assertThat(row.attributes()).isEqualTo(Map.of("title", "\ud83c\udfb5")));
        assertThat(conflicts())
                .singleElement()
                .satisfies(conflict -> assertThat(conflict.path("detail").asText())
                        .isEqualTo("title contains half of a surrogate pair"));
    }

    @Test
    void aColumnOfTheMappingThatIsEmptyInAllRowsIsAnError() throws Exception {
        write("tracks.csv", "id,title,handle\n1,,\n2,Two,\n");
        write("tracks.ndjson", "{\"id\":1,\"handle\":null}\n{\"id\":2,\"title\":\"Two\",\"handle\":\"\"}\n");
        for (String file : List.of("csv", "ndjson")) {
            assertThatThrownBy(() -> plan("""
                    source: legacy
                    inputs:
                      - {%1$s: tracks.%1$s, puri: "a:b:{id}", owner: o, shard: s, handle: "{handle}", attributes: {title: "{title}"}}
                    """.formatted(file)))
                    .as(file)
                    .isInstanceOf(ImportException.class)
                    .hasMessageEndingWith(
                            "tracks." + file + ": the mapping has the columns handle, which are empty in all"
                                    + " rows; remove them from the mapping if this is right");
        }
    }

    @Test
    void twoRowsOfACollectionCannotHaveTheSameUuid() throws Exception {
        write("tracks.csv", """
                id,user
                1,01970000-0000-7000-8000-000000000001
                2,01970000-0000-7000-8000-000000000002
                3,01970000-0000-7000-8000-000000000001
                """);
        PlanResult result = plan("""
                source: legacy
                inputs:
                  - {csv: tracks.csv, puri: "music:tracks:{id}", uuid: "{user}", owner: o, shard: s}
                  - {csv: tracks.csv, puri: "music:albums:{id}", uuid: "{user}", owner: o, shard: s}
                """);
        assertThat(result.rows()).isEqualTo(4);
        assertThat(conflicts())
                .extracting(conflict -> conflict.path("puri").asText() + " "
                        + conflict.path("kind").asText() + ": "
                        + conflict.path("detail").asText().replace(folder + "/", ""))
                .containsExactly(
                        "music:tracks:3 DUPLICATE_UUID: the uuid 01970000-0000-7000-8000-000000000001 is that of row 1 of"
                                + " tracks.csv (inputs[0]) in shard s",
                        "music:albums:3 DUPLICATE_UUID: the uuid 01970000-0000-7000-8000-000000000001 is that of row 1 of"
                                + " tracks.csv (inputs[1]) in shard s");
    }

    @Test
    void anAttributeMayHaveNoValueInOneInputButNotInAll() throws Exception {
        write("shard-1.ndjson", "{\"id\":1,\"title\":\"One\"}\n");
        write("shard-2.ndjson", "{\"id\":2}\n");
        String inputs = """
                source: legacy
                inputs:
                  - {ndjson: shard-%d.ndjson, puri: "a:b:{id}", owner: o, shard: s, attributes: {title: "{title}"}}
                  - {ndjson: shard-2.ndjson, puri: "a:c:{id}", owner: o, shard: s, attributes: {title: "{title}"}}
                """;
        assertThat(plan(inputs.formatted(1)).rows()).isEqualTo(2);
        assertThatThrownBy(() -> plan(inputs.formatted(2)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("the mapping has the columns title, which are empty in all rows");
    }

    @Test
    void ofAnExportWithTwoStatesOfAnIdentityTheLaterOneIsPlanned() throws Exception {
        write(
                "rows.ndjson",
                ExportText.complete(
                        exported("a:b:1", "new", "2026-03-02T10:00:00Z", "3-10"),
                        exported("a:b:2", "old", "2026-03-01T10:00:00Z", "1-4"),
                        exported("a:b:3", "only", "2026-03-01T10:00:00Z", "1-5"),
                        // The clock of the service that moved it is wrong.
                        exported("a:b:1", "old", "2026-03-03T10:00:00Z", "3-9"),
                        exported("a:b:2", "new", "2026-03-02T10:00:00Z", "a-0-1"),
                        exported("a:b:2", "middle", "2026-03-01T11:00:00Z", "1-8")));
        PlanResult result = plan("source: restore\ninputs: [{export: rows.ndjson}]\n");
        assertThat(result.conflicts()).isEmpty();
        assertThat(result.superseded()).isEqualTo(3);
        assertThat(result.rows()).isEqualTo(3);
        assertThat(planned())
                .extracting(row -> row.row() + " " + row.puri() + " " + row.shard())
                .containsExactly("1 a:b:1 new", "3 a:b:3 only", "5 a:b:2 new");
    }

    @Test
    void anExportNeedsNoHandles() throws Exception {
        write("rows.ndjson", ExportText.complete(exported("a:b:1", "s", "2026-03-01T10:00:00Z", "3-10")));
        assertThat(plan("source: restore\ninputs: [{export: rows.ndjson}]\n").rows())
                .isOne();
    }

    @Test
    void collectionsWithoutPlannedRowsAreNamed() throws Exception {
        write("tracks.csv", "id\n1\n");
        write("albums.csv", "id,uuid\n1,none\n");
        write("mixed.csv", "puri,uuid\nmusic:users:1,none\nmusic:tracks:2,none\n");
        PlanResult result = plan("""
                source: legacy
                inputs:
                  - {csv: tracks.csv, puri: "music:tracks:{id}", owner: o, shard: s}
                  - {csv: albums.csv, puri: "Music:albums:{id}", owner: o, shard: s, uuid: "{uuid}"}
                  - {csv: mixed.csv, puri: "{puri}", owner: o, shard: s, uuid: "{uuid}"}
                """);
        assertThat(result.advice())
                .filteredOn(advice -> advice.startsWith("no row"))
                .containsExactly(
                        "no row of the collection music:albums is planned, because each has a conflict",
                        "no row of the collection music:users is planned, because each has a conflict");
    }

    private static String exported(String puri, String shard, String changedAt, String position) {
        return ("{\"puri\":\"%s\",\"owner\":\"o\",\"shard\":\"%s\",\"uuid\":\"01970000-0000-7000-8000-000000000001\","
                        + "\"status\":\"active\",\"epoch\":1,\"createdAt\":\"2026-03-01T10:00:00Z\",\"changedAt\":\"%s\","
                        + "\"position\":\"%s\"}\n")
                .formatted(puri, shard, changedAt, position);
    }

    private PlanResult plan(String mapping) throws Exception {
        write("mapping.yaml", mapping);
        FakeResolver none = new FakeResolver(ref -> {
            throw new IllegalStateException("the registry has no rows, so nobody must look up " + ref);
        });
        return new Import(folder.resolve("import"))
                .plan(
                        folder.resolve("mapping.yaml"),
                        new Import.RegistryView(Declarations.none(), none, Set.of()),
                        Map.of(),
                        null,
                        NOW,
                        (done, total) -> progress.add(done + " of " + total));
    }

    private List<ImportRow> planned() throws IOException {
        try (PlannedRows rows = new PlannedRows(new ImportFolder(folder.resolve("import")).rows(), 0)) {
            return rows.next(100).rows();
        }
    }

    private List<JsonNode> conflicts() throws IOException {
        List<JsonNode> conflicts = new ArrayList<>();
        for (String line : Files.readAllLines(new ImportFolder(folder.resolve("import")).conflicts())) {
            conflicts.add(JSON.readTree(line));
        }
        return conflicts;
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }
}
