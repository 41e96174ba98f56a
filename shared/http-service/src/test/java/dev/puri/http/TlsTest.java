package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.testkit.TestCertificates;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class TlsTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    @TempDir
    private Path folder;

    private final Metrics metrics = new Metrics();
    private @Nullable Listener listener;
    private Path certificate;
    private Path key;

    @BeforeEach
    void files() {
        certificate = CERTIFICATES.certificate("server", folder.resolve("server.pem"));
        key = CERTIFICATES.key("server", folder.resolve("server.key"));
    }

    @AfterEach
    void stop() {
        if (listener != null) {
            listener.close();
        }
        metrics.close();
    }

    @Test
    void bothProtocolsAreSpoken() throws Exception {
        start(Map.of());

        assertThat(get(null, HttpClient.Version.HTTP_2).version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(get(null, HttpClient.Version.HTTP_1_1).version()).isEqualTo(HttpClient.Version.HTTP_1_1);
    }

    @Test
    void tls11IsRefused() throws IOException {
        start(Map.of());
        try (SSLSocket socket = socket()) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            socket.startHandshake();
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.2");
        }
        // The JDK of the test does not support TLS 1.1, so the test sends the ClientHello itself.
        byte[] greeting = tls11ClientHello();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(greeting);
            byte[] answer = socket.getInputStream().readNBytes(7);

            // An alert: fatal, protocol_version (RFC 5246, 7.2).
            assertThat(answer[0]).isEqualTo((byte) 21);
            assertThat(answer[5]).isEqualTo((byte) 2);
            assertThat(answer[6]).isEqualTo((byte) 70);
        }
    }

    private static byte[] tls11ClientHello() {
        byte[] hello = new byte[5 + 4 + 2 + 32 + 1 + 2 + 2 + 2];
        int at = 0;
        for (int b : new int[] {22, 3, 1, 0, hello.length - 5, 1, 0, 0, hello.length - 9, 3, 2}) {
            hello[at++] = (byte) b;
        }
        at += 32;
        // No session; one suite, TLS_RSA_WITH_AES_128_CBC_SHA; no compression.
        for (int b : new int[] {0, 0, 2, 0, 0x2f, 1, 0}) {
            hello[at++] = (byte) b;
        }
        return hello;
    }

    @Test
    void aClientWithoutACertificateIsRefusedWhereOneIsRequired() throws Exception {
        start(clientAuth("required"));

        assertThat(get("client", HttpClient.Version.HTTP_2).body()).isEqualTo("hello");
        assertThatThrownBy(() -> get(null, HttpClient.Version.HTTP_1_1)).isInstanceOf(IOException.class);
    }

    @Test
    void clientCertificateOfAnotherCaIsRefused() throws Exception {
        start(clientAuth("request"));

        assertThat(get(null, HttpClient.Version.HTTP_1_1).body()).isEqualTo("hello");
        assertThatThrownBy(() -> get("stranger", HttpClient.Version.HTTP_1_1)).isInstanceOf(IOException.class);
    }

    @Test
    void renewedCertificatesAreReloaded() throws Exception {
        start(Map.of());
        assertThat(subject()).isEqualTo("CN=server");

        // A renewal writes one file after the other: for a moment they do not match.
        replace(CERTIFICATES.certificate("renewed", folder.resolve("new")), certificate);
        get(null, HttpClient.Version.HTTP_1_1);
        replace(CERTIFICATES.key("renewed", folder.resolve("new")), key);

        await("CN=renewed");
    }

    @Test
    void aFailedRenewalKeepsTheCertificate() throws Exception {
        start(Map.of());
        Files.writeString(certificate, "nonsense");
        CERTIFICATES.certificate("renewed", folder.resolve("new"));
        for (int i = 0; i < 20; i++) {
            assertThat(subject()).isEqualTo("CN=server");
        }
        replace(folder.resolve("new"), certificate);
        replace(CERTIFICATES.key("renewed", folder.resolve("new")), key);

        await("CN=renewed");
    }

    @Test
    void filesThatMakeNoServerAreNamedAtTheStart() throws IOException {
        CERTIFICATES.key("renewed", key);
        assertThatThrownBy(() -> start(Map.of()))
                .isInstanceOf(CannotListenException.class)
                .hasMessageContaining(key.toString());
        CERTIFICATES.key("client", key);
        assertThatThrownBy(() -> start(Map.of()))
                .isInstanceOf(CannotListenException.class)
                .hasMessageContaining("does not belong to " + certificate);
        Files.delete(certificate);
        assertThatThrownBy(() -> start(Map.of()))
                .isInstanceOf(CannotListenException.class)
                .hasMessageContaining("PURI_TLS_CERTIFICATE: the file " + certificate);
    }

    @Test
    void halfASettingIsAMistake() {
        assertThatThrownBy(() -> RunningListener.http(Map.of("tls.key", "/k")))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_TLS_CERTIFICATE");
        assertThatThrownBy(() -> RunningListener.http(Map.of("tls.client.auth", "required")))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_TLS_CLIENT_CA");
        assertThatThrownBy(() -> RunningListener.http(Map.of("tls.client.auth", "perhaps")))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("none, request or required");
        assertThatThrownBy(() -> RunningListener.http(Map.of("tls.key", "/k", "tls.client.ca", "/ca")))
                .hasMessageContaining("PURI_TLS_CERTIFICATE and PURI_TLS_KEY")
                .hasMessageContaining("PURI_TLS_CLIENT_CA: has no effect");
    }

    @Test
    void aSlowTlsHandshakeIsDisconnected() throws IOException {
        start(Map.of("header.timeout", "200ms"));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            socket.setSoTimeout(20_000);
            InputStream in = socket.getInputStream();

            assertThat(in.readAllBytes()).hasSizeLessThan(100);
        }
    }

    private Map<String, String> clientAuth(String demand) {
        Path ca = CERTIFICATES.certificate("ca", folder.resolve("ca.pem"));
        return Map.of("tls.client.ca", ca.toString(), "tls.client.auth", demand);
    }

    private void start(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("tls.certificate", certificate.toString());
        all.put("tls.key", key.toString());
        Route hello = Route.get(
                "/",
                Scope.NONE,
                exchange -> exchange.answer(200, "text/plain", "hello".getBytes(StandardCharsets.UTF_8)));
        listener = Listener.start(
                ListenerOptions.at("127.0.0.1", 0).onOneThread().with(RunningListener.http(all)),
                List.of(hello),
                metrics,
                Duration.ofMillis(20));
    }

    private int port() {
        return Objects.requireNonNull(listener).port();
    }

    private HttpResponse<String> get(@Nullable String alias, HttpClient.Version version) throws Exception {
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(CERTIFICATES.client(alias))
                .version(version)
                .build()) {
            URI uri = URI.create("https://127.0.0.1:" + port() + "/");
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    private SSLSocket socket() throws IOException {
        return (SSLSocket) CERTIFICATES.client(null).getSocketFactory().createSocket("127.0.0.1", port());
    }

    /** Returns the subject of the server's certificate. */
    private String subject() throws IOException {
        try (SSLSocket socket = socket()) {
            socket.startHandshake();
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
                    .getSubjectX500Principal()
                    .getName();
        }
    }

    private void await(String subject) throws IOException {
        for (long until = System.nanoTime() + 20_000_000_000L; !subject().equals(subject); ) {
            assertThat(System.nanoTime()).as("still waiting for " + subject).isLessThan(until);
        }
    }

    private static void replace(Path by, Path file) throws IOException {
        Files.move(by, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
