package dev.puri.client.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of columns in every database. */
abstract class DatabaseContract {
    private static final int ROWS = 5000;
    private static final Prefix TRK = new Prefix("trk");
    private static final PuriColumns USERS = PuriColumns.of("music", "users");

    abstract Connection connect() throws SQLException;

    abstract Dialect dialect();

    record Column<N, C>(ColumnMapping<N, C> mapping, Function<Random, N> names, boolean isOrderedByText) {
        @Override
        public String toString() {
            return mapping.toString();
        }
    }

    private static Puri user(String identifier) {
        return Puri.of("music", "users", identifier);
    }

    static Stream<Column<?, ?>> columns() {
        return Stream.of(
                new Column<>(USERS.asLong(), random -> user(Long.toString(random.nextLong() >>> 1)), false),
                new Column<>(USERS.asSortableLong(12), random -> user(Names.base36(random, 12)), true),
                new Column<>(USERS.asUuid(), random -> user(Names.uuid(random).toString()), true),
                new Column<>(
                        USERS.asUuidBinary(), random -> user(Names.uuid(random).toString()), true),
                new Column<>(USERS.asText(), random -> user(Names.plain(random)), true),
                new Column<>(PuriColumns.anyAsText(), Names::puri, true),
                new Column<>(HandleColumns.asText(), Names::handle, true),
                new Column<>(HandleColumns.asBinary(), Names::handle, true),
                new Column<>(HandleColumns.asBinary(TRK), random -> Names.handle(random, TRK), true));
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private static <N, C> void insert(Connection connection, ColumnMapping<N, C> mapping, List<N> names)
            throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into names values (?, ?)")) {
            for (int i = 0; i < names.size(); i++) {
                insert.setInt(1, i);
                mapping.set(insert, 2, names.get(i));
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    @ParameterizedTest
    @MethodSource("columns")
    <N, C> void aNameRoundTripsInItsOrderAndIsFoundByTheIndex(Column<N, C> column) throws SQLException {
        ColumnMapping<N, C> mapping = column.mapping();
        long seed = Long.getLong("puri.seed", System.nanoTime());
        Random random = Property.random(seed);
        List<N> names = new ArrayList<>(
                Stream.generate(() -> column.names().apply(random)).limit(ROWS).toList());
        names.add(null);
        try (Connection connection = connect()) {
            execute(
                    connection,
                    "drop table if exists names",
                    "create table names (id int primary key, " + mapping.columnSql(dialect(), "name") + ")",
                    mapping.indexSql("names", "name"));
            insert(connection, mapping, names);
            execute(connection, "analyze");

            assertThat(select(connection, mapping, "select name from names order by id"))
                    .as("seed %d", seed)
                    .isEqualTo(names);
            if (column.isOrderedByText()) {
                assertThat(select(connection, mapping, "select name from names where name is not null order by name"))
                        .as("seed %d", seed)
                        .isSortedAccordingTo(Comparator.comparing(Object::toString));
            }
            N wanted = names.get(random.nextInt(ROWS));
            assertThat(find(connection, mapping, "select id from names where name = ?", wanted))
                    .as("seed %d", seed)
                    .contains(String.valueOf(names.indexOf(wanted)));
            assertThat(String.join(
                                    "\n",
                                    find(connection, mapping, "explain select id from names where name = ?", wanted))
                            .toLowerCase(Locale.ROOT))
                    .contains("names_name_idx");
        }
    }

    private static <N, C> List<N> select(Connection connection, ColumnMapping<N, C> mapping, String query)
            throws SQLException {
        List<N> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.add(mapping.get(rows, "name"));
            }
        }
        return found;
    }

    private static <N, C> List<String> find(Connection connection, ColumnMapping<N, C> mapping, String query, N name)
            throws SQLException {
        List<String> found = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            mapping.set(statement, 1, name);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
            }
        }
        return found;
    }

    @Test
    void theColumnsOrderIsThatOfCreation() throws SQLException {
        inOrder(Identifiers.sortable(9, 4, Identifiers.BASE_36), USERS.asSortableLong(13));
        inOrder(Identifiers.sortable(), USERS.asText());
        inOrder(Identifiers.uuid(), USERS.asUuid());
        inOrder(Identifiers.uuid(), USERS.asUuidBinary());
    }

    private <C> void inOrder(Identifiers identifiers, ColumnMapping<Puri, C> mapping) throws SQLException {
        Identities users = new Identities("music", "users", null, identifiers);
        List<Puri> created =
                Stream.generate(() -> users.mint().puri()).limit(1000).toList();
        List<Puri> shuffled = new ArrayList<>(created);
        Collections.shuffle(shuffled, new Random(7));
        try (Connection connection = connect()) {
            execute(
                    connection,
                    "drop table if exists names",
                    "create table names (id int primary key, " + mapping.columnSql(dialect(), "name") + ")");
            insert(connection, mapping, shuffled);
            assertThat(select(connection, mapping, "select name from names order by name"))
                    .as(mapping.toString())
                    .isEqualTo(created);
        }
    }

    @Test
    void aColumnOfSeveralCollectionsKeepsThemApart() throws SQLException {
        PuriMappings<Long> subjects = PuriMappings.of(1, USERS.asLong())
                .and(2, PuriColumns.of("music", "tracks").asSortableLong(3));
        List<Puri> puris = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            puris.add(i % 2 == 0 ? user(Integer.toString(i)) : subjects.load(2, (long) i));
        }
        puris.add(null);
        try (Connection connection = connect()) {
            execute(
                    connection,
                    "drop table if exists names",
                    "create table names (id int primary key, " + subjects.columnsSql(dialect(), "name") + ")",
                    subjects.indexSql("names", "name"));
            try (PreparedStatement insert = connection.prepareStatement("insert into names values (?, ?, ?)")) {
                for (int i = 0; i < puris.size(); i++) {
                    insert.setInt(1, i);
                    subjects.set(insert, 2, puris.get(i));
                    insert.addBatch();
                }
                insert.executeBatch();
            }
            execute(connection, "analyze");
            List<Puri> found = new ArrayList<>();
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select name_collection, name from names order by id")) {
                while (rows.next()) {
                    found.add(subjects.get(rows, 1));
                }
            }
            assertThat(found).isEqualTo(puris);
            try (PreparedStatement explain = connection.prepareStatement(
                    "explain select id from names where name_collection = ? and name = ?")) {
                subjects.set(explain, 1, puris.get(7));
                try (ResultSet rows = explain.executeQuery()) {
                    StringBuilder plan = new StringBuilder();
                    while (rows.next()) {
                        plan.append(rows.getString(1)).append('\n');
                    }
                    assertThat(plan.toString().toLowerCase(Locale.ROOT)).contains("names_name_idx");
                }
            }
            execute(connection, "update names set name = null where id = 3");
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select name_collection, name from names where id = 3")) {
                rows.next();
                assertThatThrownBy(() -> subjects.get(rows, 1)).isInstanceOf(UnmappableNameException.class);
            }
        }
    }

    @Test
    void aNameThatDoesNotFitSetsNoParameter() throws SQLException {
        try (Connection connection = connect();
                PreparedStatement select = connection.prepareStatement("select cast(? as bigint)")) {
            assertThatThrownBy(() -> USERS.asLong().set(select, 1, user("007")))
                    .isInstanceOf(UnmappableNameException.class);
        }
    }

    @Test
    void aHandleThatSomebodyElseWroteIsRefusedWhenItIsRead() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select cast('TRK_4k7vx9tz2nqr8w3' as varchar(19))")) {
            rows.next();
            ColumnMapping<Handle, String> handles = HandleColumns.asText();
            assertThatThrownBy(() -> handles.get(rows, 1)).isInstanceOf(UnmappableNameException.class);
        }
    }
}
