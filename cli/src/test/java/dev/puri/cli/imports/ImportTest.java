package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.imports.Import.Opening;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.VerificationResult;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImportTest {
    private static final String TIME = "2026-11-24T10:00:00Z";
    private static final WriteMode IMPORT = WriteMode.importBy("legacy");

    @TempDir
    private Path path;

    @BeforeEach
    void verify() throws Exception {
        ImportFolder folder = new ImportFolder(path);
        folder.newPlan();
        folder.replacePlan(new Plan(
                TIME, "legacy", List.of("music:tracks"), List.of("music:albums"), List.of(), 1, 0, 0, Map.of()));
        folder.writeVerification(new VerificationResult(TIME, TIME, 1, 0));
    }

    @Test
    void opensTheCollectionAndOnRequestItsNamespace() throws Exception {
        assertThat(opening(true, namespace(IMPORT), collection(IMPORT), albums(IMPORT))
                        .declarations())
                .containsExactly(namespace(WriteMode.READ_WRITE), collection(WriteMode.READ_WRITE));
        assertThat(opened(namespace(WriteMode.READ_WRITE), collection(IMPORT)))
                .containsExactly(collection(WriteMode.READ_WRITE));
        assertThat(opened(collection(WriteMode.READ_WRITE))).isEmpty();
    }

    /** It also closes collections that other imports have not finished. */
    @Test
    void doesNotOpenANamespaceUnasked() {
        assertThatThrownBy(() -> opened(namespace(IMPORT), collection(IMPORT)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("the namespace music is in mode IMPORT by legacy")
                .hasMessageContaining("this import has only music:tracks")
                .hasMessageContaining("puri import open -d " + path + " --namespace");
        assertThatThrownBy(() -> opened(namespace(IMPORT))).isInstanceOf(ImportException.class);
    }

    @Test
    void leavesOtherCollectionsClosedAndNamesThoseOfTheMapping() throws Exception {
        Opening opening = opening(true, namespace(IMPORT), collection(IMPORT), albums(IMPORT));
        assertThat(opening.declarations())
                .containsExactly(namespace(WriteMode.READ_WRITE), collection(WriteMode.READ_WRITE));
        assertThat(opening.stillImporting()).containsExactly("music:albums");
        assertThat(opening(true, collection(IMPORT), albums(WriteMode.READ_WRITE))
                        .stillImporting())
                .isEmpty();
    }

    @Test
    void aPlanWithoutRowsIsNoImport() throws Exception {
        ImportFolder folder = new ImportFolder(path);
        folder.newPlan();
        folder.replacePlan(new Plan(TIME, "legacy", List.of(), List.of("music:albums"), List.of(), 0, 0, 0, Map.of()));
        assertThatThrownBy(() -> opened(collection(IMPORT)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("no row is planned");
    }

    /** Only the namespace keeps the collection closed, and its rows are not in the registry. */
    @Test
    void doesNotOpenTheNamespaceOfACollectionWithoutRows() {
        assertThatThrownBy(() -> opening(true, namespace(IMPORT), collection(IMPORT), albums(WriteMode.READ_WRITE)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("each row of music:albums has a conflict")
                .hasMessageContaining("declare mode IMPORT for music:albums first");
        assertThatThrownBy(() -> opening(true, namespace(IMPORT), collection(IMPORT)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("each row of music:albums has a conflict");
    }

    @Test
    void doesNotOpenWhenOneOfBothAcceptsNoEventsOfTheImporter() {
        assertThatThrownBy(() -> opened(namespace(WriteMode.READ_ONLY), collection(IMPORT)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("music is in mode READ_ONLY, which accepts no events of legacy");
        assertThatThrownBy(() -> opened(namespace(IMPORT), collection(WriteMode.importBy("other"))))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("music:tracks is in mode IMPORT by other, which accepts no events of legacy");
    }

    @Test
    void collectionsWithRowsAreKnownOnlyFromAResolverThatHasReadEverything() throws Exception {
        assertThat(collectionsWithRows(1, "{\"records\":0,\"ageSeconds\":1.2}")).containsExactly("music:tracks");
        assertThat(collectionsWithRows(2, "{\"records\":0,\"ageSeconds\":1.2}")).isNull();
        assertThat(collectionsWithRows(1, "{\"records\":3,\"ageSeconds\":1.2}")).isNull();
        assertThat(collectionsWithRows(1, "{\"records\":0,\"ageSeconds\":10.0}"))
                .isNull();
        assertThat(collectionsWithRows(1, "{\"records\":0}")).isNull();
        assertThat(collectionsWithRows(1, "{}")).isNull();
    }

    private static @Nullable Set<String> collectionsWithRows(int count, String lag) throws Exception {
        return Import.collectionsWithRows(new ObjectMapper()
                .readTree("{\"byCollection\":[{\"name\":\"music:tracks\",\"count\":1}],\"collections\":" + count
                        + ",\"lag\":" + lag + "}"));
    }

    private List<Declaration> opened(Declaration... declarations) throws Exception {
        return opening(false, declarations).declarations();
    }

    private Opening opening(boolean opensNamespaces, Declaration... declarations) throws Exception {
        return new Import(path).opening(Declarations.of(List.of(declarations)), opensNamespaces);
    }

    private static Namespace namespace(WriteMode mode) {
        return new Namespace("music", false, mode);
    }

    private static Collection collection(WriteMode mode) {
        return collection("tracks", mode);
    }

    private static Collection albums(WriteMode mode) {
        return collection("albums", mode);
    }

    private static Collection collection(String name, WriteMode mode) {
        return new Collection("music", name, null, Set.of(), false, SearchedAttributes.DEFAULT, false, "", false, mode);
    }
}
