package dev.puri.benchmarks.load;

import dev.puri.benchmarks.environment.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The load generator wrk (closed loop): each connection sends its next request when it has the answer to the last one.
 * wrk itself takes little processor time, and as much for every server.
 */
public final class Wrk {
    /** Number of connections. */
    public static final int CONNECTIONS = 32;

    /** The script for wrk: it reads a file of requests, and builds all requests before it sends the first one. */
    private static final String SCRIPT = """
            local requests = {}
            local next = 0
            function init(args)
              wrk.headers["Content-Type"] = "application/json"
              for line in io.lines(args[1]) do
                local method, path, body = line:match("^(%S+) (%S+) ?(.*)$")
                if body == "" then body = nil end
                requests[#requests + 1] = wrk.format(method, path, nil, body)
              end
            end
            function request()
              next = next % #requests + 1
              return requests[next]
            end
            function done(summary, latency, each)
              local wrong = summary.errors
              io.write(string.format("%d requests in %d us, %d socket errors, %d refused\\n", summary.requests,
                summary.duration, wrong.connect + wrong.read + wrong.write + wrong.timeout, wrong.status))
            end
            """;

    private static final Pattern RESULT =
            Pattern.compile("(\\d+) requests in (\\d+) us, (\\d+) socket errors, (\\d+) refused");

    private final Path folder;
    private final Path script;

    /** Writes the script to a folder, which also gets the files of requests. */
    public Wrk(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
        this.script = Files.writeString(folder.resolve("requests.lua"), SCRIPT);
    }

    /**
     * The result of a run.
     *
     * @param errors number of socket errors
     * @param refused number of answers with a status above 399
     */
    public record Result(long requests, double seconds, long errors, long refused) {
        /** Returns the requests per second. */
        public double perSecond() {
            return requests / seconds;
        }
    }

    /** Writes a file with one request per line: method, path, and a body if there is one. */
    public Path requests(String name, List<String> lines) throws IOException {
        return Files.write(folder.resolve(name), lines);
    }

    /** Runs wrk and returns the requests per second; every request must succeed. */
    public double rate(int port, Path requests, int seconds) throws IOException {
        Result result = run(port, requests, seconds);
        if (result.errors > 0 || result.refused > 0) {
            throw new IllegalStateException("not all requests succeeded: " + result);
        }
        return result.perSecond();
    }

    /** Runs wrk for some seconds. */
    public Result run(int port, Path requests, int seconds) throws IOException {
        // A cold server on a slow machine takes longer than wrk's time-out of 2 s under full load.
        String options = "-t1 -c%d -d%ds --timeout 30s".formatted(CONNECTIONS, seconds);
        String output = Program.run(Program.command(
                Program.WRK.path(),
                options,
                "-s",
                script.toString(),
                "http://127.0.0.1:" + port,
                "--",
                requests.toString()));
        Matcher matcher = RESULT.matcher(output);
        if (!matcher.find()) {
            throw new IOException("wrk printed no result: " + output);
        }
        return new Result(
                Long.parseLong(matcher.group(1)),
                Long.parseLong(matcher.group(2)) / 1e6,
                Long.parseLong(matcher.group(3)),
                Long.parseLong(matcher.group(4)));
    }
}
