package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests that the resolver refuses, and hostile references. */
final class RefusedRequestsTest extends ServedRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void parametersThatCannotBeAreNamed() {
        assertThat(get("/v1/changes?collection=tracks", 400)).contains("/problems/invalid-parameter");
        assertThat(get("/v1/changes?collection=a:b&collection=tracks", 400)).contains("\\\"tracks\\\"");
        // A name may contain a comma.
        assertThat(get("/v1/changes?collection=a:b,c", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/rejections?limit=0", 400)).contains("/problems/invalid-parameter", "limit");
        assertThat(get("/v1/rejections?position=x", 400)).contains("/problems/invalid-parameter", "position");
        assertThat(get("/v1/rejections?puri=x", 400)).contains("/problems/invalid-parameter", "puri");
    }

    @Test
    void namesMistakesOfABatchWithTheirPlace() {
        assertRefused("", "not-json", "empty");
        assertRefused("nonsense", "not-json", "\"line\":1");
        assertRefused("{\"refs\":[\"a:b:c\"", "not-json", "line");
        assertRefused("{\"refs\":[]} x", "not-json", "line");
        assertRefused("{\"refs\":[]}{}", "not-json", "something follows");
        assertRefused("{\"refs\":[],\"refs\":[]}", "not-json", "Duplicate");
        assertRefused("[\"a:b:c\"]", "invalid-body", "an object");
        assertRefused("{}", "invalid-body", "refs is missing");
        assertRefused("{\"refs\":\"a:b:c\"}", "invalid-body", "\"pointer\":\"/refs\"");
        assertRefused("{\"refs\":[\"a:b:c\",7]}", "invalid-body", "\"pointer\":\"/refs/1\"");
        assertRefused("{\"refs\":[null]}", "invalid-body", "\"pointer\":\"/refs/0\"");
        assertRefused("{\"refs\":[[\"a:b:c\"]]}", "invalid-body", "\"pointer\":\"/refs/0\"");
        assertRefused("{\"refs\":[],\"groupBy\":\"owner\"}", "invalid-body", "\"pointer\":\"/groupBy\"");
        assertRefused("{\"refs\":[],\"group/By\":1}", "invalid-body", "\"pointer\":\"/group~1By\"");
        assertRefused("{\"x\":" + "[".repeat(5000), "invalid-body", "\"pointer\":\"/x\"");
    }

    private void assertRefused(String body, String problem, String detail) {
        assertThat(post(body, 400))
                .as(body)
                .contains("https://puri.dev/problems/" + problem)
                .contains(detail);
    }

    @Test
    void bytesThatAreNotUtf8AreNotJson() {
        byte[] body = "{\"refs\":[\"a:b:X\"]}".getBytes(StandardCharsets.ISO_8859_1);
        body[14] = (byte) 0xff;

        assertThat(post(body, 400)).contains("not-json");
        assertThat(post("{", 400)).contains("not-json").doesNotContain("Source");
        // Overlong forms of a slash and of NUL, a lone surrogate, and another encoding.
        for (String bytes : List.of("\u00c0\u00af", "\u00e0\u0080\u00af", "\u00c0\u0080", "\u00ed\u00a0\u0080")) {
            byte[] hidden = ("{\"refs\":[\"a:b:" + bytes + "\"]}").getBytes(StandardCharsets.ISO_8859_1);
            assertThat(post(hidden, 400)).as(bytes).contains("not-json", "UTF-8");
        }
        assertThat(post("{\"refs\":[\"a:b:c\"]}".getBytes(StandardCharsets.UTF_16LE), 400))
                .contains("not-json");
    }

    @Test
    void hostileReferencesAreMalformedAndEchoedHarmlessly() throws IOException {
        List<String> hostile = List.of(
                "a:b:c\r\nX-Evil: 1",
                "a:b:\0",
                "\ud800",
                "a:b:\udc00",
                "a:b:" + "x".repeat(100_000),
                "a:b:" + "%".repeat(1000),
                "a:b:%FF",
                "a:b:<script>",
                "../../etc/passwd",
                ":".repeat(1000));
        String body = JSON.writeValueAsString(Map.of("refs", hostile));

        JsonNode batch = JSON.readTree(post(body, 200));

        assertThat(batch.at("/results").findValuesAsText("verdict"))
                .isEqualTo(Collections.nCopies(hostile.size(), "malformed"));
        assertThat(batch.at("/results/0/ref").asText()).isEqualTo(hostile.getFirst());
        assertThat(batch.at("/results").findValuesAsText("detail")).allMatch(detail -> detail.length() < 400);
        assertThat(post("{\"refs\":[\"\\ud800\"]}", 200)).contains("\"ref\":\"\ufffd\"", "malformed");
        assertThat(post("{\"refs\":[],\"\\ud800\":1}", 400)).contains("not-json");
    }

    @Test
    void hostilePathsAreMalformed() throws IOException {
        assertThat(get("/v1/identities/a:b:c%0D%0AX-Evil:%201", 400)).contains("malformed");
        assertThat(get("/v1/identities/a:b:%00", 400)).contains("malformed");
        assertThat(get("/v1/identities/%2e%2e%2f", 400)).contains("malformed");
        assertThat(get("/v1/identities/a:b:%FF", 400)).contains("malformed");
        assertThat(get("/v1/identities/" + "a".repeat(4000), 400)).contains("malformed");
        assertThat(raw("GET /v1/identities/a:b:\u00ff HTTP/1.1")).startsWith("HTTP/1.1 400 ");
        assertThat(raw("GET /v1/identities/" + "a".repeat(20_000) + " HTTP/1.1"))
                .contains(" 414 ");
        assertThat(raw("GET /v1/identities/soundcloud:tracks:123\u0000 HTTP/1.1"))
                .contains(" 400 ");
    }

    private String raw(String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write((line + "\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aQueryParameterThatIsNotKnownIsRefused() {
        assertThat(get("/v1/identities/a:b:c?token=3-1042", 400)).contains("unknown-parameter", "\"token\"");
    }
}
