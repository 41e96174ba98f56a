package dev.puri.benchmarks.load;

import dev.puri.benchmarks.environment.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * wrk, which keeps connections busy: each sends its next request when it has its answer. It takes the same small part
 * of the processors from every server.
 */
public final class Wrk {
    /** Connections of each run. */
    public static final int CONNECTIONS = 32;

    /** Reads the file of requests, and makes all of them before it sends the first one. */
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

    private static final Pattern DONE =
            Pattern.compile("(\\d+) requests in (\\d+) us, (\\d+) socket errors, (\\d+) refused");

    private final Path dir;
    private final Path script;

    /** Keeps its files in a folder. */
    public Wrk(Path dir) throws IOException {
        this.dir = Files.createDirectories(dir);
        this.script = Files.writeString(dir.resolve("requests.lua"), SCRIPT);
    }

    /**
     * The result of a run.
     *
     * @param errors connections that broke
     * @param refused answers with a status above 399
     */
    public record Done(long requests, double seconds, long errors, long refused) {
        /** Returns requests a second. */
        public double perSecond() {
            return requests / seconds;
        }
    }

    /** Writes a file of requests, each of which is a line: method, path, and a body if there is one. */
    public Path requests(String name, List<String> lines) throws IOException {
        return Files.write(dir.resolve(name), lines);
    }

    /** Returns the requests a second of a run in which every request has to succeed. */
    public double rate(int port, Path requests, int seconds) throws IOException {
        Done done = run(port, requests, seconds);
        if (done.errors > 0 || done.refused > 0) {
            throw new IllegalStateException("not all requests succeeded: " + done);
        }
        return done.perSecond();
    }

    /** Sends requests for some seconds. */
    public Done run(int port, Path requests, int seconds) throws IOException {
        // A cold server on a slow machine takes longer than wrk's time-out of 2 s under full load.
        String options = "-t1 -c%d -d%ds --timeout 30s".formatted(CONNECTIONS, seconds);
        String printed = Program.run(Program.command(
                Program.WRK.path(),
                options,
                "-s",
                script.toString(),
                "http://127.0.0.1:" + port,
                "--",
                requests.toString()));
        Matcher done = DONE.matcher(printed);
        if (!done.find()) {
            throw new IOException("wrk printed no result: " + printed);
        }
        return new Done(
                Long.parseLong(done.group(1)),
                Long.parseLong(done.group(2)) / 1e6,
                Long.parseLong(done.group(3)),
                Long.parseLong(done.group(4)));
    }
}
