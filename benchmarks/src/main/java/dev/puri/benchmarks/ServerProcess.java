package dev.puri.benchmarks;

import dev.puri.benchmarks.serve.Serve;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A server in a process of its own. All servers have the same JVM, heap and class path. */
final class ServerProcess implements AutoCloseable {
    /** Fixed, so that no side's heap grows while another is measured. */
    private static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g");

    private final Process process;
    private final BufferedReader said;
    private final int port;

    private ServerProcess(Process process, BufferedReader said, int port) {
        this.process = process;
        this.said = said;
        this.port = port;
    }

    /**
     * Starts a server and returns once it listens.
     *
     * @param options of its JVM, beside those that all servers have
     * @param settings as environment variables
     * @param server kind and arguments of {@link Serve}
     */
    static ServerProcess start(List<String> options, Map<String, String> settings, String... server)
            throws IOException {
        List<String> javaOptions = new ArrayList<>(HEAP);
        javaOptions.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(ChildJvm.command(javaOptions, Serve.class, List.of(server)))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(settings);
        Process process = builder.start();
        try {
            BufferedReader said = process.inputReader();
            String line = said.readLine();
            while (line != null && !line.startsWith(Serve.LISTENING)) {
                line = said.readLine();
            }
            if (line == null) {
                throw new IOException("the server " + server[0] + " ended before it listened");
            }
            return new ServerProcess(process, said, Integer.parseInt(line.substring(Serve.LISTENING.length())));
        } catch (IOException | RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    int port() {
        return port;
    }

    /**
     * The server's memory in bytes. Only Linux reports resident memory and descriptors; elsewhere they are 0.
     *
     * @param heap after a collection
     * @param direct buffers outside the heap
     * @param resident memory of the whole process
     * @param descriptors open file descriptors
     */
    record Memory(long heap, long direct, long resident, long descriptors) {}

    Memory memory() throws IOException {
        process.outputWriter().write(Serve.MEMORY + "\n");
        process.outputWriter().flush();
        String line = said.readLine();
        while (line != null && !line.startsWith(Serve.MEMORY)) {
            line = said.readLine();
        }
        if (line == null) {
            throw new IOException("the server has ended");
        }
        String[] told = line.split(" ", -1);
        return new Memory(Long.parseLong(told[1]), Long.parseLong(told[2]), resident(), descriptors());
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
        Path open = Path.of("/proc", Long.toString(process.pid()), "fd");
        if (!Files.isReadable(open)) {
            return 0;
        }
        try (Stream<Path> each = Files.list(open)) {
            return each.count();
        }
    }

    @Override
    public void close() {
        try {
            // The server ends when its standard input does.
            process.getOutputStream().close();
        } catch (IOException e) {
            // The server has ended already.
        }
        Program.end(process);
    }
}
