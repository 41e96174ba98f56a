package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/**
 * Three PostgreSQL servers with rows for {@link ImportScaleIT}, some of which have conflicts, and what the import must
 * make of them.
 */
final class ImportScaleData implements AutoCloseable {
    static final int SHARDS = 3;
    static final String OWNER = "catalog";

    private static final String TAKEN_SHARD = "old-1";

    private final int rowsPerShard;
    private final Random random;

    /** Number of rows with each kind of conflict. */
    private final int plantedCount;

    private final List<EmbeddedPostgres> servers = new ArrayList<>();
    private final List<Set<Integer>> used = List.of(new HashSet<>(), new HashSet<>(), new HashSet<>());
    private final List<Planted> conflicts = new ArrayList<>();
    private final List<Taken> taken = new ArrayList<>();

    /** A row of a shard; the first row has number 1. */
    record Place(int shard, int row) {}

    /**
     * A row with a conflict.
     *
     * @param other the row that has its name or handle; null if there is none
     */
    record Planted(Place place, String kind, Place other) {}

    /** The part of a row that the registry has before the import. */
    enum Holding {
        /** The pURI, with another uuid and shard. */
        PURI,
        /** The handle, for another pURI. */
        HANDLE,
        /** The identity as the row has it. */
        SAME
    }

    record Taken(Place place, Holding holding) {}

    /** An identity as text: {@code uuid owner shard handle}. */
    record Identity(String puri, String text) {}

    /** The names of one import of the data. */
    record Target(String namespace, String prefix) {
        String collection() {
            return namespace + ":tracks";
        }
    }

    /**
     * Starts the servers and fills them.
     *
     * @param seed chooses the rows with conflicts
     */
    ImportScaleData(int rowsPerShard, long seed) throws Exception {
        this.rowsPerShard = rowsPerShard;
        this.random = new Random(seed);
        this.plantedCount = Math.max(5, SHARDS * rowsPerShard / 2_000);
        try {
            for (int shard = 0; shard < SHARDS; shard++) {
                servers.add(EmbeddedPostgres.builder()
                        .setPGStartupWait(Duration.ofSeconds(60))
                        .start());
            }
            createRows();
            plantConflicts();
        } catch (Exception e) {
            close();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        for (EmbeddedPostgres server : servers) {
            server.close();
        }
    }

    int rowCount() {
        return SHARDS * rowsPerShard;
    }

    /** Returns the number of rows that the registry has something of. */
    int takenCount() {
        return taken.size();
    }

    private void createRows() throws Exception {
        for (int shard = 0; shard < SHARDS; shard++) {
            try (Connection connection = connect(shard);
                    Statement statement = connection.createStatement()) {
                statement.execute(
                        "create table tracks (id int primary key, name text, uuid text, owner text, body text,"
                                + " title text)");
                String name = "'Track-" + shard + "-' || n";
                statement.execute("insert into tracks select n, " + name
                        + ", overlay(overlay(md5(" + name + ") placing '8' from 13) placing 'a' from 17)::uuid::text, '"
                        + OWNER + "', case when n % 3 > 0 then '" + (shard + 1)
                        + "' || translate(lpad(n::text, 14, '0'), '0', 'z') end, 'Track number ' || n"
                        + " from generate_series(1, " + rowsPerShard + ") n");
            }
        }
    }

    private void plantConflicts() throws Exception {
        for (int i = 0; i < plantedCount; i++) {
            plant("MALFORMED", anyShard(), "name", null);
            plant("MALFORMED", anyShard(), "name", "a control character \u0001");
            plant("MALFORMED", anyShard(), "name", "x".repeat(256));
            plant("MALFORMED", anyShard(), "title", "x".repeat(33_000));
            plant("MALFORMED", 0, "uuid", "not a uuid");
            plant("MALFORMED", 1, "body", "not a handle");
            plant("NOT_ALLOWED", anyShard(), "owner", "stranger");

            int shard = anyShard();
            Place first = pick(shard);
            plantAfter(
                    "DUPLICATE_IN_SHARD",
                    first,
                    pick(shard),
                    "name",
                    name(first).toUpperCase(Locale.ROOT));
            first = pick(random.nextInt(SHARDS - 1));
            plantAfter("DUPLICATE_BETWEEN_SHARDS", first, pick(SHARDS - 1), "name", name(first));
            first = pick(random.nextInt(2));
            update(first, "body", body(first));
            plantAfter("DUPLICATE_HANDLE", first, pick(1), "body", body(first));

            taken.add(new Taken(pick(anyShard()), Holding.PURI));
            Place ofHandle = pick(anyShard());
            update(ofHandle, "body", body(ofHandle));
            taken.add(new Taken(ofHandle, Holding.HANDLE));
            taken.add(new Taken(pick(anyShard()), Holding.SAME));
        }
        for (Taken each : taken) {
            if (each.holding() != Holding.SAME) {
                conflicts.add(new Planted(each.place(), each.holding() + "_TAKEN", null));
            }
        }
        conflicts.sort(Comparator.comparing((Planted planted) -> planted.place().shard())
                .thenComparing(planted -> planted.place().row()));
    }

    private int anyShard() {
        return random.nextInt(SHARDS);
    }

    /** Returns a row that nothing else uses. */
    private Place pick(int shard) {
        int row;
        do {
            row = 1 + random.nextInt(rowsPerShard);
        } while (!used.get(shard).add(row));
        return new Place(shard, row);
    }

    private void plant(String kind, int shard, String column, String value) throws Exception {
        Place place = pick(shard);
        update(place, column, value);
        conflicts.add(new Planted(place, kind, null));
    }

    /** Plants a value that the first of two rows has too, in the later one of them. */
    private void plantAfter(String kind, Place first, Place second, String column, String value) throws Exception {
        boolean isLater =
                second.shard() > first.shard() || second.shard() == first.shard() && second.row() > first.row();
        update(second, column, value);
        conflicts.add(isLater ? new Planted(second, kind, first) : new Planted(first, kind, second));
    }

    private void update(Place place, String column, String value) throws Exception {
        try (Connection connection = connect(place.shard());
                PreparedStatement statement =
                        connection.prepareStatement("update tracks set " + column + " = ? where id = ?")) {
            statement.setString(1, value);
            statement.setInt(2, place.row());
            assertThat(statement.executeUpdate()).isOne();
        }
    }

    private static String name(Place place) {
        return "Track-" + place.shard() + "-" + place.row();
    }

    private static String body(Place place) {
        return (place.shard() + 1) + "%014d".formatted(place.row()).replace('0', 'z');
    }

    /** Returns the identities that the registry has before the import. */
    List<Identity> holders(Target target) throws Exception {
        List<Identity> holders = new ArrayList<>();
        for (Taken each : taken) {
            Identity planned = identity(target, each.place());
            String[] parts = planned.text().split(" ");
            UUID other = hashed("other " + planned.puri());
            holders.add(
                    switch (each.holding()) {
                        case PURI -> new Identity(planned.puri(), other + " " + OWNER + " " + TAKEN_SHARD + " null");
                        case HANDLE ->
                            new Identity(
                                    planned.puri() + "-holder",
                                    other + " " + OWNER + " " + TAKEN_SHARD + " " + parts[3]);
                        case SAME -> planned;
                    });
        }
        return holders;
    }

    private Identity identity(Target target, Place place) throws Exception {
        try (Connection connection = connect(place.shard());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select * from tracks where id = " + place.row())) {
            assertThat(row.next()).isTrue();
            return identity(target, place.shard(), row);
        }
    }

    /** Returns the identity that the import must make from a row. This is written independently of the import. */
    private static Identity identity(Target target, int shard, ResultSet row) throws Exception {
        String puri = target.collection() + ":" + row.getString("name").toLowerCase(Locale.ROOT);
        String uuid = shard == 0
                ? row.getString("uuid")
                : hashed("puri import uuid " + puri).toString();
        String handle = shard == 2
                ? target.prefix() + "_" + generatedBody(puri)
                : row.getString("body") == null ? "null" : target.prefix() + "_" + row.getString("body");
        return new Identity(puri, uuid + " " + row.getString("owner") + " br-" + shard + " " + handle);
    }

    /** Returns a uuid of version 8 from SHA-256. */
    private static UUID hashed(String name) throws Exception {
        ByteBuffer hash = sha256(name);
        return new UUID(
                hash.getLong() & 0xffff_ffff_ffff_0fffL | 0x8000L,
                hash.getLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L);
    }

    /** Returns the letters of a generated handle: 5 bits of a SHA-256 each. */
    private static String generatedBody(String puri) throws Exception {
        String bits = new BigInteger(1, sha256("puri import handle " + puri).array()).toString(2);
        String padded = "0".repeat(256 - bits.length()) + bits;
        StringBuilder letters = new StringBuilder();
        for (int i = 0; i < 15; i++) {
            letters.append("123456789abcdefghjkmnpqrstuvwxyz"
                    .charAt(Integer.parseInt(padded.substring(5 * i, 5 * i + 5), 2)));
        }
        return letters.toString();
    }

    private static ByteBuffer sha256(String text) throws Exception {
        return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private Connection connect(int shard) throws Exception {
        return servers.get(shard).getPostgresDatabase().getConnection();
    }

    Path mapping(Target target, Path folder) throws IOException {
        StringBuilder yaml = new StringBuilder("source: legacy\ninputs:\n");
        for (int shard = 0; shard < SHARDS; shard++) {
            yaml.append("""
                      - jdbc: %s
                        user: postgres
                        query: select id, name, uuid, owner, body, title from tracks order by id
                        puri: %s:{name}
                        owner: "{owner}"
                        shard: br-%d
                        handle: %s
                        attributes: {title: "{title}"}
                    """.formatted(
                            url(shard),
                            target.collection(),
                            shard,
                            shard == 2 ? "generated" : '"' + target.prefix() + "_{body}\""));
            if (shard == 0) {
                yaml.append("    uuid: \"{uuid}\"\n");
            }
        }
        return Files.writeString(folder.resolve(target.namespace() + ".yaml"), yaml);
    }

    private String url(int shard) {
        return "jdbc:postgresql://localhost:" + servers.get(shard).getPort() + "/postgres";
    }

    long count(Holding holding) {
        return taken.stream().filter(each -> each.holding() == holding).count();
    }

    /** Returns the conflicts of a plan, as {@link #conflict} does. */
    List<String> expectedConflicts(Target target) throws Exception {
        Map<String, String> holders = new HashMap<>();
        for (Identity holder : holders(target)) {
            holders.put(holder.puri(), holder.text().split(" ")[0]);
        }
        List<String> lines = new ArrayList<>();
        for (Planted planted : conflicts) {
            Place place = planted.place();
            boolean isMalformed = planted.kind().equals("MALFORMED");
            Identity identity = isMalformed ? new Identity("", "") : identity(target, place);
            String[] parts = identity.text().split(" ");
            String other = planted.other() == null
                    ? ""
                    : "row " + planted.other().row() + " of "
                            + url(planted.other().shard()) + " in shard br-"
                            + planted.other().shard();
            String detail = switch (planted.kind()) {
                case "MALFORMED" -> "";
                case "NOT_ALLOWED" -> "the owner stranger is not an owner of the collection " + target.collection();
                case "DUPLICATE_HANDLE" -> "the handle " + parts[3] + " is that of " + other;
                case "PURI_TAKEN" ->
                    "uuid: the row has " + parts[0] + ", the registry has " + holders.get(identity.puri())
                            + "; shard: the row has " + parts[2] + ", the registry has " + TAKEN_SHARD
                            + (parts[3].equals("null")
                                    ? ""
                                    : "; handle: the row has " + parts[3] + ", the registry has null");
                case "HANDLE_TAKEN" ->
                    "the registry has the handle " + parts[3] + " for " + identity.puri() + "-holder";
                default -> "the pURI is that of " + other;
            };
            lines.add(String.join(
                    " | ", url(place.shard()), String.valueOf(place.row()), identity.puri(), planted.kind(), detail));
        }
        return lines;
    }

    /** Returns the identities that a collection must have after the import, by pURI, as text. */
    Map<String, String> expectedRows(Target target) throws Exception {
        Map<String, String> expected = new HashMap<>();
        holders(target).forEach(identity -> expected.put(identity.puri(), identity.text()));
        Set<Place> notImported = new HashSet<>();
        conflicts.forEach(planted -> notImported.add(planted.place()));
        for (int shard = 0; shard < SHARDS; shard++) {
            try (Connection connection = connect(shard);
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select * from tracks")) {
                while (rows.next()) {
                    if (!notImported.contains(new Place(shard, rows.getInt("id")))) {
                        Identity identity = identity(target, shard, rows);
                        expected.put(identity.puri(), identity.text());
                    }
                }
            }
        }
        return expected;
    }

    /** Returns a conflict of the plan as text; of a malformed row without the detail, which other tests check. */
    static String conflict(JsonNode line) {
        String kind = line.path("kind").asText();
        boolean isMalformed = kind.equals("MALFORMED");
        return String.join(
                " | ",
                line.path("input").asText(),
                line.path("row").asText(),
                isMalformed ? "" : line.path("puri").asText(),
                kind,
                isMalformed ? "" : line.path("detail").asText());
    }
}
