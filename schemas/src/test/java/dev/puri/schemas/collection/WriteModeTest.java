package dev.puri.schemas.collection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.CollectionEntry;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.NamespaceEntry;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.serde.RecordReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WriteModeTest {
    private static final Path RELEASED = Path.of("src/main/avro-released");
    private static final WriteMode IMPORT = WriteMode.importBy("legacy-import");

    private static Collection tracks(WriteMode mode) {
        return new Collection(
                "soundcloud", "tracks", null, Set.of(), false, SearchedAttributes.DEFAULT, false, "", false, mode);
    }

    private static Namespace soundcloud(WriteMode mode) {
        return new Namespace("soundcloud", true, mode);
    }

    @ParameterizedTest
    @CsvSource({
        "READ_WRITE, , anybody, true",
        "READ_ONLY, , anybody, false",
        "IMPORT, legacy-import, legacy-import, true",
        "IMPORT, legacy-import, Legacy-Import, false",
        "IMPORT, legacy-import, anybody, false",
        "A_LATER_MODE, , anybody, false",
        "A_LATER_MODE, legacy-import, legacy-import, false",
    })
    void theModeDecidesWhichSourceIsAccepted(
            String name, @Nullable String importer, String source, boolean isAccepted) {
        assertThat(new WriteMode(name, importer).accepts(source)).isEqualTo(isAccepted);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "IMPORT| |mode IMPORT needs an importer, the source of the accepted events",
                "IMPORT|''|importer must have 1 to 255 characters without control characters",
                "READ_ONLY|a|an importer needs mode IMPORT, the mode is READ_ONLY",
                "READ_WRITE|a|an importer needs mode IMPORT, the mode is READ_WRITE",
                "import|a|mode must be READ_WRITE, READ_ONLY or IMPORT, not import",
                "A_LATER_MODE| |mode must be READ_WRITE, READ_ONLY or IMPORT, not A_LATER_MODE",
            })
    void aDeclarationHasAKnownModeAndItsImporter(String name, @Nullable String importer, String message) {
        assertThatThrownBy(() -> WriteMode.of(name, importer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void avroKeepsTheModeAlsoOneOfALaterVersion() {
        for (WriteMode mode : List.of(
                WriteMode.READ_WRITE,
                WriteMode.READ_ONLY,
                IMPORT,
                new WriteMode("A_LATER_MODE", null),
                new WriteMode("A_LATER_MODE", "somebody"))) {
            for (Declaration each : List.of(tracks(mode), soundcloud(mode))) {
                assertThat(DeclarationAvro.fromAvro(DeclarationAvro.toAvro(each)))
                        .isEqualTo(each)
                        .extracting(Declaration::mode)
                        .isEqualTo(mode);
            }
        }
    }

    /** Entries of releases that knew no mode are entries with the default mode. */
    @Test
    void entriesOfEarlierReleasesAreReadWrite() throws IOException {
        Schema released = new Schema.Parser().parse(Files.readString(RELEASED.resolve("v0.1/CollectionsEntry.avsc")));
        List<Schema> kinds = released.getField("entry").schema().getTypes();
        GenericRecord collection = new GenericRecordBuilder(kinds.get(0))
                .set("namespace", "soundcloud")
                .set("collection", "tracks")
                .build();
        GenericRecord namespace = new GenericRecordBuilder(kinds.get(1))
                .set("namespace", "soundcloud")
                .set("ownsTopic", true)
                .build();
        assertThat(collection.hasField("mode")).isFalse();
        assertThat(read(released, collection)).isEqualTo(tracks(WriteMode.READ_WRITE));
        assertThat(read(released, namespace)).isEqualTo(soundcloud(WriteMode.READ_WRITE));
    }

    private static Declaration read(Schema writer, GenericRecord entry) throws IOException {
        GenericRecord record =
                new GenericRecordBuilder(writer).set("entry", entry).build();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(new byte[] {0, 0, 0, 0, 1});
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        new GenericDatumWriter<GenericRecord>(writer).write(record, encoder);
        encoder.flush();
        return DeclarationAvro.fromAvro(RecordReader.of(CollectionsEntry.class).decode(bytes.toByteArray(), writer));
    }

    @Test
    void anImportWithoutImporterCannotBeRead() {
        CollectionsEntry entry = DeclarationAvro.toAvro(soundcloud(IMPORT));
        ((NamespaceEntry) entry.getEntry()).setImporter(null);
        assertThatThrownBy(() -> DeclarationAvro.fromAvro(entry)).hasMessageContaining("needs an importer");
        CollectionsEntry collection = DeclarationAvro.toAvro(tracks(IMPORT));
        ((CollectionEntry) collection.getEntry()).setImporter("");
        assertThatThrownBy(() -> DeclarationAvro.fromAvro(collection)).hasMessageContaining("importer must have 1");
    }

    @Test
    void aChangeOfTheModeIsWritten() {
        Declarations before = Declarations.of(List.of(soundcloud(new WriteMode("A_LATER_MODE", null))));
        DeclarationResult.Changes changes =
                (DeclarationResult.Changes) before.plan(List.of(soundcloud(WriteMode.READ_ONLY)));
        assertThat(changes.writes()).containsExactly(soundcloud(WriteMode.READ_ONLY));
        assertThat(changes.before()).isEqualTo(before);
        assertThat(changes.after().plan(List.of(soundcloud(WriteMode.READ_ONLY))))
                .isEqualTo(new DeclarationResult.Changes(List.of(), changes.after(), changes.after()));
    }

    @ParameterizedTest
    @CsvSource({
        "SoundCloud:Tracks:1, true",
        "soundcloud:users:1, false",
        "legacy:anything:1, true",
        "legacy, false",
        "TRK_4k7vx9tz2nqr8w3, true",
        "lgc_4k7vx9tz2nqr8w3, true",
        "usr_4k7vx9tz2nqr8w3, false",
        "abc_4k7vx9tz2nqr8w3, false",
        "trk_0, false",
    })
    void namesOfANamespaceOrCollectionInModeImportAreBeingImported(String ref, boolean isImporting) {
        Declarations declarations = Declarations.of(List.of(
                collection("soundcloud", "tracks", "trk", IMPORT),
                collection("soundcloud", "users", "usr", WriteMode.READ_ONLY),
                collection("legacy", "films", "lgc", WriteMode.READ_WRITE),
                new Namespace("legacy", false, IMPORT),
                new Namespace("soundcloud", false)));
        assertThat(declarations.hasImports()).isTrue();
        assertThat(declarations.isImporting(ref)).isEqualTo(isImporting);
        assertThat(Declarations.none().hasImports()).isFalse();
        assertThat(Declarations.none().isImporting(ref)).isFalse();
    }

    private static Collection collection(String namespace, String name, String prefix, WriteMode mode) {
        return new Collection(
                namespace,
                name,
                Prefix.parse(prefix),
                Set.of(),
                false,
                SearchedAttributes.DEFAULT,
                false,
                "",
                false,
                mode);
    }
}
