package dev.puri.benchmarks.resolver;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.Program;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.schemas.log.Row;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A PostgreSQL server with the rows of the population, tuned for reading: all rows are in shared memory, vacuumed and
 * analysed. PostgreSQL refuses to run as root. If this process runs as root, the server runs as the user {@code
 * postgres} of its package.
 */
record PostgresSide(Path bin, Path dir, Process process, int port) implements AutoCloseable {
    private static final String USER = "postgres";
    private static final Duration STARTUP = Duration.ofSeconds(30);

    static PostgresSide start(int rows) throws Exception {
        Path bin = Objects.requireNonNull(Program.INITDB.path().toRealPath().getParent());
        Path dir = Files.createTempDirectory("puri-bench-postgres");
        if (isRoot()) {
            Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setOwner(
                    dir, dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER));
        }
        String data = dir.resolve("data").toString();
        Program.run(asUser(
                Program.command(bin.resolve("initdb"), "-U " + USER + " -A trust -E UTF8 --no-sync", "-D", data)));
        int port = Program.freePort();
        String options = " -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=1GB"
                + " -c fsync=off -c jit=off";
        List<String> command = Program.command(bin.resolve("postgres"), "-p " + port + options, "-D", data);
        Process process = new ProcessBuilder(asUser(command))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        PostgresSide postgres = new PostgresSide(bin, dir, process, port);
        try {
            Await.until("PostgreSQL", STARTUP, postgres::acceptsQueries);
            postgres.fill(rows);
            return postgres;
        } catch (Exception e) {
            postgres.close();
            throw e;
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> asUser(List<String> command) {
        if (!isRoot()) {
            return command;
        }
        List<String> switched =
                new ArrayList<>(List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups", "--"));
        switched.addAll(command);
        return switched;
    }

    private List<String> psql(String sql) {
        String options = "-h 127.0.0.1 -p %d -U %s -d %s -q -v ON_ERROR_STOP=1 -c".formatted(port, USER, USER);
        return Program.command(bin.resolve("psql"), options, sql);
    }

    private boolean acceptsQueries() throws IOException {
        try {
            Program.run(psql("SELECT 1"));
            return true;
        } catch (IOException e) {
            if (!process.isAlive()) {
                throw e;
            }
            return false;
        }
    }

    private void fill(int rows) throws Exception {
        Program.run(psql("""
                CREATE TABLE identities (puri text NOT NULL, handle text, owner text NOT NULL, shard text NOT NULL,
                  uuid uuid NOT NULL, status text NOT NULL, epoch bigint NOT NULL,
                  created_at timestamptz NOT NULL, changed_at timestamptz NOT NULL)"""));
        Process copy = new ProcessBuilder(psql("COPY identities FROM STDIN"))
                .redirectErrorStream(true)
                .start();
        try (Writer out = new BufferedWriter(copy.outputWriter(StandardCharsets.UTF_8), 1 << 16)) {
            for (int number = 0; number < rows; number++) {
                Row row = Population.row(number, 0);
                out.write(String.join(
                        "\t",
                        Population.puri(number).toString(),
                        Population.handle(number).text(),
                        row.owner().text(),
                        row.shard().text(),
                        row.uuid().toString(),
                        "active",
                        Long.toString(row.epoch()),
                        row.createdAt().toString(),
                        row.changedAt().toString()));
                out.write('\n');
            }
        }
        String output = new String(copy.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (copy.waitFor() != 0) {
            throw new IOException("cannot fill PostgreSQL: " + output);
        }
        Program.run(psql("ALTER TABLE identities ADD PRIMARY KEY (puri)"));
        Program.run(psql("ALTER TABLE identities ADD UNIQUE (handle)"));
        Program.run(psql("VACUUM (FREEZE, ANALYZE) identities"));
    }

    @Override
    public void close() {
        String data = dir.resolve("data").toString();
        try {
            // A signal would make the server wait until all clients have disconnected.
            Program.run(asUser(Program.command(bin.resolve("pg_ctl"), "stop -m immediate", "-D", data)));
        } catch (IOException e) {
            // The server was never ready.
        }
        Program.end(process);
        TemporaryFolder.delete(dir);
    }
}
