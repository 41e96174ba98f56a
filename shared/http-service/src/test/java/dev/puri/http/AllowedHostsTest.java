package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.testkit.TestCertificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checks which hosts a listener serves, so that a web page cannot rebind its own name to the listener. */
@Timeout(60)
final class AllowedHostsTest {
    private static final List<String> LOOPBACK = List.of(
            "localhost",
            "LOCALHOST:8080",
            "app.localhost",
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]",
            "[::1]:8080",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]:8080");
    private static final List<String> OTHERS = List.of(
            "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1");

    @Test
    void anOpenListenerOnTheLoopbackAcceptsOnlyLoopbackNames() throws IOException {
        for (String bound : List.of("127.0.0.1", "localhost")) {
            try (Metrics metrics = new Metrics();
                    Listener listener = start(bound, Map.of(), metrics)) {
                for (String host : LOOPBACK) {
                    assertThat(ask(listener, "/things/a", host)).as(host).startsWith("HTTP/1.1 200 ");
                }
                for (String host : OTHERS) {
                    assertThat(ask(listener, "/things/a", host))
                            .as(host)
                            .startsWith("HTTP/1.1 421 ")
                            .contains("https://puri.dev/problems/misdirected", "PURI_HTTP_ALLOWED_HOSTS");
                }
            }
        }
    }

    @Test
    void theHostOfAnAbsoluteTargetOverridesTheHeader() throws IOException {
        try (Metrics metrics = new Metrics();
                Listener listener = start("127.0.0.1", Map.of(), metrics)) {
            assertThat(ask(listener, "http://evil.example/things/a", "localhost"))
                    .startsWith("HTTP/1.1 421 ");
            assertThat(ask(listener, "http://localhost/things/a", "evil.example"))
                    .startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void aListenerOnAnotherAddressAcceptsAnyHost() throws IOException {
        try (Metrics metrics = new Metrics();
                Listener listener = start("0.0.0.0", Map.of(), metrics)) {
            for (String host : List.of("resolver:8080", "evil.example", "10.0.0.1")) {
                assertThat(ask(listener, "/things/a", host)).as(host).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void tokensProtectAListenerOnTheLoopbackFromPagesOfAnyHost(@TempDir Path folder) throws IOException {
        Path tokens = Files.writeString(folder.resolve("tokens"), "");
        try (Metrics metrics = new Metrics();
                Listener listener = start("127.0.0.1", Map.of("auth.tokens", tokens.toString()), metrics)) {
            assertThat(ask(listener, "/things/a", "registry.example.org")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void listedHostsAreAcceptedOnEveryAddress() throws IOException {
        for (String bound : List.of("127.0.0.1", "0.0.0.0")) {
            try (Metrics metrics = new Metrics();
                    Listener listener = start(
                            bound,
                            Map.of("http.allowed.hosts", "Registry.example.org, resolver,[2001:db8:0::1]"),
                            metrics)) {
                for (String host : List.of(
                        "registry.example.org",
                        "REGISTRY.example.org:443",
                        "resolver:8080",
                        "[2001:db8::1]",
                        "[2001:DB8:0:0:0:0:0:1]:8080",
                        "localhost")) {
                    assertThat(ask(listener, "/things/a", host)).as(host).startsWith("HTTP/1.1 200 ");
                }
                for (String host : OTHERS) {
                    assertThat(ask(listener, "/things/a", host)).as(host).startsWith("HTTP/1.1 421 ");
                }
            }
        }
    }

    @Test
    void aStarAllowsAnyHost() throws IOException {
        try (Metrics metrics = new Metrics();
                Listener listener = start("127.0.0.1", Map.of("http.allowed.hosts", "*"), metrics)) {
            assertThat(ask(listener, "/things/a", "evil.example")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void theAuthorityOfHttp2IsCheckedToo(@TempDir Path folder) throws Exception {
        TestCertificates certificates = TestCertificates.shared();
        Map<String, String> settings = new HashMap<>(Map.of(
                "tls.certificate",
                certificates.certificate("server", folder.resolve("c")).toString(),
                "tls.key",
                certificates.key("server", folder.resolve("k")).toString()));
        for (String allowed : List.of("", "registry.example.org")) {
            settings.put("http.allowed.hosts", allowed);
            try (Metrics metrics = new Metrics();
                    Listener listener = start("127.0.0.1", settings, metrics);
                    RawHttp2 raw = new RawHttp2(certificates.client(null), listener.port())) {
                raw.get(1, "/things/a", "evil.example");
                assertThat(Http2Test.status(raw, 1)).isEqualTo(allowed.isEmpty() ? "200" : "421");
                raw.get(3, "/things/a", "registry.example.org:443");
                assertThat(Http2Test.status(raw, 3)).isEqualTo("200");
            }
        }
    }

    @Test
    void aSettingThatIsNotAHostIsRefused() {
        for (String wrong : List.of("http://a.example", "a.example:8080", "a b", "[::1", "*.example.org/")) {
            assertThatThrownBy(() -> RunningListener.http(Map.of("http.allowed.hosts", wrong)))
                    .as(wrong)
                    .isInstanceOf(InvalidSettingsException.class)
                    .hasMessageContaining("PURI_HTTP_ALLOWED_HOSTS");
        }
    }

    private static Listener start(String bound, Map<String, String> settings, Metrics metrics) {
        Route things = Route.get(
                "/things/{name}", Scope.NONE, exchange -> exchange.answer(200, "text/plain", new byte[] {'x'}));
        return Listener.start(
                ListenerOptions.at(bound, 0).onOneThread().with(RunningListener.http(settings)),
                List.of(things),
                metrics);
    }

    private static String ask(Listener listener, String target, String host) throws IOException {
        return RawHttp1.ask(
                listener.port(), "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    }
}
