package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code puri import} from three PostgreSQL databases and from files, into the whole registry. */
class ImportIT {
    private static final int ROWS_PER_SHARD = 1_500;
    private static final int SHARDS = 3;

    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static EmbeddedPostgres postgres;
    private static Map<String, String> environment;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() throws Exception {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(data), step -> {});
        environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl(),
                "PURI_RESOLVER", stack.resolverUrl(),
                "SHARD_PASSWORD", "any");
        postgres = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofSeconds(60))
                .start();
        for (int shard = 1; shard <= SHARDS; shard++) {
            execute("postgres", "create database shard_" + shard);
            execute(
                    "shard_" + shard,
                    "create table tracks (id int primary key, name text, title text, handle text)",
                    "insert into tracks select n, " + shard + " || '-' || n, 'Track ' || n, null"
                            + " from generate_series(1, " + ROWS_PER_SHARD + ") n");
        }
        // The same object in two shards, twice in a shard, an empty name, and a name that needs escapes.
        execute("shard_2", "update tracks set name = '1-7' where id = 20");
        execute("shard_3", "update tracks set name = '3-1' where id = 30");
        execute("shard_3", "update tracks set name = null where id = 40");
        execute("shard_3", "update tracks set name = 'AC/DC: live' where id = 50");
    }

    @AfterAll
    static void stop() throws IOException {
        postgres.close();
        stack.close();
    }

    @Test
    void aKilledImportOfThreeShardsEndsLikeAnUninterruptedOne() throws Exception {
        apply("collections:\n  - {name: killed:tracks, prefix: klt, mode: IMPORT, importer: legacy}\n");
        Path mapping = mapping("killed:tracks", "    handle: generated\n");

        CommandLineRun plan = puri("-o", "json", "import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(plan.status()).as(plan.err()).isEqualTo(3);
        JsonNode counts = Json.parse(plan.out());
        assertThat(counts.path("rows").asInt()).isEqualTo(SHARDS * ROWS_PER_SHARD - 3);
        assertThat(counts.path("conflicts").toString())
                .isEqualTo("{\"MALFORMED\":1,\"DUPLICATE_IN_SHARD\":1,\"DUPLICATE_BETWEEN_SHARDS\":1}");
        assertThat(Files.readAllLines(folder.resolve("plan/conflicts.ndjson")))
                .hasSize(3)
                .anySatisfy(line -> assertThat(line)
                        .contains("\"row\":20,\"puri\":\"killed:tracks:1-7\"", "row 7 of", "in shard br-1"))
                .anySatisfy(line -> assertThat(line)
                        .contains("\"row\":30,\"puri\":\"killed:tracks:3-1\"", "row 1 of", "in shard br-3"))
                .anySatisfy(line -> assertThat(line).contains("\"row\":40,\"kind\":\"MALFORMED\"", "name is empty"));

        Random random = new Random(7);
        for (int done = 0; done < 3_000; done = loadedRows()) {
            killTheLoadAfter(done + 1 + random.nextInt(800));
        }
        CommandLineRun load = puri("import", "load", "-d", folder.toString());
        assertThat(load.status()).as(load.err()).isZero();
        CommandLineRun verify = verify(folder, "-o", "json");
        assertThat(verify.err().lines().filter(line -> !line.contains("rows compared, ")))
                .as("messages other than the progress, which a slow machine shows")
                .isEmpty();
        assertThat(verify.out())
                .isEqualTo(
                        "{\"rows\":" + (SHARDS * ROWS_PER_SHARD - 3) + ",\"differences\":0}" + System.lineSeparator());

        assertThat(resolve("killed:tracks:AC%2FDC%3A%20live").path("shard").asText())
                .isEqualTo("br-3");
        assertThat(resolve("killed:tracks:1-7").path("shard").asText()).isEqualTo("br-1");
        assertThat(resolve("killed:tracks:1-7").path("handle").asText()).startsWith("klt_");

        // A second run changes nothing.
        Path again = folder.resolve("again");
        CommandLineRun second = puri("-o", "json", "import", "plan", "-f", mapping.toString(), "-d", again.toString());
        assertThat(Json.parse(second.out()).path("present").asInt()).isEqualTo(SHARDS * ROWS_PER_SHARD - 3);
        assertThat(load(again).path("published").asInt()).isZero();

        // A topology that lost its state needs the rows that resolvers still have.
        JsonNode all = Json.parse(
                "{\"rows\":%1$d,\"published\":%1$d,\"includesPresent\":true}".formatted(SHARDS * ROWS_PER_SHARD - 3));
        assertThat(load(again, "--present")).isEqualTo(all);
        assertThat(load(again, "--present")).isEqualTo(all);
    }

    @Test
    void aCollectionTakesOnlyTheImportersClaimsUntilItIsOpened() throws Exception {
        apply("collections:\n  - {name: closed:tracks, search: true, mode: IMPORT, importer: legacy}\n");
        Path mapping = Files.writeString(folder.resolve("mapping.yaml"), """
                source: legacy
                uuids: v5
                inputs:
                  - csv: tracks.csv
                    puri: "{puri}"
                    owner: catalog
                    shard: "br-{shard}"
                    attributes: {title: "{title}"}
                  - ndjson: more.ndjson
                    puri: closed:tracks:{id}
                    uuid: "{uuid}"
                    owner: "{owner}"
                    shard: br-9
                """);
        Files.writeString(
                folder.resolve("tracks.csv"),
                "\uFEFFpuri,shard,title\r\nclosed:tracks:1,1,\"One, \"\"two\"\"\"\r\nClosed:Tracks:2,2,\r\nno puri,2,x\r\n");
        Files.writeString(
                folder.resolve("more.ndjson"),
                "{\"id\":3,\"uuid\":\"0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f\",\"owner\":\"rights\"}\n");
        Path directory = folder.resolve("import");

        CommandLineRun plan = puri("import", "plan", "-f", mapping.toString(), "-d", directory.toString());
        assertThat(plan.status()).as(plan.err()).isEqualTo(3);
        assertThat(plan.out()).contains("planned: ", "MALFORMED: ");
        assertThat(puri("import", "verify", "-d", directory.toString()).err()).contains("puri import load");
        assertThat(puri("import", "open", "-d", directory.toString()).err()).contains("puri import verify");
        assertThat(puri("import", "load", "-d", directory.toString(), "--rate", "100")
                        .status())
                .isZero();
        assertThat(puri("import", "verify", "-d", directory.toString()).status())
                .isZero();
        assertThat(resolve("closed:tracks:3").path("owner").asText()).isEqualTo("rights");
        assertThat(resolve("closed:tracks:1").path("uuid").asText())
                .as("version 5, made with Python's uuid5")
                .isEqualTo("f5fb787d-8ee6-5a8e-be0c-67a2f29596e8");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(puri("identities", "attributes").outLines())
                        .anySatisfy(line -> assertThat(line)
                                .contains(
                                        "\"puri\":\"closed:tracks:1\"",
                                        "\"attributes\":{\"title\":\"One, \\\"two\\\"\"}")));
        assertThat(resolve("closed:tracks:4").path("importing").asBoolean()).isTrue();
        assertThat(claim("closed:tracks:4").err()).contains("NOT_WRITABLE");

        CommandLineRun open = puri("import", "open", "-d", directory.toString());
        assertThat(open.out()).as(open.err()).contains("opened   closed:tracks");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> claim("closed:tracks:4").status() == 0);
        assertThat(puri("import", "load", "-d", directory.toString()).status())
                .as("nothing is left to publish")
                .isZero();
        assertThat(puri("import", "load", "-d", directory.toString(), "--present")
                        .err())
                .contains("closed:tracks is not in mode IMPORT with importer legacy");
    }

    @Test
    void aNamespaceStaysClosedForOtherImportsUntilItIsOpened() throws Exception {
        apply("namespaces:\n  shared: {mode: IMPORT, importer: legacy}\n");
        Path mapping = csvMapping("shared:tracks:{id}", "id\n1\n");
        assertThat(puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString())
                        .status())
                .isZero();
        assertThat(puri("import", "load", "-d", folder.toString()).status()).isZero();
        assertThat(verify(folder).status()).isZero();

        CommandLineRun refused = puri("import", "open", "-d", folder.toString());
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err())
                .contains("the namespace shared is in mode IMPORT by legacy", "this import has only shared:tracks");
        assertThat(claim("shared:users:1").err()).contains("NOT_WRITABLE");

        CommandLineRun open = puri("import", "open", "-d", folder.toString(), "--namespace");
        assertThat(open.status()).isZero();
        assertThat(open.outLines()).containsExactly("opened   shared");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> claim("shared:users:1").status() == 0);
    }

    @Test
    void aDifferenceIsNamedAndKeepsTheCollectionClosed() throws Exception {
        apply("collections:\n  - {name: differs:tracks, mode: IMPORT, importer: legacy}\n");
        Path mapping = csvMapping("differs:tracks:{id}", "id\n1\n2\n");
        assertThat(puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString())
                        .status())
                .isZero();
        assertThat(puri("import", "load", "-d", folder.toString()).status()).isZero();
        CommandLineRun moved = CommandLineRun.reading(
                environment,
                "{\"type\":\"moved\",\"puri\":\"differs:tracks:2\",\"shard\":\"br-5\",\"source\":\"legacy\"}",
                "publish",
                "-f",
                "-",
                "--wait");
        assertThat(moved.status()).as(moved.err()).isZero();

        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            CommandLineRun verify = puri("-o", "json", "import", "verify", "-d", folder.toString(), "--wait", "1");
            assertThat(verify.status()).isEqualTo(1);
            assertThat(verify.out()).contains("\"differences\":1");
        });
        assertThat(Files.readString(folder.resolve("differences.ndjson")))
                .isEqualTo(
                        "{\"puri\":\"differs:tracks:2\",\"detail\":\"shard: the row has br-1, the registry has br-5\"}\n");
        CommandLineRun open = puri("import", "open", "-d", folder.toString());
        assertThat(open.status()).isEqualTo(1);
        assertThat(open.err()).contains("1 rows differ");
    }

    @Test
    void aDifferenceFromTheRegistryIsAConflict() throws Exception {
        apply("collections:\n  - {name: taken:tracks, prefix: tkn}\n");
        String handle = "tkn_111111111111111";
        CommandLineRun created = CommandLineRun.reading(
                environment,
                "{\"type\":\"created\",\"puri\":\"taken:tracks:1\",\"owner\":\"o\",\"shard\":\"s\",\"handle\":\""
                        + handle + "\"}",
                "publish",
                "-f",
                "-",
                "--wait");
        assertThat(created.status()).as(created.err()).isZero();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> puri("resolve", "taken:tracks:1").status() == 0);
        CommandLineRun deleted = CommandLineRun.reading(
                environment,
                "{\"type\":\"created\",\"puri\":\"taken:tracks:5\",\"owner\":\"o\",\"shard\":\"s\",\"handle\":"
                        + "\"tkn_222222222222222\"}\n{\"type\":\"deleted\",\"puri\":\"taken:tracks:5\"}",
                "publish",
                "-f",
                "-",
                "--wait");
        assertThat(deleted.status()).as(deleted.err()).isZero();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> resolve("taken:tracks:5").path("verdict").asText().equals("deleted"));
        Path mapping = csvMapping(
                "taken:tracks:{id}",
                "id,handle\n1,\n2," + handle + "\n3,xxx_111111111111111\n4,\n5,\n6,tkn_222222222222222\n");
        Files.writeString(mapping, Files.readString(mapping) + "    handle: \"{handle}\"\n");

        CommandLineRun plan = puri("-o", "json", "import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(Json.parse(plan.out()).path("conflicts").toString())
                .isEqualTo("{\"NOT_ALLOWED\":1,\"PURI_TAKEN\":2,\"HANDLE_TAKEN\":2}");
        assertThat(Files.readAllLines(folder.resolve("plan/conflicts.ndjson")))
                .extracting(line -> Json.parse(line).path("row").asText() + " "
                        + Json.parse(line).path("kind").asText())
                .containsExactly("1 PURI_TAKEN", "2 HANDLE_TAKEN", "3 NOT_ALLOWED", "5 PURI_TAKEN", "6 HANDLE_TAKEN");
        assertThat(plan.err()).contains("taken:tracks is not in mode IMPORT");
    }

    @Test
    void readsMariaDbWithADriverThatTheMappingNames() throws Exception {
        apply("collections:\n  - {name: maria:tracks, prefix: mar, mode: IMPORT, importer: legacy}\n");
        try (InstalledMariaDb server = InstalledMariaDb.start(folder.resolve("mariadb"))) {
            Path mapping = Files.writeString(folder.resolve("mapping.yaml"), """
                    source: legacy
                    inputs:
                      - jdbc: %s
                        driver: %s
                        user: reader
                        passwordVariable: MARIADB_PASSWORD
                        query: select ID, name, title from tracks order by ID;
                        puri: maria:tracks:{name}
                        owner: catalog
                        shard: br-1
                        handle: generated
                        attributes: {title: "{title}"}
                      - jdbc: %s
                        driver: %s
                        user: reader
                        passwordVariable: MARIADB_PASSWORD
                        query: select ID, uuid from albums order by ID -- by the key
                        puri: maria:tracks:album-{ID}
                        uuid: "{uuid}"
                        owner: catalog
                        shard: br-2
                    """.formatted(
                            server.url(), server.driver(), server.url(), server.driver()));
            server.execute(
                    "create table tracks (ID int primary key, name varchar(100), title text) character set utf8mb4",
                    "insert into tracks select seq, concat('\u00c1guas-', seq), 'Track' from seq_1_to_4000",
                    "update tracks set name = '\u00c1guas-1' where ID = 4000",
                    "create table albums (ID bigint primary key, uuid uuid)",
                    "insert into albums values (1, 'c2b7e705-edfd-80c6-b1e5-1dd8bb5734a6'),"
                            + " (2, '00000000-0000-0000-0000-000000000000')",
                    "create user reader identified by 'secret'",
                    "grant select on *.* to reader");
            Map<String, String> withPassword = new HashMap<>(environment);
            withPassword.put("MARIADB_PASSWORD", "wrong");
            CommandLineRun refused = CommandLineRun.of(
                    withPassword, "import", "plan", "-f", mapping.toString(), "-d", folder.toString());
            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err())
                    .contains("after at least 0 rows: ", "reader")
                    .doesNotContain("wrong");

            withPassword.put("MARIADB_PASSWORD", "secret");
            CommandLineRun plan = CommandLineRun.of(
                    withPassword, "-o", "json", "import", "plan", "-f", mapping.toString(), "-d", folder.toString());
            assertThat(plan.status()).as(plan.err()).isEqualTo(3);
            assertThat(Json.parse(plan.out()).path("inputs").toString())
                    .isEqualTo("{\"%1$s (inputs[0])\":4000,\"%1$s (inputs[1])\":2}".formatted(server.url()));
            assertThat(Json.parse(plan.out()).path("conflicts").toString())
                    .isEqualTo("{\"MALFORMED\":1,\"DUPLICATE_IN_SHARD\":1}");
        }
        assertThat(puri("import", "load", "-d", folder.toString()).status()).isZero();
        CommandLineRun verify = verify(folder);
        assertThat(verify.status()).as(verify.err()).isZero();
        assertThat(resolve("maria:tracks:\u00c1guas-3999").path("shard").asText())
                .isEqualTo("br-1");
        assertThat(resolve("maria:tracks:album-1").path("uuid").asText())
                .isEqualTo("c2b7e705-edfd-80c6-b1e5-1dd8bb5734a6");
    }

    @Test
    void twoStagesInOneFolderAreAnError() throws Exception {
        Path mapping = csvMapping("locked:tracks:{id}", "id\n1\n");
        String[] plan = {"import", "plan", "-f", mapping.toString(), "-d", folder.toString()};
        try (FileChannel file =
                        FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = file.lock()) {
            assertThat(lock.isValid()).isTrue();
            CommandLineRun second = puri(plan);
            assertThat(second.status()).isEqualTo(1);
            assertThat(second.err()).contains("another puri import is running in");
        }
        assertThat(puri(plan).status()).isZero();
    }

    @Test
    void aPlanWithoutRowsIsNotLoaded() throws Exception {
        Path mapping = csvMapping("conflicts:tracks:{id}", "id\n\"a\u0001\"\n");
        CommandLineRun plan = puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(plan.status()).as(plan.err()).isEqualTo(3);
        CommandLineRun load = puri("import", "load", "-d", folder.toString());
        assertThat(load.status()).isEqualTo(1);
        assertThat(load.err()).contains("no row is planned");
    }

    @Test
    void aMessageHasNoPassword() throws Exception {
        Path mapping = Files.writeString(folder.resolve("mapping.yaml"), """
                source: legacy
                inputs:
                  - jdbc: jdbc:nothing://reader:secret@db-1/music?password=secret
                    query: select id from tracks order by id
                    puri: a:b:{id}
                    owner: o
                    shard: s
                """);
        CommandLineRun plan = puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(plan.status()).isEqualTo(1);
        assertThat(plan.err())
                .contains("jdbc:nothing://db-1/music", "no driver on the class path accepts the URL")
                .doesNotContain("secret");
    }

    @Test
    void emptyInputsAndUnknownColumnsAreErrors() throws IOException {
        Path mapping = csvMapping("a:b:{id}", "id\n");
        CommandLineRun empty = puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(empty.status()).isEqualTo(1);
        assertThat(empty.err()).contains("tracks.csv has no rows");

        mapping = csvMapping("a:b:{key}", "id\n1\n");
        CommandLineRun unknown = puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(unknown.err()).contains("does not have the columns key of the mapping; columns: id");

        mapping = Files.writeString(folder.resolve("mapping.yaml"), """
                source: legacy
                inputs:
                  - jdbc: %s
                    passwordVariable: SHARD_PASSWORD
                    query: select id, handle from tracks order by id
                    puri: a:b:{id}
                    owner: o
                    shard: s
                    handle: "{handle}"
                """.formatted(url("shard_1")));
        CommandLineRun noHandles = puri("import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(noHandles.status()).isEqualTo(1);
        assertThat(noHandles.err()).contains("the mapping has the columns handle, which are empty in all rows");
    }

    /** A database writes 1.00 for 1 in such a column, and the pURI would end with 1.00. */
    @Test
    void numbersOfADatabaseWithAFractionAreNoNames() throws IOException {
        Path mapping = Files.writeString(folder.resolve("mapping.yaml"), """
                source: legacy
                inputs:
                  - jdbc: %s
                    passwordVariable: SHARD_PASSWORD
                    query: select n::numeric(9,2) as id from generate_series(1, 2) as n order by id
                    puri: decimals:of-names:{id}
                    owner: o
                    shard: s
                  - jdbc: %s
                    passwordVariable: SHARD_PASSWORD
                    query: select n::numeric(9) as id, n + 0.5 as weight from generate_series(1, 2) as n order by id
                    puri: decimals:of-attributes:{id}
                    owner: o
                    shard: s
                    attributes: {weight: "{weight}"}
                """.formatted(url("shard_1"), url("shard_1")));
        CommandLineRun plan = puri("-o", "json", "import", "plan", "-f", mapping.toString(), "-d", folder.toString());
        assertThat(plan.status()).as(plan.err()).isEqualTo(3);
        assertThat(Json.parse(plan.out()).path("rows").intValue()).isEqualTo(2);
        assertThat(Json.parse(plan.out()).path("conflicts").toString()).isEqualTo("{\"MALFORMED\":2}");
    }

    private static void execute(String database, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(database));
                Statement statement = connection.createStatement()) {
            for (String text : statements) {
                statement.execute(text);
            }
        }
    }

    private static String url(String database) {
        return "jdbc:postgresql://localhost:" + postgres.getPort() + "/" + database + "?user=postgres";
    }

    private Path mapping(String collection, String more) throws IOException {
        StringBuilder yaml = new StringBuilder("source: legacy\ninputs:\n");
        for (int shard = 1; shard <= SHARDS; shard++) {
            yaml.append("  - jdbc: " + url("shard_" + shard) + "\n    passwordVariable: SHARD_PASSWORD\n")
                    .append("    query: select id, name, title from tracks order by id\n")
                    .append("    puri: " + collection + ":{name}\n    owner: catalog\n    shard: br-" + shard + "\n");
            yaml.append(more);
        }
        return Files.writeString(folder.resolve("mapping.yaml"), yaml);
    }

    private Path csvMapping(String puri, String csv) throws IOException {
        Files.writeString(folder.resolve("tracks.csv"), csv);
        return Files.writeString(
                folder.resolve("mapping.yaml"),
                "source: legacy\ninputs:\n  - csv: tracks.csv\n    puri: " + puri
                        + "\n    owner: catalog\n    shard: br-1\n");
    }

    /** Starts a load in a process, and kills it when it has loaded this number of rows. */
    private void killTheLoadAfter(int rows) throws IOException, InterruptedException {
        Path errors = folder.resolve("errors.txt");
        List<String> args = new ArrayList<>(List.of("import", "load", "-d", folder.toString(), "--rate", "500"));
        args.addAll(List.of("--bootstrap-server", stack.bootstrapServers()));
        args.addAll(List.of("--schema-registry", stack.schemaRegistryUrl()));
        try (PuriProcess load = new PuriProcess(errors, args.toArray(String[]::new))) {
            await().atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> loadedRows() >= rows);
            load.kill();
        }
    }

    private static JsonNode load(Path folder, String... options) {
        List<String> args = new ArrayList<>(List.of("-o", "json", "import", "load", "-d", folder.toString()));
        args.addAll(List.of(options));
        CommandLineRun run = puri(args.toArray(String[]::new));
        assertThat(run.status()).as(run.err()).isZero();
        return Json.parse(run.out());
    }

    private int loadedRows() throws IOException {
        try {
            return Json.parse(Files.readString(folder.resolve("load.json")))
                    .path("rows")
                    .asInt();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private static JsonNode resolve(String puri) {
        return Json.parse(puri("-o", "json", "resolve", puri).out())
                .path("results")
                .path(0);
    }

    private static CommandLineRun claim(String puri) {
        return CommandLineRun.reading(
                environment,
                "{\"type\":\"created\",\"puri\":\"" + puri + "\",\"owner\":\"catalog\",\"shard\":\"br-1\"}",
                "publish",
                "-f",
                "-",
                "--wait");
    }

    private static void apply(String yaml) {
        CommandLineRun run = CommandLineRun.reading(environment, yaml, "collections", "apply", "-f", "-");
        assertThat(run.status()).as(run.err()).isZero();
    }

    /** Verifies an import, and waits long enough for the topology on a busy machine. */
    private static CommandLineRun verify(Path folder, String... globalOptions) {
        List<String> words = new ArrayList<>(List.of(globalOptions));
        words.addAll(List.of("import", "verify", "-d", folder.toString(), "--wait", "300"));
        return puri(words.toArray(String[]::new));
    }

    private static CommandLineRun puri(String... args) {
        return CommandLineRun.of(environment, args);
    }
}
