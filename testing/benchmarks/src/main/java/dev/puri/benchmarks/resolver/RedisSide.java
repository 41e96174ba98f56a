package dev.puri.benchmarks.resolver;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.data.ResolverRequests;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.Program;
import dev.puri.benchmarks.load.Wrk;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A Redis server with the rows of the population, without persistence. Database 0 is what a user would store: the JSON
 * of each identity under its pURI, and again under its handle. Database 1 is for redis-benchmark, whose keys are
 * numbered. It has the bytes of the resolver's answer to a GET, and values with the length of a result in a batch.
 */
final class RedisSide implements AutoCloseable {
    private static final int ROWS_PER_MSET = 500;
    private static final Duration STARTUP = Duration.ofSeconds(30);

    private final Process process;
    private final int port;
    private final int rows;

    /** Requests per second of the last run, because redis-benchmark takes a number of requests, not a duration. */
    private double getRate = 20_000;

    private double mgetRate = 5_000;

    private RedisSide(Process process, int port, int rows) {
        this.process = process;
        this.port = port;
        this.rows = rows;
    }

    /**
     * Starts Redis, and returns when it has all rows.
     *
     * @param resultBytes mean size of a result in the resolver's answer to a batch
     */
    static RedisSide start(Path dir, int rows, int resultBytes) throws Exception {
        Files.createDirectories(dir);
        int port = Program.freePort();
        List<String> command = Program.command(
                Program.REDIS_SERVER.path(), "--bind 127.0.0.1 --port " + port, "--save", "", "--dir", dir.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(dir.resolve("log").toFile())
                .start();
        RedisSide redis = new RedisSide(process, port, rows);
        try {
            Await.until("Redis", STARTUP, redis::acceptsConnections);
            redis.fill(resultBytes);
            return redis;
        } catch (Exception e) {
            redis.close();
            throw e;
        }
    }

    int port() {
        return port;
    }

    private void fill(int resultBytes) {
        Vertx vertx = Vertx.vertx();
        try {
            RedisConnection users = connect(vertx, 0);
            RedisConnection numbered = connect(vertx, 1);
            for (int from = 0; from < rows; from += ROWS_PER_MSET) {
                Request forUsers = Request.cmd(Command.MSET);
                Request byNumber = Request.cmd(Command.MSET);
                for (int number = from; number < Math.min(rows, from + ROWS_PER_MSET); number++) {
                    String json = ResolverRequests.json(number);
                    forUsers.arg(Population.puri(number).toString()).arg(json);
                    forUsers.arg(Population.handle(number).text()).arg(json);
                    byNumber.arg("get:%012d".formatted(number)).arg(ResolverRequests.answer(number));
                    byNumber.arg("item:%012d".formatted(number)).arg(ofLength(json, resultBytes));
                }
                users.send(forUsers).await();
                numbered.send(byNumber).await();
            }
        } finally {
            vertx.close().await();
        }
    }

    private RedisConnection connect(Vertx vertx, int database) {
        String url = "redis://127.0.0.1:%d/%d".formatted(port, database);
        return Redis.createClient(vertx, url).connect().await();
    }

    private static String ofLength(String text, int length) {
        return text.length() >= length ? text.substring(0, length) : text + " ".repeat(length - text.length());
    }

    private boolean acceptsConnections() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (ConnectException e) {
            if (!process.isAlive()) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Returns the rate of GETs of the bytes of the resolver's answers, per second.
     *
     * @param seconds about the duration of the run
     * @param keyCount number of different keys; with as many keys as the other sides, the caches have the same effect
     */
    double gets(int seconds, int keyCount) throws IOException {
        getRate = benchmark((long) (getRate * seconds), keyCount, List.of("GET", "get:__rand_int__"));
        return getRate;
    }

    /** Returns the rate of MGETs with the batch size of the other sides, in keys per second. */
    double mgets(int seconds, int keyCount) throws IOException {
        List<String> command = new ArrayList<>(List.of("MGET"));
        command.addAll(Collections.nCopies(ResolverRequests.BATCH, "item:__rand_int__"));
        mgetRate = benchmark((long) (mgetRate * seconds), keyCount, command);
        return ResolverRequests.BATCH * mgetRate;
    }

    private double benchmark(long requestCount, int keyCount, List<String> command) throws IOException {
        String options = "-p %d -c %d -n %d -r %d --dbnum 1 --csv"
                .formatted(port, Wrk.CONNECTIONS, requestCount, Math.min(rows, keyCount));
        List<String> commandLine =
                Program.command(Program.REDIS_BENCHMARK.path(), options, command.toArray(String[]::new));
        // The output has a line of titles ("test","rps",…), and a line of values that begins with the command.
        String[] lines = Program.run(commandLine).strip().split("\n", -1);
        String[] figures = lines[lines.length - 1].split("\",\"", -1);
        return Double.parseDouble(figures[1]);
    }

    @Override
    public void close() {
        Program.end(process);
    }
}
