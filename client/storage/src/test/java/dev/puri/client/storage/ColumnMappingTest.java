package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.PuriCollection;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ColumnMappingTest {
    private static final PuriColumns USERS = PuriColumns.of("music", "users");

    private static <N, C> void assertRefused(ColumnMapping<N, C> mapping, N name, String message) {
        assertThatThrownBy(() -> mapping.store(name))
                .isInstanceOf(UnmappableNameException.class)
                .hasMessage(message);
    }

    private static <N, C> void assertUnknown(ColumnMapping<N, C> mapping, C value, String message) {
        assertThatThrownBy(() -> mapping.load(value))
                .isInstanceOf(UnmappableNameException.class)
                .hasMessage(message);
    }

    private static Puri user(String identifier) {
        return Puri.of("music", "users", identifier);
    }

    @Test
    void aNumberIsItself() {
        assertThat(USERS.asLong().store(user("42"))).isEqualTo(42L);
        assertThat(USERS.asLong().load(42L)).isEqualTo(user("42"));
        assertThat(USERS.asLong().store(user("9223372036854775807"))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aRefusalNamesPuriMappingAndRule() {
        assertRefused(
                USERS.asLong(),
                user("007"),
                "music:users:007 does not fit music:users as bigint: a number must not have leading zeros, because"
                        + " the column does not store them");
        assertRefused(
                USERS.asLong(),
                user("9223372036854775808"),
                "music:users:9223372036854775808 does not fit music:users as bigint: the number is greater than"
                        + " 9223372036854775807");
        assertRefused(
                USERS.asLong(),
                user("4a"),
                "music:users:4a does not fit music:users as bigint: the identifier's character 1 is 'a', not a digit");
        assertRefused(
                USERS.asLong(),
                Puri.parse("music:tracks:42"),
                "music:tracks:42 does not fit music:users as bigint: its collection is not music:users");
        assertRefused(
                USERS.asSortableLong(13),
                user("1y2p0ij32e8e8"),
                "music:users:1y2p0ij32e8e8 does not fit music:users of 13 characters in base 36 as bigint: the number"
                        + " is greater than 9223372036854775807");
        assertRefused(
                USERS.asSortableLong(4),
                user("abc"),
                "music:users:abc does not fit music:users of 4 characters in base 36 as bigint: the identifier has 3"
                        + " characters, not 4");
        assertRefused(
                USERS.asUuid(),
                user("1-1-1-1-1"),
                "music:users:1-1-1-1-1 does not fit music:users as uuid: the identifier is not a uuid of 36 characters in lower case");
        assertRefused(
                USERS.asText(3),
                user("a/b"),
                "music:users:a%2Fb does not fit music:users as text(3): the identifier has 5 characters, more than 3");
        assertRefused(
                HandleColumns.asBinary(new Prefix("trk")),
                new Handle("usr_4k7vx9tz2nqr8w3"),
                "usr_4k7vx9tz2nqr8w3 does not fit handles trk_ as binary(10): its prefix is not trk");
    }

    @Test
    void aValueThatNoNameIsStoredAsIsRefused() {
        assertUnknown(
                USERS.asLong(), -1L, "the stored value -1 is not a value of music:users as bigint: it is negative");
        assertUnknown(
                USERS.asSortableLong(2),
                1296L,
                "the stored value 1296 is not a value of music:users of 2 characters in base 36 as bigint: it has 3 digits"
                        + " in base 36, more than 2");
        assertUnknown(
                USERS.asText(),
                "Blue",
                "the stored value Blue is not a value of music:users as text(255): \"Blue\" is not in canonical form");
        assertUnknown(
                PuriColumns.anyAsText(),
                "music:users:%61",
                "the stored value music:users:%61 is not a value of any pURI as text(383): \"music:users:%61\" is not in"
                        + " canonical form");
        assertUnknown(
                USERS.asUuidBinary(),
                new byte[] {1, 2},
                "the stored value 0102 is not a value of music:users as binary(16): it has 2 bytes, not 16");
        assertUnknown(
                HandleColumns.asBinary(new Prefix("trk")),
                HexFormat.of().parseHex("00000000000000000001"),
                "the stored value 00000000000000000001 is not a value of handles trk_ as binary(10): its last 5 bits are"
                        + " not 0");
        assertThatThrownBy(() -> HandleColumns.asText().load("TRK_4k7vx9tz2nqr8w3"))
                .isInstanceOf(UnmappableNameException.class);
        assertThatThrownBy(() -> USERS.asText().load("a:b")).isInstanceOf(UnmappableNameException.class);
        assertThatThrownBy(() -> USERS.asText().load("")).isInstanceOf(UnmappableNameException.class);
    }

    @Test
    void bytesAreThoseOfTheVectors() {
        assertThat(USERS.asUuidBinary().store(user("0197f3a0-1b2c-7d3e-8f40-5162738495a6")))
                .asHexString()
                .isEqualTo("0197F3A01B2C7D3E8F405162738495A6");
        assertThat(HandleColumns.asBinary(new Prefix("trk")).store(new Handle("trk_111111111111111")))
                .asHexString()
                .isEqualTo("00000000000000000000");
        assertThat(HandleColumns.asBinary(new Prefix("trk")).store(new Handle("trk_zzzzzzzzzzzzzzz")))
                .asHexString()
                .isEqualTo("FFFFFFFFFFFFFFFFFFE0");
        assertThat(HandleColumns.asBinary().store(new Handle("aba_21111111111111z")))
                .asHexString()
                .isEqualTo("001A080000000000000003E0");
    }

    @Test
    void shortSortableIdentifiersFitIntoALongInTheOrderOfCreation() {
        Identities users = new Identities("music", "users", null, Identifiers.sortable(9, 4, Identifiers.BASE_36));
        List<Long> stored = Stream.generate(users::mint)
                .limit(1000)
                .map(minted -> USERS.asSortableLong(13).store(minted.puri()))
                .toList();
        assertThat(stored).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void theColumnInSqlIsOfTheDialect() {
        assertThat(Stream.of(Dialect.values())
                        .map(dialect -> USERS.asText(9).columnSql(dialect, "owner"))
                        .toList())
                .containsExactly(
                        "owner varchar(9) collate \"C\"",
                        "owner varchar(9) character set ascii collate ascii_bin",
                        "owner varchar(9) character set ascii collate ascii_bin",
                        "owner varchar(9)");
        assertThat(Stream.of(Dialect.values())
                        .map(dialect -> USERS.asUuidBinary().columnSql(dialect, "id"))
                        .toList())
                .containsExactly("id bytea", "id binary(16)", "id binary(16)", "id binary(16)");
        assertThat(USERS.asUuid().columnSql(Dialect.MARIADB, "id")).isEqualTo("id uuid");
        assertThatThrownBy(() -> USERS.asUuid().columnSql(Dialect.MYSQL, "id"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("asUuidBinary");
        assertThat(USERS.asLong().indexSql("songs", "artist"))
                .isEqualTo("create index songs_artist_idx on songs (artist)");
        assertThatThrownBy(() -> USERS.asLong().indexSql("songs; drop table songs", "artist"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> USERS.asLong().columnSql(Dialect.H2, "a b"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anInvalidMappingIsRefusedAtOnce() {
        assertThatThrownBy(() -> PuriColumns.of("mu sic", "users")).isInstanceOf(InvalidNameException.class);
        for (int width : new int[] {0, 14}) {
            assertThatThrownBy(() -> USERS.asSortableLong(width)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int length : new int[] {0, 256}) {
            assertThatThrownBy(() -> USERS.asText(length)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void mapsThePurisOfACollectionConstant() {
        PuriCollection cafes = PuriCollection.of("music", "caf%C3%A9s", null);
        assertThat(PuriColumns.of(cafes).asText().load("x")).isEqualTo(cafes.puri("x"));
    }
}
