package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** Text from clients is logged but cannot forge log lines. */
@Isolated("reads what all classes log")
@Timeout(60)
final class LoggingTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String TRACEPARENT = "00-" + TRACE + "-b7ad6b7169203331-01";

    private final Metrics metrics = new Metrics();
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final Logger root = (Logger) LoggerFactory.getLogger("dev.puri.http");
    private Listener listener;

    @BeforeEach
    void start() {
        logged.start();
        root.setLevel(Level.DEBUG);
        root.addAppender(logged);
        List<Route> routes = List.of(
                Route.get("/things/{name}", Scope.NONE, exchange -> exchange.answer(200, "text/plain", new byte[5])),
                Route.get(
                        "/later",
                        Scope.NONE,
                        exchange -> exchange.runOnEventLoop(() -> {
                            LoggerFactory.getLogger(LoggingTest.class).info("a part of it");
                            exchange.answer(200, "text/plain", new byte[0]);
                        })),
                Route.get("/bug/{name}", Scope.NONE, exchange -> {
                    throw new IllegalStateException("inside");
                }));
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0).onOneThread(), routes, metrics);
    }

    @AfterEach
    void stop() {
        root.detachAppender(logged);
        root.setLevel(null);
        listener.close();
        metrics.close();
    }

    @Test
    void aRequestIsOneLineAtDebug() throws IOException {
        ask("/things/a", "");

        assertThat(logged.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.DEBUG);
            assertThat(line.getFormattedMessage()).isEqualTo("Answered");
            assertThat(fields(line))
                    .containsEntry("listener", "internal")
                    .containsEntry("method", "GET")
                    .containsEntry("path", "/things/a")
                    .containsEntry("status", "200")
                    .containsEntry("bytes", "5")
                    .containsEntry("protocol", "HTTP_1_1")
                    .containsKey("micros")
                    .doesNotContainKeys("traceId", "bearer");
        });
    }

    @Test
    void aboveDebugNothingIsLogged() throws IOException {
        root.setLevel(Level.INFO);
        ask("/things/a", "");

        assertThat(logged.list).isEmpty();
    }

    @Test
    void noInputReachesALogAsItIs() throws IOException {
        // A percent-encoded CR/LF is text of the path. A raw CR/LF makes the path invalid.
        String rtl = new String("\u202e\u2028\u0085".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        ask("/bug/a%0d%0aERROR%20forged", "");
        ask("/bug/" + rtl, "");
        ask("/bug/\u001b[31m", "");
        ask("/bug/" + "x".repeat(3000), "");
        ask("/nowhere\\u000a", "");
        ask("/bug/x\"%20status=\"200", "");

        assertThat(logged.list).hasSizeGreaterThan(5);
        for (ILoggingEvent line : logged.list) {
            String text = line.getFormattedMessage() + fields(line);
            assertThat(text.chars()
                            .filter(c -> c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x202e || c == '"'))
                    .as(text)
                    .isEmpty();
            assertThat(text).hasSizeLessThan(1000);
        }
    }

    @Test
    void hardTextIsEscapedAndCut() {
        assertThat(LogText.escape("/v1/identities/a%0A:é漢")).isEqualTo("/v1/identities/a%0A:é漢");
        assertThat(LogText.escape("a\r\nb\tc\u001b")).isEqualTo("a\\u000d\\u000ab\\u0009c\\u001b");
        assertThat(LogText.escape("\u0085\u2028\u2029\u202e\u200f\u2066\ufeff"))
                .isEqualTo("\\u0085\\u2028\\u2029\\u202e\\u200f\\u2066\\ufeff");
        assertThat(LogText.escape("x\" status=\"200")).isEqualTo("x\\u0022 status=\\u0022200");
        // Text that looks like an escape of LogText is escaped itself.
        assertThat(LogText.escape("\\u000a")).isEqualTo("\\u005cu000a");
        assertThat(LogText.escape("x".repeat(200))).hasSize(200);
        assertThat(LogText.escape("x".repeat(5000))).hasSizeLessThan(220).endsWith("…(5000)");
        assertThat(LogText.escape("\n".repeat(5000))).hasSizeLessThan(220);
        assertThat(LogText.escape(null)).isEmpty();
    }

    @Test
    void aTraceIsPassedThrough() throws IOException {
        String answer = ask("/later", "traceparent: " + TRACEPARENT + "\r\n");

        assertThat(answer).contains("traceparent: " + TRACEPARENT + "\r\n");
        assertThat(logged.list)
                .filteredOn(line -> line.getFormattedMessage().equals("a part of it"))
                .singleElement()
                .satisfies(line -> assertThat(line.getMDCPropertyMap()).isEqualTo(Map.of("traceId", TRACE)));
        assertThat(logged.list)
                .filteredOn(line -> line.getFormattedMessage().equals("Answered"))
                .singleElement()
                .satisfies(line -> assertThat(fields(line)).containsEntry("traceId", TRACE));
        logged.list.clear();

        // The trace id ends with the request.
        ask("/later", "");
        assertThat(logged.list)
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line.getMDCPropertyMap()).isEmpty());
    }

    @Test
    void aForgedTraceparentIsDropped() throws IOException {
        for (String forged : List.of(
                "",
                "00-" + TRACE + "-b7ad6b7169203331",
                "00-" + TRACE + "-b7ad6b7169203331-01-x",
                "00-" + TRACE + "-b7ad6b7169203331-01 ",
                "ff-" + TRACE + "-b7ad6b7169203331-01",
                "0-" + TRACE + "-b7ad6b7169203331-01",
                "00-" + "0".repeat(32) + "-b7ad6b7169203331-01",
                "00-" + TRACE + "-0000000000000000-01",
                "00-" + TRACE.toUpperCase(Locale.ROOT) + "-b7ad6b7169203331-01",
                "00-" + TRACE.replace('0', '\n') + "-b7ad6b7169203331-01",
                "01-" + TRACE + "-b7ad6b7169203331-01x",
                "01-" + TRACE + "-b7ad6b7169203331-01-" + "x".repeat(100))) {
            assertThat(TraceContext.parse(forged)).as(forged).isNull();
        }
        assertThat(TraceContext.parse("cc-" + TRACE + "-b7ad6b7169203331-00-what-comes"))
                .isEqualTo(new TraceContext("cc-" + TRACE + "-b7ad6b7169203331-00", TRACE));
        assertThat(ask("/things/a", "traceparent: 00-x<script>\r\n")).doesNotContain("traceparent", "script");
    }

    private String ask(String path, String headers) throws IOException {
        return RawHttp1.ask(
                listener.port(),
                "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n");
    }

    private static Map<String, String> fields(ILoggingEvent line) {
        return line.getKeyValuePairs() == null
                ? Map.of()
                : line.getKeyValuePairs().stream()
                        .collect(Collectors.toMap(pair -> pair.key, pair -> String.valueOf(pair.value)));
    }
}
