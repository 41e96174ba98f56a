package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.log.Topics;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code puri import} of three PostgreSQL servers whose rows have conflicts of all kinds. The command is killed five
 * times, by SIGKILL at seeded points of its stages. Its result must be that of an import that was not interrupted.
 *
 * <p>{@code -Dpuri.import.rows=1000000} sets the number of rows, {@code -Dpuri.import.seed=SEED} the points of the kills
 * and the rows with conflicts.
 */
class ImportScaleIT {
    private static final int ROWS = Integer.getInteger("puri.import.rows", 20_000);
    private static final long SEED = Long.getLong("puri.import.seed", 1);

    private static final int SHARDS = 3;
    private static final int ROWS_PER_SHARD = ROWS / SHARDS;

    /** Number of rows with each kind of conflict. */
    private static final int PLANTED = Math.max(5, ROWS / 2_000);

    /** A load takes as many seconds as this, so that each of its kills comes in time. */
    private static final int LOAD_SECONDS = 6;

    private static final int RATE = ROWS / LOAD_SECONDS;
    private static final int LOAD_KILLS = 3;
    private static final int LOOK_UP_BATCH = 500;

    /** The batches that a killed load has published and not written down, and their size. */
    private static final int UNKNOWN_EVENTS = 3 * Math.min(5_000, RATE / 10);

    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    private static final String OWNER = "catalog";
    private static final String TAKEN_SHARD = "old-1";
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static Map<String, String> environment;
    private static final List<EmbeddedPostgres> servers = new ArrayList<>();

    private final Random random = new Random(SEED);
    private final List<Set<Integer>> used = List.of(new HashSet<>(), new HashSet<>(), new HashSet<>());
    private final List<Planted> conflicts = new ArrayList<>();
    private final List<Taken> taken = new ArrayList<>();

    @TempDir
    private Path folder;

    /** A row of a shard; the first row has number 1. */
    private record Place(int shard, int row) {}

    /**
     * A row with a conflict.
     *
     * @param other the row that has its name or handle; null if there is none
     */
    private record Planted(Place place, String kind, Place other) {}

    /** What the registry has of a row before the import. */
    private enum Holding {
        /** The pURI, with another uuid and shard. */
        PURI,
        /** The handle, for another pURI. */
        HANDLE,
        /** The identity as the row has it. */
        SAME
    }

    private record Taken(Place place, Holding holding) {}

    /** An identity as text: {@code uuid owner shard handle}. */
    private record Identity(String puri, String text) {}

    /** The names of one import of the data. */
    private record Target(String namespace, String prefix) {
        String collection() {
            return namespace + ":tracks";
        }
    }

    @BeforeAll
    static void start() throws Exception {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(data), step -> {});
        environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl(),
                "PURI_RESOLVER", stack.resolverUrl());
        for (int shard = 0; shard < SHARDS; shard++) {
            servers.add(EmbeddedPostgres.builder()
                    .setPGStartupWait(Duration.ofSeconds(60))
                    .start());
        }
    }

    @AfterAll
    static void stop() throws IOException {
        for (EmbeddedPostgres server : servers) {
            server.close();
        }
        stack.close();
    }

    @Test
    void anImportThatIsKilledFiveTimesEqualsAnUninterruptedOne() throws Exception {
        System.out.println("puri import of " + SHARDS * ROWS_PER_SHARD + " rows, killed 5 times, seed " + SEED);
        createRows();
        plantConflicts();
        Target whole = new Target("whole", "whl");
        Target killed = new Target("killed", "kil");
        prepare(whole);
        prepare(killed);

        Path wholeFolder = Files.createDirectory(folder.resolve("whole"));
        Path wholeMapping = mapping(whole);
        plan(wholeMapping, wholeFolder);
        load(wholeFolder);
        verify(wholeFolder);
        assertThat(conflictsIn(wholeFolder)).as("seed " + SEED).isEqualTo(expectedConflicts(whole));
        requireEqual(whole);

        Path killedFolder = Files.createDirectory(folder.resolve("killed"));
        Path killedMapping = mapping(killed);
        killAtLookUp(inputBatches(), "plan", "-f", killedMapping.toString(), "-d", killedFolder.toString());
        assertThat(killedFolder.resolve("plan")).doesNotExist();
        plan(killedMapping, killedFolder);
        long eventsBefore = eventCount();
        killLoads(killedFolder);
        load(killedFolder);
        long newRows = plannedRows(killedFolder) - count(Holding.SAME);
        assertThat(eventCount() - eventsBefore)
                .as("events of a load that continues where it was killed, seed " + SEED)
                .isBetween(newRows, newRows + LOAD_KILLS * UNKNOWN_EVENTS);
        killAtLookUp(
                Math.toIntExact(plannedRows(killedFolder)) / LOOK_UP_BATCH, "verify", "-d", killedFolder.toString());
        assertThat(puri("import", "open", "-d", killedFolder.toString()).err())
                .contains("run first: puri import verify");
        verify(killedFolder);
        assertThat(conflictsIn(killedFolder)).as("seed " + SEED).isEqualTo(expectedConflicts(killed));
        requireEqual(killed);

        aSecondRunChangesNothing(killedMapping, killedFolder);
        CommandLineRun open = puri("import", "open", "-d", killedFolder.toString());
        assertThat(open.out()).as(open.err()).contains("opened   killed:tracks");
    }

    private void aSecondRunChangesNothing(Path mapping, Path first) throws Exception {
        Path again = Files.createDirectory(folder.resolve("again"));
        long events = eventCount();
        JsonNode plan = plan(mapping, again);
        assertThat(plan.path("present")).isEqualTo(plan.path("rows"));
        assertThat(plan.path("rows").asLong()).isEqualTo(plannedRows(first));
        assertThat(again.resolve("plan/conflicts.ndjson"))
                .hasSameTextualContentAs(first.resolve("plan/conflicts.ndjson"));
        load(again);
        assertThat(eventCount()).isEqualTo(events);
    }

    private static void createRows() throws Exception {
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
                        + " from generate_series(1, " + ROWS_PER_SHARD + ") n");
            }
        }
    }

    private void plantConflicts() throws Exception {
        for (int i = 0; i < PLANTED; i++) {
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
            row = 1 + random.nextInt(ROWS_PER_SHARD);
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

    private static void update(Place place, String column, String value) throws Exception {
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

    /** Registers what the registry has before the import, and closes the collection for everybody else. */
    private void prepare(Target target) throws Exception {
        String declaration = "collections:\n  - {name: " + target.collection() + ", prefix: " + target.prefix()
                + ", owners: [" + OWNER + "], search: false";
        apply(declaration + "}\n");
        StringBuilder events = new StringBuilder();
        for (Identity identity : holders(target)) {
            String[] parts = identity.text().split(" ");
            events.append(
                    "{\"type\":\"created\",\"puri\":\"%s\",\"uuid\":\"%s\",\"owner\":\"%s\",\"shard\":\"%s\",\"handle\":%s}\n"
                            .formatted(
                                    identity.puri(),
                                    parts[0],
                                    parts[1],
                                    parts[2],
                                    parts[3].equals("null") ? "null" : '"' + parts[3] + '"'));
        }
        CommandLineRun created = CommandLineRun.reading(environment, events.toString(), "publish", "-f", "-", "--wait");
        assertThat(created.status()).as(created.err()).isZero();
        apply(declaration + ", mode: IMPORT, importer: legacy}\n");
        await().atMost(Duration.ofMinutes(1)).until(() -> export(target).size() == taken.size());
    }

    /** Returns the identities that the registry has before the import. */
    private List<Identity> holders(Target target) throws Exception {
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

    private static Identity identity(Target target, Place place) throws Exception {
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

    private static Connection connect(int shard) throws Exception {
        return servers.get(shard).getPostgresDatabase().getConnection();
    }

    private Path mapping(Target target) throws IOException {
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

    private static String url(int shard) {
        return "jdbc:postgresql://localhost:" + servers.get(shard).getPort() + "/postgres";
    }

    private static JsonNode plan(Path mapping, Path folder) {
        return stage(3, "plan", "-f", mapping.toString(), "-d", folder.toString());
    }

    private static void load(Path folder) {
        stage(0, "load", "-d", folder.toString());
    }

    private static void verify(Path folder) {
        JsonNode result = stage(0, "verify", "-d", folder.toString(), "--wait", "900");
        assertThat(result.path("differences").asInt()).isZero();
    }

    private static JsonNode stage(int status, String... args) {
        List<String> all = new ArrayList<>(List.of("-o", "json", "import"));
        all.addAll(List.of(args));
        long start = System.nanoTime();
        CommandLineRun run = puri(all.toArray(String[]::new));
        assertThat(run.status()).as(run.err()).isEqualTo(status);
        System.out.printf("import %s: %.1f s%n", args[0], (System.nanoTime() - start) / 1e9);
        return Json.parse(run.out());
    }

    /** Runs a stage in a process, and kills it when it has asked the resolver for a seeded number of batches. */
    private void killAtLookUp(int batches, String... args) throws Exception {
        int answered = random.nextInt(batches * 4 / 5);
        try (LookUpProxy proxy = new LookUpProxy(stack.resolverUrl(), answered);
                PuriProcess process = process(proxy.url(), args)) {
            assertThat(proxy.awaitUnanswered(TIMEOUT.toSeconds())).as(errors()).isTrue();
            process.kill();
        }
        System.out.println("import " + args[0] + " was killed after look-up " + answered + " of " + batches);
    }

    /** Loads, and kills the process several times when it has loaded seeded numbers of rows. */
    private void killLoads(Path folder) throws Exception {
        long rows = plannedRows(folder);
        int[] points = random.ints(LOAD_KILLS, 0, Math.toIntExact(rows * 7 / 10))
                .sorted()
                .toArray();
        for (int point : points) {
            long before = loadedRows(folder);
            try (PuriProcess load =
                    process(stack.resolverUrl(), "load", "-d", folder.toString(), "--rate", String.valueOf(RATE))) {
                await().atMost(TIMEOUT)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> loadedRows(folder) > Math.max(before, point));
                load.kill();
            }
            long loaded = loadedRows(folder);
            System.out.println("import load was killed after row " + loaded + " of " + rows);
            assertThat(loaded).as("seed " + SEED).isLessThan(rows);
        }
    }

    private PuriProcess process(String resolver, String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of("import"));
        all.addAll(List.of(args));
        all.addAll(List.of("--bootstrap-server", stack.bootstrapServers()));
        all.addAll(List.of("--schema-registry", stack.schemaRegistryUrl(), "--resolver", resolver));
        return new PuriProcess(folder.resolve("errors.txt"), all.toArray(String[]::new));
    }

    private String errors() throws IOException {
        return Files.readString(folder.resolve("errors.txt"));
    }

    private static int inputBatches() {
        return SHARDS * Math.ceilDiv(ROWS_PER_SHARD, LOOK_UP_BATCH);
    }

    private static long plannedRows(Path folder) throws IOException {
        return Json.parse(Files.readString(folder.resolve("plan/plan.json")))
                .path("rows")
                .asLong();
    }

    private static long loadedRows(Path folder) throws IOException {
        try {
            return Json.parse(Files.readString(folder.resolve("load.json")))
                    .path("rows")
                    .asLong();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private long count(Holding holding) {
        return taken.stream().filter(each -> each.holding() == holding).count();
    }

    /** Returns the conflicts as lines; of malformed rows without the detail, whose text other tests check. */
    private static List<String> conflictsIn(Path folder) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("plan/conflicts.ndjson"))) {
            JsonNode conflict = Json.parse(line);
            String kind = conflict.path("kind").asText();
            lines.add(String.join(
                    " | ",
                    conflict.path("input").asText(),
                    conflict.path("row").asText(),
                    kind.equals("MALFORMED") ? "" : conflict.path("puri").asText(),
                    kind,
                    kind.equals("MALFORMED") ? "" : conflict.path("detail").asText()));
        }
        return lines;
    }

    private List<String> expectedConflicts(Target target) throws Exception {
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

    /** Compares all rows of a collection with those that the import must make of the data. */
    private void requireEqual(Target target) throws Exception {
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
        Map<String, String> registered = export(target);
        assertThat(registered).hasSameSizeAs(expected);
        // AssertJ would print a million rows.
        registered.forEach(
                (puri, text) -> assertThat(text).as(puri + ", seed " + SEED).isEqualTo(expected.get(puri)));
        System.out.println("compared " + registered.size() + " rows of " + target.collection());
    }

    private static Map<String, String> export(Target target) throws IOException {
        Map<String, String> rows = new HashMap<>();
        URI uri = URI.create(stack.resolverUrl() + "/v1/export?collection=" + target.collection());
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(uri.toURL().openStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode row = JSON.readTree(line);
                if (row.has("puri")) {
                    assertThat(row.path("status").asText()).isEqualTo("active");
                    assertThat(row.path("epoch").asInt()).isOne();
                    rows.put(
                            row.path("puri").asText(),
                            String.join(
                                    " ",
                                    row.path("uuid").asText(),
                                    row.path("owner").asText(),
                                    row.path("shard").asText(),
                                    row.hasNonNull("handle")
                                            ? row.path("handle").asText()
                                            : "null"));
                }
            }
        }
        return rows;
    }

    /** Returns the number of events in the log. */
    private static long eventCount() {
        Map<String, Object> properties = Map.of("bootstrap.servers", stack.bootstrapServers());
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(Topics.EVENTS).stream()
                    .map(info -> new TopicPartition(Topics.EVENTS, info.partition()))
                    .toList();
            return consumer.endOffsets(partitions).values().stream()
                    .mapToLong(end -> end)
                    .sum();
        }
    }

    private static void apply(String yaml) {
        CommandLineRun run = CommandLineRun.reading(environment, yaml, "collections", "apply", "-f", "-");
        assertThat(run.status()).as(run.err()).isZero();
    }

    private static CommandLineRun puri(String... args) {
        return CommandLineRun.of(environment, args);
    }
}
