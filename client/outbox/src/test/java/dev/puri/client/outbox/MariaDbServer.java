package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A MariaDB that is installed on this machine, with data of its own. */
final class MariaDbServer implements TestDatabase {
    private final Path data;
    private final int port;
    private final Dialect dialect;
    private final Thread atExit = new Thread(this::stop);
    private Process running;

    private MariaDbServer(Path server, Dialect dialect) throws Exception {
        this.dialect = dialect;
        data = Files.createTempDirectory("puri-mariadb");
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Process install =
                process(find("mariadb-install-db"), "--auth-root-authentication-method=normal", "--skip-test-db");
        assertThat(install.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(install.exitValue()).as(Files.readString(log())).isZero();
        running = run(server);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * Starts one, or skips the test where none is installed. In CI the test fails then.
     *
     * @param dialect MariaDB's or MySQL's, of which it understands both
     */
    static MariaDbServer start(Dialect dialect) throws Exception {
        Path server = find("mariadbd");
        if (server == null && "true".equals(System.getenv("CI"))) {
            fail("mariadb-server is not installed");
        }
        assumeTrue(server != null, "mariadb-server is not installed");
        return new MariaDbServer(server, dialect);
    }

    private static @Nullable Path find(String command) {
        return Stream.of("/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
                .map(folder -> Path.of(folder, command))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    private Path log() {
        return data.resolveSibling(data.getFileName() + ".log");
    }

    private Process process(Path command, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                command.toString(), "--no-defaults", "--datadir=" + data, "--user=" + System.getProperty("user.name")));
        all.addAll(List.of(arguments));
        return new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
    }

    private Process run(Path server) throws IOException {
        Process process = process(
                server,
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + data.resolve("socket"),
                "--pid-file=" + data.resolve("pid"),
                "--innodb-buffer-pool-size=32M",
                "--innodb-flush-log-at-trx-commit=0");
        await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
            assertThat(process.isAlive()).as(Files.readString(log())).isTrue();
            try (Connection connection = DriverManager.getConnection(url("mysql"))) {
                connection.createStatement().execute("CREATE DATABASE IF NOT EXISTS service");
                return true;
            }
        });
        return process;
    }

    private String url(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + database + "?user=root";
    }

    @Override
    public Dialect dialect() {
        return dialect;
    }

    @Override
    public String jdbcUrl() {
        return url("service");
    }

    @Override
    public void restart() throws IOException {
        stop();
        Path server = find("mariadbd");
        running = run(server);
    }

    private void stop() {
        running.destroy();
        try {
            if (!running.waitFor(60, TimeUnit.SECONDS)) {
                running.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
        Runtime.getRuntime().removeShutdownHook(atExit);
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
