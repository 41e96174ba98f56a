package dev.puri.client.storage.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.storage.HandleColumns;
import dev.puri.client.storage.PuriColumns;
import dev.puri.client.storage.UnmappableNameException;
import dev.puri.client.storage.jpa.HandleConverter;
import dev.puri.client.storage.jpa.MappedConverter;
import dev.puri.client.storage.jpa.PuriConverter;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.hibernate.Version;
import org.hibernate.annotations.Type;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Entities in a real SessionFactory on H2. The build runs this with Hibernate 7 and, unchanged, with Hibernate 6. */
class HibernateTest {
    private static final String URL = "jdbc:h2:mem:hibernate;DB_CLOSE_DELAY=-1";
    private static final Puri ALBUM = Puri.parse("music:albums:0197f3a0-1b2c-7d3e-8f40-5162738495a6");
    private static final Puri TRACK = Puri.parse("music:tracks:42");
    private static final Puri ARTIST = Puri.parse("music:users:7");
    private static final Puri SOURCE = Puri.parse("soundcloud:tracks:a%2Fb");
    private static final Handle HANDLE = new Handle("trk_4k7vx9tz2nqr8w3");

    static final class TrackId extends MappedType<Puri, Long> {
        TrackId() {
            super(PuriColumns.of("music", "tracks").asLong());
        }
    }

    static final class AlbumId extends MappedType<Puri, UUID> {
        AlbumId() {
            super(PuriColumns.of("music", "albums").asUuid());
        }
    }

    static final class PackedHandle extends MappedType<Handle, byte[]> {
        PackedHandle() {
            super(HandleColumns.asBinary(new Prefix("trk")));
        }
    }

    static final class UserColumn extends MappedConverter<Puri, Long> {
        UserColumn() {
            super(PuriColumns.of("music", "users").asLong());
        }
    }

    @Entity(name = "Album")
    @Table(name = "albums")
    static class Album {
        @Id
        @Type(AlbumId.class)
        Puri id;

        String title;

        Album() {}

        Album(Puri id, String title) {
            this.id = id;
            this.title = title;
        }
    }

    @Entity(name = "Track")
    @Table(name = "tracks")
    static class Track {
        @Id
        @Type(TrackId.class)
        Puri id;

        @ManyToOne
        Album album;

        @Convert(converter = UserColumn.class)
        Puri artist;

        Puri source;

        @Column(name = "handle_text")
        Handle handle;

        @Type(PackedHandle.class)
        Handle packed;

        @Type(PuriType.class)
        Puri mixed;

        Track() {}

        Track(Puri id, Album album) {
            this.id = id;
            this.album = album;
        }
    }

    /** Shared, because Hibernate takes most of a test's time to start. */
    private static SessionFactory sessions;

    @BeforeAll
    static void start() {
        sessions = new Configuration()
                .addAnnotatedClass(Album.class)
                .addAnnotatedClass(Track.class)
                .addAnnotatedClass(PuriConverter.class)
                .addAnnotatedClass(HandleConverter.class)
                .setProperty("hibernate.connection.url", URL)
                .setProperty("hibernate.hbm2ddl.auto", "create-drop")
                .buildSessionFactory();
    }

    @AfterAll
    static void stop() {
        sessions.close();
    }

    @AfterEach
    void clear() {
        transaction(session -> {
            session.createMutationQuery("delete from Track").executeUpdate();
            session.createMutationQuery("delete from Album").executeUpdate();
        });
    }

    private static void transaction(Consumer<Session> work) {
        try (Session session = sessions.openSession()) {
            Transaction transaction = session.beginTransaction();
            try {
                work.accept(session);
                transaction.commit();
            } catch (RuntimeException e) {
                transaction.rollback();
                throw e;
            }
        }
    }

    private static void saveTrack() {
        transaction(session -> {
            Album album = new Album(ALBUM, "Blue");
            Track track = new Track(TRACK, album);
            track.artist = ARTIST;
            track.source = SOURCE;
            track.handle = HANDLE;
            track.packed = HANDLE;
            track.mixed = SOURCE;
            session.persist(album);
            session.persist(track);
        });
    }

    @Test
    void theVersionIsTheOneThatTheBuildMeans() {
        assertThat(Version.getVersionString()).startsWith(System.getProperty("puri.hibernate", "7.1"));
    }

    @Test
    void anEntityIsFoundByItsPuri() {
        saveTrack();
        transaction(session -> {
            Track track = session.find(Track.class, TRACK);
            assertThat(track.id).isEqualTo(TRACK);
            assertThat(track.album.id).isEqualTo(ALBUM);
            assertThat(track.album.title).isEqualTo("Blue");
            assertThat(track.artist).isEqualTo(ARTIST);
            assertThat(track.source).isEqualTo(SOURCE);
            assertThat(track.handle).isEqualTo(HANDLE);
            assertThat(track.packed).isEqualTo(HANDLE);
            assertThat(track.mixed).isEqualTo(SOURCE);
            assertThat(session.find(Track.class, Puri.parse("music:tracks:43"))).isNull();
        });
    }

    @Test
    void queriesAcceptPuris() {
        saveTrack();
        transaction(session -> {
            assertThat(query(session, "from Track t where t.id = :name", TRACK)).hasSize(1);
            assertThat(query(session, "from Track t where t.artist = :name", ARTIST))
                    .hasSize(1);
            assertThat(query(session, "from Track t where t.source = :name", SOURCE))
                    .hasSize(1);
            assertThat(query(session, "from Track t where t.album.id = :name", ALBUM))
                    .hasSize(1);
            assertThat(query(session, "from Track t where t.packed = :name", HANDLE))
                    .hasSize(1);
            assertThat(query(session, "from Track t where t.artist = :name", Puri.parse("music:users:8")))
                    .isEmpty();
            assertThat(session.createQuery("from Track t where t.id in (:names)", Track.class)
                            .setParameterList("names", List.of(TRACK, Puri.parse("music:tracks:43")))
                            .getResultList())
                    .hasSize(1);
        });
    }

    private static List<Track> query(Session session, String query, Object name) {
        return session.createQuery(query, Track.class)
                .setParameter("name", name)
                .getResultList();
    }

    @Test
    void columnsAreSmallAndNullIsNull() throws SQLException {
        saveTrack();
        transaction(session -> session.persist(new Track(Puri.parse("music:tracks:43"), null)));
        try (Connection connection = DriverManager.getConnection(URL);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "select id, album_id, artist, source, handle_text, packed, mixed from tracks order by id")) {
            rows.next();
            assertThat(rows.getMetaData().getColumnTypeName(1)).isEqualTo("BIGINT");
            assertThat(rows.getObject(1)).isEqualTo(42L);
            assertThat(rows.getObject(2)).isEqualTo(UUID.fromString("0197f3a0-1b2c-7d3e-8f40-5162738495a6"));
            assertThat(rows.getObject(3)).isEqualTo(7L);
            assertThat(rows.getObject(4)).isEqualTo("soundcloud:tracks:a%2Fb");
            assertThat(rows.getObject(5)).isEqualTo("trk_4k7vx9tz2nqr8w3");
            assertThat(rows.getBytes(6)).hasSize(10);
            assertThat(rows.getObject(7)).isEqualTo("soundcloud:tracks:a%2Fb");
            rows.next();
            for (int column = 2; column <= 7; column++) {
                assertThat(rows.getObject(column)).isNull();
            }
        }
        transaction(session -> {
            Track bare = session.find(Track.class, Puri.parse("music:tracks:43"));
            assertThat(bare.artist).isNull();
            assertThat(bare.packed).isNull();
            assertThat(bare.source).isNull();
        });
    }

    @Test
    void aNameThatDoesNotFitIsRefused() {
        assertThatThrownBy(() -> transaction(session -> session.persist(new Track(ARTIST, null))))
                .hasStackTraceContaining(UnmappableNameException.class.getName())
                .hasStackTraceContaining("music:users:7 does not fit music:tracks as bigint");
    }

    @Test
    void aCacheHoldsTheColumnsValue() {
        TrackId type = new TrackId();
        assertThat(type.disassemble(TRACK)).isEqualTo(42L);
        assertThat(type.assemble(42L, null)).isEqualTo(TRACK);
        assertThat(type.disassemble(null)).isNull();
        assertThat(type.toSqlLiteral(TRACK)).isEqualTo("42");
        assertThat(new PuriType().toSqlLiteral(Puri.of("a", "b", "o'x"))).isEqualTo("'a:b:o''x'");
        assertThat(type.fromStringValue(type.toString(TRACK))).isEqualTo(TRACK);
        assertThatThrownBy(() -> new PackedHandle().toSqlLiteral(HANDLE))
                .isInstanceOf(UnsupportedOperationException.class);
    }
}
