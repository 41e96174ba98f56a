package dev.puri.benchmarks.serve;

import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.settings.Settings;
import io.netty.util.internal.PlatformDependent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/**
 * The process of one server. It prints the port at which it listens, answers requests on stdin, and ends with stdin.
 */
public final class Serve {
    /** Begins the line that has the port. */
    static final String LISTENING = "listening ";

    /** A request. The server collects garbage and prints the bytes of its heap and of buffers outside it. */
    static final String MEMORY = "memory";

    private Serve() {}

    /** Starts the server of a kind, with its argument; the resolver takes its settings from the environment. */
    public static void main(String[] args) {
        int status = 1;
        try {
            System.out.println(LISTENING + start(args));
            answer();
            status = 0;
        } catch (Exception | LinkageError e) {
            System.err.println("the server " + args[0] + " ends: " + e);
        } finally {
            // Event loops would keep the process alive, even if it never listened.
            System.exit(status);
        }
    }

    private static int start(String[] args) throws Exception {
        return switch (args[0]) {
            case "resolver" -> resolver();
            case "bare" -> Baseline.start(() -> new BareHandler(Path.of(args[1])));
            case "redis" -> Baseline.start(() -> new RedisHandler(Integer.parseInt(args[1])));
            case "postgres" -> Baseline.start(() -> new PostgresHandler(Integer.parseInt(args[1])));
            default -> throw new IllegalArgumentException("no such server: " + args[0]);
        };
    }

    private static int resolver() {
        return Resolver.start(Settings.read(ResolverSettings.class, Map.of(), System.getenv(), null))
                .port();
    }

    private static void answer() throws IOException {
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            if (line.equals(MEMORY)) {
                System.out.println(MEMORY + " " + heap() + " " + direct());
            }
        }
    }

    private static long heap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        // The second collection removes objects that the first one released.
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }

    /** Returns the bytes of Java's buffers and of those that Netty allocates by itself. */
    private static long direct() {
        long bytes = Math.max(0, PlatformDependent.usedDirectMemory());
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                bytes += pool.getMemoryUsed();
            }
        }
        return bytes;
    }
}
