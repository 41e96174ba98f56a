package dev.puri.benchmarks;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A Redis of our own with the population in it, nothing written to disk. Database 0 is what a user would have:
 * each identity's JSON under its name and once more under its handle. Database 1 is for redis-benchmark,
 * which makes keys by number: the bytes of our answer to a GET, and values as long as one item of our batches.
 */
final class RedisSide implements AutoCloseable {
    private static final int AT_ONCE = 500;
    private static final int PATIENCE_SECONDS = 30;

    private final Process process;
    private final int port;
    private final int rows;

    /** A second; redis-benchmark wants to be told how many, so the last time tells. */
    private double getRate = 20_000;

    private double mgetRate = 5_000;

    private RedisSide(Process process, int port, int rows) {
        this.process = process;
        this.port = port;
        this.rows = rows;
    }

    /**
     * @param itemBytes of one item of our batches
     */
    static RedisSide start(Path dir, int rows, int itemBytes) throws Exception {
        Files.createDirectories(dir);
        int port = Program.freePort();
        Process process = new ProcessBuilder(
                        Program.REDIS_SERVER.path().toString(),
                        "--port",
                        Integer.toString(port),
                        "--bind",
                        "127.0.0.1",
                        "--save",
                        "",
                        "--dir",
                        dir.toString())
                .redirectErrorStream(true)
                .redirectOutput(dir.resolve("log").toFile())
                .start();
        RedisSide redis = new RedisSide(process, port, rows);
        try {
            redis.fill(itemBytes);
            return redis;
        } catch (Exception e) {
            redis.close();
            throw e;
        }
    }

    int port() {
        return port;
    }

    private void fill(int itemBytes) throws Exception {
        try (Socket socket = connect();
                OutputStream out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16)) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            for (int from = 0; from < rows; from += AT_ONCE) {
                List<String> users = new ArrayList<>(List.of("MSET"));
                List<String> numbered = new ArrayList<>(List.of("MSET"));
                for (int number = from; number < Math.min(rows, from + AT_ONCE); number++) {
                    String json = Questions.json(number);
                    Collections.addAll(users, Population.puri(number).toString(), json);
                    Collections.addAll(users, Population.handle(number).text(), json);
                    Collections.addAll(numbered, "get:%012d".formatted(number), Questions.answer(number));
                    Collections.addAll(numbered, "item:%012d".formatted(number), ofLength(json, itemBytes));
                }
                send(out, List.of("SELECT", "0"));
                send(out, users);
                send(out, List.of("SELECT", "1"));
                send(out, numbered);
                out.flush();
                for (int i = 0; i < 4; i++) {
                    requireOk(in);
                }
            }
        }
    }

    private static String ofLength(String text, int length) {
        return text.length() >= length ? text.substring(0, length) : text + " ".repeat(length - text.length());
    }

    private Socket connect() throws Exception {
        long begun = System.nanoTime();
        while (true) {
            try {
                return new Socket(InetAddress.getLoopbackAddress(), port);
            } catch (ConnectException e) {
                if (!process.isAlive() || Pace.seconds(begun) > PATIENCE_SECONDS) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    private static void send(OutputStream out, List<String> command) throws IOException {
        StringBuilder text =
                new StringBuilder().append('*').append(command.size()).append("\r\n");
        for (String word : command) {
            // All of it is ASCII.
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static void requireOk(InputStream in) throws IOException {
        String answer = new String(in.readNBytes(5), StandardCharsets.US_ASCII);
        if (!answer.equals("+OK\r\n")) {
            throw new IOException("Redis answered " + answer);
        }
    }

    /**
     * GETs a second of the bytes of our answers, for about so many seconds.
     *
     * @param different keys, as many as other sides are asked for: fewer are closer at hand
     */
    double gets(int seconds, int different) throws IOException, InterruptedException {
        getRate = benchmark((long) (getRate * seconds), different, List.of("GET", "get:__rand_int__"));
        return getRate;
    }

    /** Keys a second, a batch of ours at a time. */
    double mgets(int seconds, int different) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("MGET"));
        command.addAll(Collections.nCopies(Questions.BATCH, "item:__rand_int__"));
        mgetRate = benchmark((long) (mgetRate * seconds), different, command);
        return Questions.BATCH * mgetRate;
    }

    private double benchmark(long count, int different, List<String> command) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(
                Program.REDIS_BENCHMARK.path().toString(),
                "-p",
                Integer.toString(port),
                "-c",
                Integer.toString(Wrk.CONNECTIONS),
                "-n",
                Long.toString(count),
                "-r",
                Integer.toString(Math.min(rows, different)),
                "--dbnum",
                "1",
                "--csv"));
        all.addAll(command);
        // "test","rps",… and below it the figures, the first of which names the command.
        String[] lines = Program.run(all).strip().split("\n", -1);
        String[] figures = lines[lines.length - 1].split("\",\"", -1);
        return Double.parseDouble(figures[1]);
    }

    @Override
    public void close() {
        Program.end(process);
    }
}
