package dev.puri.benchmarks.environment;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * A child process with the JVM and the class path of this process. The parent sends lines of text; the child prints
 * results as JSON, and lines of progress.
 */
public final class ChildJvm implements AutoCloseable {
    /** Without these options the JVM prints warnings about native code of Kafka and Netty. */
    private static final List<String> OPTIONS =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

    private static final String RESULT = "result ";
    private static final String PROGRESS = "progress ";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Process process;
    private final BufferedReader output;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    /**
     * Starts a class in a new process. The process does not inherit variables {@code PURI_}.
     *
     * @param options further options of the JVM
     * @param settings environment variables
     * @param main class with a {@code main} method
     */
    public static ChildJvm start(
            List<String> options, Map<String, String> settings, Class<?> main, List<String> arguments)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command(options, main, arguments)).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(settings);
        return new ChildJvm(builder.start());
    }

    static List<String> command(List<String> options, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        return command;
    }

    /** Returns the next result that the child prints. */
    public <T> T receive(Class<T> type) throws IOException {
        return receive(type, line -> {});
    }

    /**
     * Returns the next result that the child prints.
     *
     * @param progress gets the lines of progress before the result
     * @throws IOException if the child ends without a result
     */
    public <T> T receive(Class<T> type, Consumer<String> progress) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(RESULT)) {
                return MAPPER.readValue(line.substring(RESULT.length()), type);
            }
            if (line.startsWith(PROGRESS)) {
                progress.accept(line.substring(PROGRESS.length()));
            }
        }
        throw new IOException(
                "a child process ended with status " + process.onExit().join().exitValue());
    }

    /** Prints a result, in the child. */
    public static void printResult(Object result) throws IOException {
        System.out.println(RESULT + MAPPER.writeValueAsString(result));
    }

    /** Prints a line of progress, in the child. */
    public static void printProgress(String line) {
        System.out.println(PROGRESS + line);
    }

    /** Sends a line to the child's standard input. */
    public void send(String line) throws IOException {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    /** Returns the id of the process. */
    public long pid() {
        return process.pid();
    }

    /** Waits for the end of the child. */
    public void awaitExit() {
        process.onExit().join();
    }

    /** Closes the standard input of the child and terminates the child, by force if necessary. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // The child has already ended.
        }
        Program.end(process);
    }

    /**
     * Halts this process as soon as its standard input ends. So the child ends with its parent, which holds the pipe
     * open, even if the parent is killed.
     *
     * @return the lines that the parent {@linkplain #send sends}
     */
    public static BlockingQueue<String> endWithParent() {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread.ofPlatform().daemon().name("end-with-parent").start(() -> {
            try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = input.readLine(); line != null; line = input.readLine()) {
                    lines.add(line);
                }
            } catch (IOException e) {
                System.err.println("the pipe from the parent broke: " + e);
            }
            Runtime.getRuntime().halt(1);
        });
        return lines;
    }
}
