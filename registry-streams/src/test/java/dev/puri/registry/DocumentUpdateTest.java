package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every combination of the former state, the event and whether the collection is searched. */
class DocumentUpdateTest {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Puri SURVIVOR = Puri.parse("soundcloud:tracks:2");
    private static final Map<String, String> TEXT = Map.of("title", "t");
    private static final Row ACTIVE = row(Row.Status.ACTIVE, null);
    private static final Row MERGED = row(Row.Status.MERGED, SURVIVOR);
    private static final Row DELETED = row(Row.Status.DELETED, null);

    private static final Change CREATED = new Change.Created(ID, new Owner("catalog"), new Shard("br-1"), null, TEXT);
    private static final Change DESCRIBED = new Change.Described(TEXT);
    private static final Change MOVED = new Change.Moved(null, new Shard("us-1"));
    private static final Change MERGER = new Change.Merged(SURVIVOR);
    private static final Change DELETION = new Change.Deleted();
    private static final Change ERASURE = new Change.Erased();

    @Test
    void writesTextOfSearchableCollections() {
        assertThat(searched(false, CREATED, ACTIVE)).isEqualTo(new DocumentUpdate.Write(ACTIVE, TEXT));
        assertThat(searched(false, DESCRIBED, ACTIVE)).isEqualTo(new DocumentUpdate.Write(ACTIVE, TEXT));
        assertThat(searched(true, DESCRIBED, ACTIVE)).isEqualTo(new DocumentUpdate.Write(ACTIVE, TEXT));
    }

    @Test
    void otherChangesKeepTheText() {
        assertThat(searched(true, MOVED, ACTIVE)).isEqualTo(new DocumentUpdate.Rewrite(ACTIVE));
        assertThat(searched(true, MERGER, MERGED)).isEqualTo(new DocumentUpdate.Rewrite(MERGED));
        assertThat(searched(true, CREATED, ACTIVE)).isEqualTo(new DocumentUpdate.Rewrite(ACTIVE));
        assertThat(searched(true, CREATED, MERGED)).isEqualTo(new DocumentUpdate.Rewrite(MERGED));
    }

    @Test
    void writesNoDocumentWithoutText() {
        assertThat(searched(false, MOVED, ACTIVE)).isEqualTo(DocumentUpdate.NONE);
        assertThat(searched(false, MERGER, MERGED)).isEqualTo(DocumentUpdate.NONE);
        assertThat(searched(false, DELETION, DELETED)).isEqualTo(DocumentUpdate.NONE);
    }

    @Test
    void deletionDeletesTheDocument() {
        assertThat(searched(true, DELETION, DELETED)).isEqualTo(DocumentUpdate.DELETE);
        assertThat(DocumentUpdate.of(true, DELETION, DELETED, false)).isEqualTo(DocumentUpdate.DELETE);
    }

    @Test
    void erasureAlwaysDeletesTheDocument() {
        for (boolean hadDocument : new boolean[] {false, true}) {
            for (boolean isSearched : new boolean[] {false, true}) {
                assertThat(DocumentUpdate.of(hadDocument, ERASURE, null, isSearched))
                        .isEqualTo(DocumentUpdate.DELETE);
            }
        }
    }

    @Test
    void deletesDocumentsOfUnsearchableCollections() {
        for (Change change : List.of(CREATED, DESCRIBED, MOVED, MERGER)) {
            Row after = change == MERGER ? MERGED : ACTIVE;
            assertThat(DocumentUpdate.of(false, change, after, false)).isEqualTo(DocumentUpdate.NONE);
            assertThat(DocumentUpdate.of(true, change, after, false)).isEqualTo(DocumentUpdate.DELETE);
        }
        assertThat(DocumentUpdate.of(false, DELETION, DELETED, false)).isEqualTo(DocumentUpdate.NONE);
    }

    @Test
    void writeAndRewriteLeaveADocument() {
        assertThat(new DocumentUpdate.Write(ACTIVE, TEXT).hasDocumentAfter()).isTrue();
        assertThat(new DocumentUpdate.Rewrite(ACTIVE).hasDocumentAfter()).isTrue();
        assertThat(DocumentUpdate.NONE.hasDocumentAfter()).isFalse();
        assertThat(DocumentUpdate.DELETE.hasDocumentAfter()).isFalse();
    }

    @Test
    void rowThatContradictsTheEventIsABug() {
        assertThatThrownBy(() -> searched(true, DELETION, ACTIVE)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> searched(true, ERASURE, ACTIVE)).isInstanceOf(IllegalStateException.class);
    }

    private static DocumentUpdate searched(boolean hadDocument, Change change, Row after) {
        return DocumentUpdate.of(hadDocument, change, after, true);
    }

    private static Row row(Row.Status status, @Nullable Puri mergedInto) {
        return new Row(
                ID,
                new Owner("catalog"),
                new Shard("br-1"),
                null,
                status,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                mergedInto,
                new Position(Topics.EVENTS, 0, 0));
    }
}
