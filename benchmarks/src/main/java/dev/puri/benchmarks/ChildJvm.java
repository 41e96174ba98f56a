package dev.puri.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another JVM with the Java and the class path of this one. */
final class ChildJvm {
    /** Without these the JVM warns of Kafka's and Netty's native code. */
    private static final List<String> OPTIONS =
            List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

    private ChildJvm() {}

    /**
     * Returns the command line that runs a class.
     *
     * @param options of the JVM, beside those that each child has
     * @param main class with a {@code main} method
     */
    static List<String> command(List<String> options, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        return command;
    }

    /**
     * Halts this process as soon as its standard input ends. A parent that keeps the pipe open and writes nothing thus takes its
     * child with it, even if the parent is killed.
     */
    static void endWithParent() {
        Thread.ofPlatform().daemon().name("end-with-parent").start(() -> {
            try {
                System.in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                System.err.println("the pipe from the parent broke: " + e);
            }
            Runtime.getRuntime().halt(1);
        });
    }
}
