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

/** A server in a process of its own, all of them with the same JVM, heap and class path. */
final class ServerProcess implements AutoCloseable {
    /** Fixed, so that no side's heap grows while another is measured. */
    private static final List<String> JAVA_OPTIONS =
            List.of("-Xms1g", "-Xmx1g", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

    private final Process process;
    private final BufferedReader said;
    private final int port;

    private ServerProcess(Process process, BufferedReader said, int port) {
        this.process = process;
        this.said = said;
        this.port = port;
    }

    /**
     * @param options of its JVM, more than all have
     * @param settings as environment variables
     * @param server kind and arguments of {@link Serve}
     */
    static ServerProcess start(List<String> options, Map<String, String> settings, String... server)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JAVA_OPTIONS);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Serve.class.getName()));
        command.addAll(List.of(server));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
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
     * What it holds, in bytes but for the descriptors. Those that only Linux tells are 0 elsewhere.
     *
     * @param heap after a collection
     * @param direct buffers outside the heap
     * @param resident of all the process
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
            // Its own way to end.
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has ended by itself.
        }
        Program.end(process);
    }
}
