package dev.puri.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.serde.RecordWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The schemas of all topics' values, one text in the repository, in the jar and in the schema registry. The
 * IDL of {@code src/main/avro} is their source; after a change there {@code target/avro-registered} has the
 * new files to commit.
 */
class SchemaFilesTest {
    private static final Path FILES = Path.of("spec/avro");
    private static final Path GENERATED = Path.of("target/avro-registered");

    static List<Class<? extends SpecificRecord>> values() {
        return List.of(IdentityEvent.class, IdentityRow.class, Document.class, Rejection.class, CollectionsEntry.class);
    }

    @ParameterizedTest
    @MethodSource("values")
    void theFileInTheRepositoryIsTheTextThatIsRegistered(Class<? extends SpecificRecord> type) throws IOException {
        String name = type.getSimpleName() + ".avsc";
        String registered = RecordWriter.of(type).schema().toString();
        Files.createDirectories(GENERATED);
        Path generated = Files.writeString(GENERATED.resolve(name), registered);
        assertThat(FILES.resolve(name)).hasSameBinaryContentAs(generated);
    }

    @ParameterizedTest
    @MethodSource("values")
    void theJarHoldsTheSameBytes(Class<? extends SpecificRecord> type) throws IOException {
        String name = type.getSimpleName() + ".avsc";
        try (InputStream resource = Objects.requireNonNull(type.getResourceAsStream(name), name)) {
            assertThat(resource.readAllBytes()).isEqualTo(Files.readAllBytes(FILES.resolve(name)));
        }
    }

    @ParameterizedTest
    @MethodSource("values")
    void theTextHasNoJavaPropertiesAndAParserPrintsItUnchanged(Class<? extends SpecificRecord> type)
            throws IOException {
        String text = Files.readString(FILES.resolve(type.getSimpleName() + ".avsc"));
        assertThat(text).doesNotContain("avro.java").isEqualTo(text.strip());
        assertThat(new Schema.Parser().parse(text)).hasToString(text);
    }

    @Test
    void everyFileIsOfARegisteredType() throws IOException {
        try (Stream<Path> files = Files.list(FILES)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(values().stream()
                            .map(type -> type.getSimpleName() + ".avsc")
                            .toList());
        }
    }
}
