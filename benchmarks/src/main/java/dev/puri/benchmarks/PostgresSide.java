package dev.puri.benchmarks;

import dev.puri.schemas.log.Row;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A PostgreSQL of our own with the population in it, made for reading: all of it in shared memory, vacuumed and
 * analysed. It refuses to run as root, so root lends it the user that its package made.
 */
final class PostgresSide implements AutoCloseable {
    private static final String USER = "postgres";

    private final Path bin;
    private final Path dir;
    private final Process process;
    private final int port;

    private PostgresSide(Path bin, Path dir, Process process, int port) {
        this.bin = bin;
        this.dir = dir;
        this.process = process;
        this.port = port;
    }

    static PostgresSide start(int rows) throws Exception {
        Path bin = Objects.requireNonNull(Program.INITDB.path().toRealPath().getParent());
        Path dir = Files.createTempDirectory("puri-bench-postgres");
        if (isRoot()) {
            Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setOwner(
                    dir, dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER));
        }
        String data = dir.resolve("data").toString();
        Program.run(asUser(List.of(
                bin.resolve("initdb").toString(), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")));
        int port = Program.freePort();
        Process process = new ProcessBuilder(asUser(List.of(
                        bin.resolve("postgres").toString(),
                        "-D",
                        data,
                        "-p",
                        Integer.toString(port),
                        "-c",
                        "listen_addresses=127.0.0.1",
                        "-c",
                        "unix_socket_directories=",
                        "-c",
                        "shared_buffers=1GB",
                        "-c",
                        "fsync=off",
                        "-c",
                        "jit=off")))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        PostgresSide postgres = new PostgresSide(bin, dir, process, port);
        try {
            postgres.awaitReady();
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
        List<String> all =
                new ArrayList<>(List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups", "--"));
        all.addAll(command);
        return all;
    }

    int port() {
        return port;
    }

    /** E.g. {@code 15.8}. */
    String version() throws IOException, InterruptedException {
        return Program.run(psql("-At", "-c", "SHOW server_version")).strip().split(" ", -1)[0];
    }

    private List<String> psql(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                bin.resolve("psql").toString(),
                "-h",
                "127.0.0.1",
                "-p",
                Integer.toString(port),
                "-U",
                USER,
                "-d",
                USER,
                "-q",
                "-v",
                "ON_ERROR_STOP=1"));
        command.addAll(List.of(arguments));
        return command;
    }

    private void awaitReady() throws Exception {
        long begun = System.nanoTime();
        while (true) {
            try {
                Program.run(psql("-c", "SELECT 1"));
                return;
            } catch (IOException e) {
                if (!process.isAlive() || Pace.seconds(begun) > 30) {
                    throw e;
                }
                Thread.sleep(50);
            }
        }
    }

    private void fill(int rows) throws Exception {
        Program.run(psql("-c", """
                CREATE TABLE identities (puri text NOT NULL, handle text, owner text NOT NULL, shard text NOT NULL,
                  uuid uuid NOT NULL, status text NOT NULL, epoch bigint NOT NULL,
                  created_at timestamptz NOT NULL, changed_at timestamptz NOT NULL)"""));
        Process copy = new ProcessBuilder(psql("-c", "COPY identities FROM STDIN"))
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
        String said = new String(copy.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (copy.waitFor() != 0) {
            throw new IOException("cannot fill PostgreSQL: " + said);
        }
        Program.run(psql("-c", "ALTER TABLE identities ADD PRIMARY KEY (puri)"));
        Program.run(psql("-c", "ALTER TABLE identities ADD UNIQUE (handle)"));
        Program.run(psql("-c", "VACUUM (FREEZE, ANALYZE) identities"));
    }

    @Override
    public void close() {
        try {
            // As asked to end by a signal, it would wait for whoever is connected.
            Program.run(asUser(List.of(
                    bin.resolve("pg_ctl").toString(),
                    "stop",
                    "-D",
                    dir.resolve("data").toString(),
                    "-m",
                    "immediate")));
        } catch (IOException e) {
            // It never ran.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Program.end(process);
        FreshBroker.delete(dir);
    }
}
