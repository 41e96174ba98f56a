package dev.puri.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.avro.LogicalType;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.Incompatibility;
import org.apache.avro.specific.SpecificData;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * FULL_TRANSITIVE, as the schema registry asks it of {@code puri.*}: today's schemas read what every
 * release wrote, and every release reads records of the current schemas. {@code src/main/avro-released} contains
 * the released schemas; a release adds a folder, copied from {@code spec/avro}, and changes none.
 */
class EvolutionTest {
    private static final Path CURRENT = Path.of("src/main/avro");
    private static final Path RELEASED = Path.of("src/main/avro-released");
    private static final Pattern MAIN_SCHEMA = Pattern.compile("(?m)^schema (\\w+);");

    @Test
    void todaysSchemasAndEveryReleasesReadOneAnother() throws IOException {
        Map<String, Schema> current = current();
        List<Path> releases = list(RELEASED);
        assertThat(releases).isNotEmpty();
        for (Path release : releases) {
            assertThat(list(release)).as("schemas of %s", release).isNotEmpty();
            for (Path file : list(release)) {
                Schema released = parse(Files.readString(file));
                Schema now = current.get(released.getFullName());
                assertThat(now)
                        .as("%s of %s must stay, its values are in topics", released.getFullName(), release)
                        .isNotNull();
                assertThat(breaks(Objects.requireNonNull(now), released))
                        .as("%s against %s", released.getFullName(), file)
                        .isEmpty();
            }
        }
    }

    @Test
    void anIncompatibleChangeIsFoundAndNamed() {
        String before = "{'name': 'R', 'type': 'record', 'fields': [{'name': 'a', 'type': 'string'},"
                + " {'name': 'at', 'type': {'type': 'long', 'logicalType': 'timestamp-millis'}}]}";
        Map<String, String> changes = Map.of(
                "'name': 'a', 'type': 'string'|'name': 'a', 'type': 'long'",
                "today's cannot read an earlier R: TYPE_MISMATCH at /fields/0/type",
                "'name': 'a', 'type': 'string'|'name': 'b', 'type': 'string'",
                "today's cannot read an earlier R: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: b",
                "{'name': 'a', 'type': 'string'}, |",
                "an earlier R cannot read today's: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: a",
                "'fields': [|'fields': [{'name': 'c', 'type': 'int'}, ",
                "today's cannot read an earlier R: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: c",
                "'a', 'type': 'string'|'a', 'type': ['null', 'string']",
                "an earlier R cannot read today's: TYPE_MISMATCH at /fields/0/type",
                "'name': 'R'|'name': 'S'",
                "today's cannot read an earlier R: NAME_MISMATCH at /name",
                "timestamp-millis|timestamp-micros",
                "R/at: timestamp-millis became timestamp-micros");
        changes.forEach((change, expected) -> {
            String[] parts = change.split("\\|", -1);
            String after = before.replace(parts[0], parts[1]);
            assertThat(after).isNotEqualTo(before);
            assertThat(breaks(parse(json(after)), parse(json(before))))
                    .as(change)
                    .anySatisfy(found -> assertThat(found).startsWith(expected));
        });
    }

    @Test
    void aCompatibleChangeBreaksNothing() {
        String before = "{'name': 'R', 'type': 'record', 'fields': [{'name': 'a', 'type': 'string'}]}";
        String after =
                before.replace("'fields': [", "'fields': [{'name': 'c', 'type': ['null', 'int'], 'default': null}, ");
        assertThat(breaks(parse(json(after)), parse(json(before)))).isEmpty();
    }

    @Test
    void removingAFieldOfTheEventIsFound() {
        Schema event = IdentityEvent.getClassSchema();
        Schema without = Schema.createRecord(event.getName(), event.getDoc(), event.getNamespace(), false);
        without.setFields(event.getFields().stream()
                .filter(field -> !field.name().equals("source"))
                .map(field -> new Schema.Field(field, field.schema()))
                .toList());
        assertThat(breaks(without, event))
                .singleElement()
                .asString()
                .contains("IdentityEvent", "source", "READER_FIELD_MISSING_DEFAULT_VALUE");
    }

    /** The reasons why the two cannot read each other; empty if they can. */
    private static List<String> breaks(Schema now, Schema released) {
        List<String> found = new ArrayList<>();
        for (Incompatibility i : incompatibilities(now, released)) {
            found.add("today's cannot read an earlier " + released.getFullName() + ": " + text(i));
        }
        for (Incompatibility i : incompatibilities(released, now)) {
            found.add("an earlier " + released.getFullName() + " cannot read today's: " + text(i));
        }
        meanings(released.getName(), now, released, found, new HashSet<>());
        return found;
    }

    private static List<Incompatibility> incompatibilities(Schema reader, Schema writer) {
        return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
                .getResult()
                .getIncompatibilities();
    }

    private static String text(Incompatibility i) {
        return i.getType() + " at " + i.getLocation() + ": " + i.getMessage();
    }

    /** Avro lets the meaning of a number change, milliseconds to microseconds; we do not. */
    private static void meanings(
            String path, @Nullable Schema now, Schema released, List<String> found, Set<String> seen) {
        if (now == null || now.getType() != released.getType()) {
            return;
        }
        if (!meaning(now).equals(meaning(released))) {
            found.add(path + ": " + meaning(released) + " became " + meaning(now));
        }
        switch (now.getType()) {
            case RECORD -> {
                if (seen.add(released.getFullName())) {
                    for (Schema.Field field : released.getFields()) {
                        Schema.Field same = now.getField(field.name());
                        meanings(
                                path + "/" + field.name(),
                                same == null ? null : same.schema(),
                                field.schema(),
                                found,
                                seen);
                    }
                }
            }
            case ARRAY -> meanings(path + "/[]", now.getElementType(), released.getElementType(), found, seen);
            case MAP -> meanings(path + "/{}", now.getValueType(), released.getValueType(), found, seen);
            case UNION -> {
                for (Schema branch : released.getTypes()) {
                    Integer index = now.getIndexNamed(branch.getFullName());
                    meanings(
                            path + "/" + branch.getName(),
                            index == null ? null : now.getTypes().get(index),
                            branch,
                            found,
                            seen);
                }
            }
            default -> {}
        }
    }

    private static String meaning(Schema schema) {
        LogicalType type = schema.getLogicalType();
        return type == null ? "no logical type" : type.getName();
    }

    /** The main schema of every IDL file, by full name. */
    private static Map<String, Schema> current() throws IOException {
        Map<String, Schema> schemas = new TreeMap<>();
        for (Path file : list(CURRENT)) {
            Matcher main = MAIN_SCHEMA.matcher(Files.readString(file));
            assertThat(main.find()).as("a main schema in %s", file).isTrue();
            try {
                Schema schema = SpecificData.get()
                        .getSchema(Class.forName(IdentityEvent.class.getPackageName() + "." + main.group(1)));
                schemas.put(schema.getFullName(), schema);
            } catch (ClassNotFoundException e) {
                throw new AssertionError("no class is generated of " + file, e);
            }
        }
        return schemas;
    }

    private static Schema parse(String json) {
        return new Schema.Parser().parse(json);
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
