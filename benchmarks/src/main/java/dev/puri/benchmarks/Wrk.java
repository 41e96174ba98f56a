package dev.puri.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * wrk, which keeps connections busy: each sends its next request when it has its answer. It runs beside
 * every server alike and takes a fraction of what any of them takes.
 */
final class Wrk {
    static final int CONNECTIONS = 32;

    /** Each line of a file is a request: method, path, and a body if there is one. All are made before the first goes out. */
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

    Wrk(Path dir) throws IOException {
        this.dir = Files.createDirectories(dir);
        this.script = Files.writeString(dir.resolve("requests.lua"), SCRIPT);
    }

    /**
     * What was done.
     *
     * @param errors connections that broke
     * @param refused answers with a status above 399
     */
    record Done(long requests, double seconds, long errors, long refused) {
        double perSecond() {
            return requests / seconds;
        }
    }

    /** Writes requests to be sent in turn. */
    Path requests(String name, List<String> lines) throws IOException {
        return Files.write(dir.resolve(name), lines);
    }

    /** The same as a rate; every answer has to be a good one. */
    double rate(int port, Path requests, int seconds) throws IOException, InterruptedException {
        Done done = run(port, requests, seconds);
        if (done.errors > 0 || done.refused > 0) {
            throw new IllegalStateException("not all were answered well: " + done);
        }
        return done.perSecond();
    }

    Done run(int port, Path requests, int seconds) throws IOException, InterruptedException {
        String printed = Program.run(List.of(
                Program.WRK.path().toString(),
                "-t1",
                "-c" + CONNECTIONS,
                "-d" + seconds + "s",
                // Of 2 s by default, which a cold server on a slow machine takes under full load.
                "--timeout",
                "30s",
                "-s",
                script.toString(),
                "http://127.0.0.1:" + port,
                "--",
                requests.toString()));
        Matcher done = DONE.matcher(printed);
        if (!done.find()) {
            throw new IOException("wrk said something else: " + printed);
        }
        return new Done(
                Long.parseLong(done.group(1)),
                Long.parseLong(done.group(2)) / 1e6,
                Long.parseLong(done.group(3)),
                Long.parseLong(done.group(4)));
    }
}
