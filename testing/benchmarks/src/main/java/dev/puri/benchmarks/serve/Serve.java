package dev.puri.benchmarks.serve;

import dev.puri.benchmarks.environment.ChildJvm;
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
 * The main class of a server's process. It prints the port at which the server listens, answers requests on stdin, and
 * ends when stdin ends.
 */
public final class Serve {
    /** A request on stdin. The process collects garbage and prints the bytes of its heap and of buffers outside it. */
    static final String MEMORY = "memory";

    private Serve() {}

    /**
     * Starts a server. The arguments are its kind and a file or port; a resolver takes its settings from the
     * environment.
     */
    public static void main(String[] args) {
        int status = 1;
        try {
            ChildJvm.printResult(start(args));
            answerRequests();
            status = 0;
        } catch (Exception | LinkageError e) {
            System.err.println("the server " + args[0] + " ends: " + e);
        } finally {
            // Event loops would keep the process alive, even if the start failed.
            System.exit(status);
        }
    }

    private static int start(String[] args) throws Exception {
        return switch (args[0]) {
            case "resolver" -> startResolver();
            case "bare" -> Baseline.start(() -> new BareHandler(Path.of(args[1])));
            case "redis" -> Baseline.start(() -> new RedisHandler(Integer.parseInt(args[1])));
            case "postgres" -> Baseline.start(() -> new PostgresHandler(Integer.parseInt(args[1])));
            default -> throw new IllegalArgumentException("no such server: " + args[0]);
        };
    }

    private static int startResolver() {
        return Resolver.start(Settings.read(ResolverSettings.class, Map.of(), System.getenv(), null))
                .port();
    }

    private static void answerRequests() throws IOException {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (line.equals(MEMORY)) {
                ChildJvm.printResult(new long[] {heapBytes(), directBytes()});
            }
        }
    }

    private static long heapBytes() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        // The second collection removes objects that the first one released.
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }

    /** Returns the bytes of the direct buffers of Java and of Netty. */
    private static long directBytes() {
        long bytes = Math.max(0, PlatformDependent.usedDirectMemory());
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                bytes += pool.getMemoryUsed();
            }
        }
        return bytes;
    }
}
