package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A MariaDB that is installed on this machine, with a database {@code service} of its own. */
final class InstalledMariaDb implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final Path folder;
    private final int port;
    private final Process server;

    private InstalledMariaDb(Path folder, Path mariadbd) throws Exception {
        this.folder = Files.createDirectory(folder);
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Process install =
                process(find("mariadb-install-db"), "--auth-root-authentication-method=normal", "--skip-test-db");
        assertThat(install.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(install.exitValue()).as(log()).isZero();
        server = process(
                mariadbd,
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + socket(),
                "--pid-file=" + folder.resolve("pid"),
                "--innodb-buffer-pool-size=32M",
                "--innodb-flush-log-at-trx-commit=0");
        await().atMost(TIMEOUT).until(() -> {
            assertThat(server.isAlive()).as(log()).isTrue();
            return client("create database if not exists service") == 0;
        });
    }

    /**
     * Starts one, or skips the test where none is installed. In CI the test fails then.
     *
     * @param folder a folder for its data, which does not exist
     */
    static InstalledMariaDb start(Path folder) throws Exception {
        Path mariadbd = find("mariadbd");
        if (mariadbd == null && "true".equals(System.getenv("CI"))) {
            fail("mariadb-server is not installed");
        }
        assumeTrue(mariadbd != null, "mariadb-server is not installed");
        return new InstalledMariaDb(folder, mariadbd);
    }

    private static @Nullable Path find(String command) {
        return Stream.of("/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
                .map(directory -> Path.of(directory, command))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    String url() {
        return "jdbc:mariadb://127.0.0.1:" + port + "/service";
    }

    /** Returns the jar of the driver, which is not on the class path. */
    Path driver() {
        Path driver = Path.of("target", "jdbc", "mariadb-java-client.jar").toAbsolutePath();
        assertThat(driver).isRegularFile();
        return driver;
    }

    /** Executes statements as the administrator. */
    void execute(String... statements) throws IOException, InterruptedException {
        assertThat(client("use service; " + String.join("; ", statements)))
                .as(log())
                .isZero();
    }

    private int client(String statements) throws IOException, InterruptedException {
        Process client = new ProcessBuilder(
                        String.valueOf(find("mariadb")),
                        "--no-defaults",
                        "--default-character-set=utf8mb4",
                        "--socket=" + socket(),
                        "--user=root")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                .start();
        client.getOutputStream().write(statements.getBytes(StandardCharsets.UTF_8));
        client.getOutputStream().close();
        return client.waitFor();
    }

    private Process process(@Nullable Path command, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                String.valueOf(command),
                "--no-defaults",
                "--datadir=" + folder.resolve("data"),
                "--user=" + System.getProperty("user.name")));
        all.addAll(List.of(arguments));
        return new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                .start();
    }

    private Path socket() {
        return folder.resolve("socket");
    }

    private Path logFile() {
        return folder.resolve("log");
    }

    private String log() throws IOException {
        return Files.readString(logFile());
    }

    @Override
    public void close() throws InterruptedException {
        server.destroy();
        if (!server.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            server.destroyForcibly();
        }
    }
}
