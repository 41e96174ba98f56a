package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.settings.Settings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryStreamsTest {
    @TempDir
    private Path stateDir;

    @Test
    void closesAtOnceWhileNoBrokerAnswers() throws Exception {
        try (ServerSocket broker = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            RegistryStreams streams = RegistryStreams.start(Settings.read(
                    StreamsSettings.class,
                    Map.of(
                            "bootstrap.server",
                            "127.0.0.1:" + broker.getLocalPort(),
                            "schema.registry",
                            "http://127.0.0.1:1",
                            "streams.state.dir",
                            stateDir.toString(),
                            "streams.http.port",
                            "0"),
                    Map.of(),
                    null));
            broker.accept().close();
            long start = System.nanoTime();
            streams.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
            assertThat(streams.ended()).isCompleted();
        }
    }
}
