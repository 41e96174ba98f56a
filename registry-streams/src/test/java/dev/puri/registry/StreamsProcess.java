package dev.puri.registry;

import dev.puri.http.HttpSettings;
import dev.puri.settings.KafkaProperties;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The streams service in a child process, which a test can kill or freeze. */
final class StreamsProcess {
    private StreamsProcess() {}

    static Process start(StreamsSettings settings, Path log) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StreamsProcess.class.getName(),
                        settings.bootstrapServer(),
                        settings.schemaRegistry(),
                        settings.streamsStateDir().toString()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(new File(log.toString())))
                .start();
    }

    /** SIGKILL: no hook runs, nothing is flushed. */
    static void kill(Process process) throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the process " + process.pid() + " survived its kill");
        }
    }

    /** SIGSTOP: freezes the process, with its connections and its open transaction. */
    static void freeze(Process process) throws IOException, InterruptedException {
        signal(process, "-STOP");
    }

    /** SIGCONT: continues the frozen process. */
    static void thaw(Process process) throws IOException, InterruptedException {
        signal(process, "-CONT");
    }

    private static void signal(Process process, String signal) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
        if (kill.waitFor() != 0) {
            throw new IllegalStateException("kill " + signal + " " + process.pid() + " failed");
        }
    }

    public static void main(String[] args) {
        RegistryStreams service = RegistryStreams.start(new StreamsSettings(
                args[0],
                args[1],
                "puri-registry",
                Path.of(args[2]),
                2,
                0,
                Duration.ofMillis(25),
                1,
                64,
                "127.0.0.1",
                0,
                HttpSettings.DEFAULT,
                new KafkaProperties(Map.of("metadata.max.age.ms", "1000"))));
        service.ended().join();
    }
}
