package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImportMappingTest {
    @TempDir
    private Path folder;

    @Test
    void readsAllFields() throws IOException {
        ImportMapping mapping = read("""
                source: legacy
                uuids: v5
                inputs:
                  - jdbc: jdbc:postgresql://u:secret@db-1/music?password=secret
                    query: select id from tracks order by id
                    user: reader
                    passwordVariable: DB_1
                    driver: driver.jar
                    puri: music:{type}s:{id}
                    uuid: "{uuid}"
                    owner: catalog
                    shard: br-{n}
                    handle: generated
                    attributes: {title: "{title} ({year})"}
                """);
        assertThat(mapping.source()).isEqualTo("legacy");
        assertThat(mapping.uuids()).isEqualTo(NameBasedIds.Version.V5);
        ImportMapping.Input input = mapping.inputs().getFirst();
        assertThat(input.rows().name()).isEqualTo("jdbc:postgresql://db-1/music");
        assertThat(input.columns()).containsExactly("id", "n", "title", "type", "uuid", "year");
        assertThat(input.generatesHandles()).isTrue();
        assertThat(input.puri().expand(Map.of("type", "track", "id", "A/1:2"))).hasToString("music:tracks:a%2F1%3A2");
        assertThat(input.attributes().get("title").expand(Map.of("title", "One", "year", "1999")))
                .isEqualTo("One (1999)");
        assertThat(input.attributes().get("title").expand(Map.of("title", "One")))
                .isNull();
    }

    @Test
    void listsAllMistakes() {
        assertThatThrownBy(() -> read("""
                        uuids: v7
                        inputs:
                          - csv: a.csv
                            jdbc: jdbc:x:y
                            puri: music:tracks
                            owner: ""
                            shard: br-{n
                            handel: x
                          - jdbc: jdbc:x:y
                            query: select 1
                            puri: music:tracks:1
                            owner: o
                            shard: s
                            uuid: 0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f
                            handle: trk
                            attributes: [title]
                          - csv: a.csv
                            query: select 1 order by 1
                            puri: "{puri}"
                            owner: o
                            shard: s
                        """))
                .isInstanceOf(ImportException.class)
                .extracting(Throwable::getMessage)
                .satisfies(message -> assertThat(message.lines().map(line -> line.substring(line.indexOf(": ") + 2)))
                        .containsExactly(
                                "source: is missing",
                                "uuids: must be v5 or v8, not v7",
                                "inputs[0].handel: is unknown; known: attributes, csv, driver, export, handle, jdbc, ndjson, owner,"
                                        + " passwordVariable, puri, query, shard, user, uuid",
                                "inputs[0].csv: an input needs one of csv, ndjson, jdbc and export",
                                "inputs[0].puri: must be namespace:collection:{column}, or {column} for a column of whole"
                                        + " pURIs; it is music:tracks",
                                "inputs[0].owner: is empty",
                                "inputs[0].shard: braces enclose the name of a column, as in {id}; the text is br-{n",
                                "inputs[1].query: needs ORDER BY a unique key: the first of two rows that claim the same"
                                        + " name wins, and a second run must find the same one",
                                "inputs[1].puri: names no column, so all rows would be one object: music:tracks:1",
                                "inputs[1].uuid: names no column, so all rows would have one uuid; without this field,"
                                        + " uuids are made from pURIs",
                                "inputs[1].handle: names no column; for handles made from pURIs write generated",
                                "inputs[1].attributes: must be a mapping",
                                "inputs[2].query: query, user, passwordVariable and driver need jdbc"));
    }

    @Test
    void anExportHasAllColumnsItself() throws IOException {
        ImportMapping mapping = read("source: restore\ninputs: [{export: rows.ndjson}]\n");
        assertThat(mapping.inputs())
                .singleElement()
                .satisfies(input -> assertThat(input.columns()).isEqualTo(ExportRows.COLUMNS));
        assertThatThrownBy(
                        () -> read("source:\ninputs:\n  - csv: a.csv\n    puri: a:b:{id}\n    owner: o\n    shard:\n"))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("source: is empty")
                .hasMessageContaining("inputs[0].shard: is empty");
        assertThatThrownBy(() -> read("source: restore\ninputs: [{export: rows.ndjson, shard: br-1}]\n"))
                .hasMessageContaining("inputs[0].export: an export needs no other field");
    }

    @Test
    void anEmptyFileIsAnError() {
        assertThatThrownBy(() -> read("# nothing\n")).hasMessageContaining("the file: must be a mapping");
        assertThatThrownBy(() -> read("source: s\ninputs: []\n"))
                .hasMessageContaining("inputs: must list at least one");
        assertThatThrownBy(() -> read(
                        "source: s\ninputs:\n  - {csv: a.csv, puri: \"{id}\", owner: o, shard: s, attributes: {}}\n"))
                .hasMessageContaining("inputs[0].attributes: is empty");
        assertThatThrownBy(() -> read("a: [")).hasMessageContaining("not YAML");
    }

    private ImportMapping read(String yaml) throws IOException {
        return ImportMapping.read(Files.writeString(folder.resolve("mapping.yaml"), yaml));
    }
}
