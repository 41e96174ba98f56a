package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Puri;
import org.junit.jupiter.api.Test;

class PuriMappingsTest {
    private static final ColumnMapping<Puri, Long> USERS =
            PuriColumns.of("music", "users").asLong();
    private static final ColumnMapping<Puri, Long> TRACKS =
            PuriColumns.of("music", "tracks").asSortableLong(3);
    private static final PuriMappings<Long> SUBJECTS = PuriMappings.of(1, USERS).and(2, TRACKS);

    @Test
    void codeAndValueAreThePuri() {
        Puri user = Puri.parse("music:users:36");
        Puri track = Puri.parse("music:tracks:010");
        assertThat(SUBJECTS.store(user)).isEqualTo(new PuriMappings.Stored<>(1, 36L));
        assertThat(SUBJECTS.store(track)).isEqualTo(new PuriMappings.Stored<>(2, 36L));
        assertThat(SUBJECTS.load(1, 36L)).isEqualTo(user);
        assertThat(SUBJECTS.load(2, 36L)).isEqualTo(track);
    }

    @Test
    void purisWithoutMappingAreRefused() {
        assertThatThrownBy(() -> SUBJECTS.store(Puri.parse("music:albums:1")))
                .isInstanceOf(UnmappableNameException.class)
                .hasMessage(
                        "the collection of music:albums:1 has no mapping in {1=music:users as bigint, 2=music:tracks of 3"
                                + " characters in base 36 as bigint}");
        assertThatThrownBy(() -> SUBJECTS.store(Puri.parse("music:users:x")))
                .isInstanceOf(UnmappableNameException.class)
                .hasMessageContaining("not a digit");
        assertThatThrownBy(() -> SUBJECTS.load(3, 1L))
                .isInstanceOf(UnmappableNameException.class)
                .hasMessageStartingWith("no collection has the stored code 3 in {");
    }

    @Test
    void aMappingThatWouldBeAmbiguousIsRefused() {
        PuriColumns albums = PuriColumns.of("music", "albums");
        assertThatThrownBy(() -> SUBJECTS.and(1, albums.asLong()))
                .hasMessageContaining("the code 1 is already used for");
        assertThatThrownBy(() -> SUBJECTS.and(3, USERS)).hasMessage("music:users already has the code 1");
        assertThatThrownBy(() -> SUBJECTS.and(-1, albums.asLong())).hasMessageContaining("not -1");
        assertThatThrownBy(() -> SUBJECTS.and(32768, albums.asLong())).hasMessageContaining("not 32768");
        assertThatThrownBy(() -> PuriMappings.of(1, albums.asText(3))
                        .and(2, PuriColumns.of("a", "b").asText(4)))
                .hasMessageContaining("has another column type than text(3)");
        assertThatThrownBy(() -> PuriMappings.of(1, PuriColumns.anyAsText()))
                .hasMessage("any pURI as text(383) is not a mapping for a single collection");
    }

    @Test
    void bothColumnsAreInTheSql() {
        assertThat(SUBJECTS.columnsSql(Dialect.POSTGRESQL, "subject"))
                .isEqualTo("subject_collection smallint, subject bigint");
        assertThat(SUBJECTS.indexSql("notes", "subject"))
                .isEqualTo("create index notes_subject_idx on notes (subject_collection, subject)");
    }
}
