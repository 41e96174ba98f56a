package dev.puri.benchmarks.serve;

import dev.puri.benchmarks.environment.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A server in a separate process. All servers have the same JVM, heap size and class path. */
public class MeasuredServer implements AutoCloseable {
    /** The heap size is fixed, so that no heap grows while another server is measured. */
    private static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g");

    private final ChildJvm process;
    private final int port;

    /**
     * The memory of a server, in bytes. Resident memory and descriptors are known on Linux only, and otherwise 0.
     *
     * @param heap used heap after a garbage collection
     * @param direct direct buffers
     * @param resident memory of the whole process
     * @param descriptors number of open file descriptors
     */
    public record Memory(long heap, long direct, long resident, long descriptors) {}

    /**
     * Starts a server, and returns when it listens.
     *
     * @param options further options of the JVM
     * @param settings environment variables
     * @param server arguments of {@link Serve}: kind of the server, and its argument
     */
    protected MeasuredServer(List<String> options, Map<String, String> settings, String... server) throws IOException {
        List<String> javaOptions = new ArrayList<>(HEAP);
        javaOptions.addAll(options);
        process = ChildJvm.start(javaOptions, settings, Serve.class, List.of(server));
        try {
            port = process.receive(Integer.class);
        } catch (IOException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Starts a baseline, and returns when it listens. */
    public static MeasuredServer startBaseline(String kind, String argument) throws IOException {
        return new MeasuredServer(List.of(), Map.of(), kind, argument);
    }

    /** Returns the port at which the server listens. */
    public final int port() {
        return port;
    }

    /** Collects garbage, and returns the memory that is then in use. */
    public final Memory memory() throws IOException {
        process.send(Serve.MEMORY);
        long[] bytes = process.receive(long[].class);
        return new Memory(bytes[0], bytes[1], resident(), descriptors());
    }

    private long resident() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.isReadable(status)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(status)) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        }
    }

    private long descriptors() throws IOException {
        Path descriptors = Path.of("/proc", Long.toString(process.pid()), "fd");
        if (!Files.isReadable(descriptors)) {
            return 0;
        }
        try (Stream<Path> entries = Files.list(descriptors)) {
            return entries.count();
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
