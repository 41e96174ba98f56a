package dev.puri.resolver.hostile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Requests as attackers, scanners and broken programs send them; its seed determines each. Most are complete, so that
 * they pass the parser, and unusual in one or two places; the others are damaged, truncated or concatenated.
 */
final class HostileRequests {
    /** Marks the beginning of a forged log line or header, if a line break passes. */
    static final String FORGED = "X-Forged: yes";

    private static final String UTF_8_FORGED = "\\u000d\\u000a" + FORGED;

    private static final List<String> METHODS =
            List.of("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "BREW", "X".repeat(300));

    private static final List<String> PATHS = List.of(
            "/",
            "//",
            "/v1",
            "/v1/resolve/",
            "/V1/resolve",
            "/v1/../metrics",
            "/v1/identities/",
            "/v1/identities/a/b",
            "/v1/rejections",
            "/v1/export",
            "/v1/export?format=avro&collection=a:b",
            "/v1/collections",
            "/v1/stats",
            "/openapi.json",
            "/health/started",
            "/health/live",
            "/health/ready",
            "/metrics",
            "/page/app.js",
            "/page/..%2f..%2fetc%2fpasswd",
            "/problems/unknown-parameter",
            "/problems/%2e%2e%2f%2e%2e%2fapp.js",
            "/.git/config",
            "/cgi-bin/x?%0d%0a" + FORGED,
            "/%c0%af%c0%ae/",
            "/%00",
            "/%",
            "/\u00ff\u00fe",
            "/" + utf8("\u202egnp.exe\u2028"),
            "http://other.example/v1/stats",
            "https://",
            "*",
            "?",
            "/#x",
            "/" + "a/".repeat(2000),
            "/" + "x".repeat(9000));

    private static final List<String> TEXTS = List.of(
            "",
            ":",
            "::",
            "a:b",
            "a:b:c:d",
            "a:b:%",
            "a:b:%2",
            "a:b:%zz",
            "a:b:%2F",
            "a:b:%252F",
            "a%3Ab%3Ac",
            "a:b:%00",
            "a:b:%0d%0a" + FORGED,
            "a:b:%c3%28",
            "a:b:%ed%a0%80",
            "a:b:%e2%80%ae",
            "a:b:..",
            "..",
            "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "${jndi:ldap://127.0.0.1/x}",
            "{{7*7}}",
            "<script>alert(1)</script>",
            "'; DROP TABLE identities; --",
            "trk_",
            "trk_4k7vx9tz2nqr8w30",
            "TRK_4K7VX9TZ2NQR8W3",
            "trk_lllllllllllllll",
            "a:b:" + "c".repeat(256),
            "a".repeat(64) + ":b:c",
            "x".repeat(7000),
            "\u00e4:\u00f6:\u00fc",
            utf8("\u202e:\u2028:\ud83d\ude00"),
            "\u00ff\u00fe\u0080");

    private static final List<String> TOKENS = List.of(
            "0-0",
            "1-5",
            "2-7",
            "0-99999999",
            "99-1",
            "03-1",
            "+3-1",
            "-1-1",
            "0--1",
            "0-9223372036854775807",
            "0-9223372036854775808",
            "2147483648-0",
            "music-0-3",
            "Music-0-3",
            "-",
            "--",
            "0",
            "%d9%a1-%d9%a2",
            "0-1%0d%0a" + FORGED,
            "x".repeat(5000));

    private static final List<String> WAITS =
            List.of("0s", "1ms", "20ms", "-1s", "1", "9e9s", "99999999999s", "s", "1h");

    private static final List<String> PARAMETERS =
            List.of("at", "wait", "puri", "position", "limit", "collection", "att", "AT", "%61t", "", "a%0d%0ab");

    private static final List<String> HEADERS = List.of(
            "Host: other.example",
            "Host:",
            "Accept: */*",
            "Accept: text/html, " + "x,".repeat(500),
            "Accept-Encoding: gzip, br",
            "Expect: 100-continue",
            "Connection: keep-alive, Upgrade",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABkAAQAAP__",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\t" + FORGED,
            "traceparent: ff-00000000000000000000000000000000-0000000000000000-00",
            "traceparent: " + "a".repeat(3000),
            "Last-Event-ID: ",
            "Last-Event-ID: AAAAAAAA",
            "Last-Event-ID: " + "Zm9v".repeat(1000),
            "X-Forwarded-For: 127.0.0.1",
            "X-Real-IP: ' OR 1=1",
            "Content-Type: text/plain; charset=\u00ff",
            "Range: bytes=0-,0-,0-,0-",
            "If-None-Match: *",
            "Cookie: " + "a=b; ".repeat(500),
            "X-Long: " + "x".repeat(12_000),
            "Forwarded: for=\"_" + FORGED + "\"");

    /** Requests whose end, or whether they are requests at all, is ambiguous. */
    private static final List<String> BROKEN_HEADERS = List.of(
            "Content-Length: -1",
            "Content-Length: +5",
            "Content-Length: 5, 5",
            "Content-Length: 99999999999999999999",
            "Content-Length: 0x10",
            "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: 100000",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Transfer-Encoding : chunked",
            "No colon",
            ": no name",
            "Bad name: x",
            "Folded: a\r\n b",
            "Nul: \u0000",
            "Bare: a\r" + FORGED,
            "Bare: a\n" + FORGED,
            "X-Endless: " + "x".repeat(40_000));

    private final Random random;
    private final List<String> known;
    private final String bearer;

    private HostileRequests(long seed, List<String> known, String bearer) {
        this.random = new Random(seed);
        this.known = known;
        this.bearer = bearer;
    }

    /**
     * @param known references that are there
     * @param bearer a token that is good for everything
     */
    static HostileRequest of(long seed, List<String> known, String bearer) {
        HostileRequests requests = new HostileRequests(seed, known, bearer);
        // The first random numbers of consecutive seeds are similar.
        requests.random.nextLong();
        return requests.next(seed);
    }

    private HostileRequest next(long seed) {
        int kind = random.nextInt(100);
        if (kind < 60) {
            return whole(seed);
        }
        if (kind < 66) {
            int count = 2 + random.nextInt(4);
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < count; i++) {
                all.append(whole(seed).text());
            }
            return broken(seed, all.toString());
        }
        if (kind < 76) {
            return broken(seed, withHeader(whole(seed).text(), pick(BROKEN_HEADERS)));
        }
        if (kind < 90) {
            return broken(seed, damaged(whole(seed).text()));
        }
        if (kind < 96) {
            String text = whole(seed).text();
            return broken(seed, text.substring(0, random.nextInt(text.length())));
        }
        return broken(seed, noise());
    }

    private static HostileRequest broken(long seed, String text) {
        return new HostileRequest(seed, text, 0, false);
    }

    private HostileRequest whole(long seed) {
        int kind = random.nextInt(100);
        String method = "GET";
        String target;
        String body = "";
        if (kind < 45) {
            target = "/v1/identities/" + inPath(ref()) + query();
            method = random.nextInt(8) == 0 ? "HEAD" : "GET";
        } else if (kind < 75) {
            target = "/v1/resolve" + (random.nextInt(6) == 0 ? query() : "");
            method = "POST";
            body = body();
        } else if (kind < 80) {
            target = "/v1/changes"
                    + (random.nextBoolean() ? "?collection=" + pick(TEXTS).replaceAll("[^!-~]", "") : "");
        } else if (kind < 85) {
            target = "/v1/rejections" + query();
        } else {
            target = pick(PATHS);
        }
        if (random.nextInt(20) == 0) {
            method = pick(METHODS);
        }
        StringBuilder request =
                new StringBuilder(method).append(' ').append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
        if (random.nextInt(10) < 8) {
            request.append("Authorization: Bearer ").append(bearer).append("\r\n");
        } else {
            request.append(authorization());
        }
        for (int i = random.nextInt(10) < 6 ? 0 : 1 + random.nextInt(3); i > 0; i--) {
            request.append(pick(HEADERS)).append("\r\n");
        }
        if (random.nextInt(100) == 0) {
            request.append("X-Many: x\r\n".repeat(1 + random.nextInt(2000)));
        }
        if (!body.isEmpty()) {
            if (random.nextInt(4) == 0) {
                request.append("Transfer-Encoding: chunked\r\n\r\n").append(chunked(body));
            } else {
                request.append("Content-Length: ")
                        .append(body.length())
                        .append("\r\n\r\n")
                        .append(body);
            }
        } else {
            request.append("\r\n");
        }
        // The parser may refuse a byte beyond ASCII or an unusual method; it then responds with an error and closes.
        return new HostileRequest(seed, request.toString(), 1, method.equals("HEAD"));
    }

    private String authorization() {
        String value = switch (random.nextInt(9)) {
            case 0 -> "";
            case 1 -> "Bearer";
            case 2 -> "Bearer " + bearer + "x";
            case 3 -> "Basic cm9vdDpyb290";
            // {"alg":"none"} and empty claims.
            case 4 -> "Bearer eyJhbGciOiJub25lIn0.eyJzY29wZSI6ImFkbWluIn0.";
            case 5 -> "Bearer " + "a".repeat(1 + random.nextInt(8000));
            case 6 -> "bearer " + bearer;
            case 7 -> "Bearer \u00ff\u00fe " + bearer;
            default -> "Bearer " + bearer + "\r\nAuthorization: Bearer " + bearer;
        };
        return random.nextInt(4) == 0 ? "" : "Authorization: " + value + "\r\n";
    }

    private String ref() {
        return switch (random.nextInt(6)) {
            case 0, 1 -> pick(known);
            case 2 -> pick(known).toUpperCase(Locale.ROOT);
            case 3 -> someEscaped(pick(known));
            case 4 -> pick(TEXTS);
            default -> pick(known) + pick(TEXTS);
        };
    }

    private String someEscaped(String text) {
        return text.chars()
                .mapToObj(c -> random.nextInt(3) == 0 ? String.format("%%%02x", c) : Character.toString(c))
                .collect(Collectors.joining());
    }

    /** No byte that would end the request line, which would be another attack. */
    private static String inPath(String ref) {
        return ref.replace(" ", "%20").replace("?", "%3f").replace("#", "%23");
    }

    private String query() {
        if (random.nextInt(3) > 0) {
            return "";
        }
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            switch (random.nextInt(4)) {
                case 0 -> parts.add("at=" + pick(TOKENS));
                case 1 -> parts.add("wait=" + pick(WAITS));
                case 2 -> parts.add("at=" + pick(TOKENS) + "&wait=" + pick(WAITS));
                default -> parts.add(pick(PARAMETERS) + "=" + inPath(pick(TEXTS)));
            }
        }
        return "?" + String.join("&", parts);
    }

    private String body() {
        return switch (random.nextInt(20)) {
            case 0 -> "[]";
            case 1 -> "null";
            case 2 -> "{\"refs\":" + "[".repeat(1 + random.nextInt(5000));
            case 3 -> "{\"refs\":[\"a:b:c\"]}{\"refs\":[]}";
            case 4 -> "{\"refs\":[],\"refs\":[]}";
            case 5 -> "{\"refs\":[\"a:b:c\"],\"groupBy\":\"" + escaped(pick(TEXTS)) + "\"}";
            case 6 -> "{\"refs\":[\"\u00ff\u00fe\u0080\"]}";
            case 7 -> "{\"refs\":[1e999999999,-0,0.0,true,null,{},[]]}";
            case 8 -> "{\"" + escaped(pick(TEXTS)) + "\":1}";
            case 9 -> "{\"refs\":[" + "\"a:b:c\",".repeat(1000 + random.nextInt(3)) + "\"a:b:d\"]}";
            case 10 -> random.nextInt(5) == 0 ? " ".repeat((1 << 20) + random.nextInt(3)) : "\ufeff".repeat(3);
            default -> batch();
        };
    }

    private String batch() {
        List<String> items = new ArrayList<>();
        for (int i = random.nextInt(8); i >= 0; i--) {
            String ref = '"' + escaped(ref()) + '"';
            items.add(
                    switch (random.nextInt(8)) {
                        case 0 -> "{\"ref\":" + ref + ",\"at\":\"" + escaped(pick(TOKENS)) + "\"}";
                        case 1 -> "{\"ref\":" + ref + "}";
                        case 2 -> '"' + "\\ud800" + UTF_8_FORGED + '"';
                        default -> ref;
                    });
        }
        String group = random.nextBoolean() ? ",\"groupBy\":\"shard\"" : "";
        return "{\"refs\":[" + String.join(",", items) + "]" + group + "}";
    }

    /** Mostly valid JSON. */
    private String escaped(String text) {
        return random.nextInt(20) == 0
                ? text
                : text.replace("\\", "\\\\").replace("\"", "\\\"").replace("%0d%0a", UTF_8_FORGED);
    }

    private String chunked(String body) {
        StringBuilder chunks = new StringBuilder();
        for (int from = 0; from < body.length(); ) {
            int to = Math.min(body.length(), from + 1 + random.nextInt(body.length()));
            chunks.append(Integer.toHexString(to - from))
                    .append(random.nextInt(4) == 0 ? ";ext=\"" + FORGED + '"' : "")
                    .append("\r\n")
                    .append(body, from, to)
                    .append("\r\n");
            from = to;
        }
        return chunks.append("0\r\n")
                .append(random.nextInt(4) == 0 ? FORGED + "\r\n" : "")
                .append("\r\n")
                .toString();
    }

    private static String withHeader(String request, String header) {
        int end = request.indexOf("\r\n") + 2;
        return request.substring(0, end) + header + "\r\n" + request.substring(end);
    }

    private String damaged(String request) {
        StringBuilder damaged = new StringBuilder(request);
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            // Mostly where the parser works.
            int at = random.nextInt(random.nextBoolean() ? Math.min(100, damaged.length()) : damaged.length());
            switch (random.nextInt(3)) {
                case 0 -> damaged.setCharAt(at, (char) random.nextInt(256));
                case 1 -> damaged.insert(at, pick(List.of("\r\n", "\n", "\u0000", " ", "%", "\r\n\r\n", "\u00ff")));
                default -> damaged.deleteCharAt(at);
            }
        }
        return damaged.toString();
    }

    private String noise() {
        byte[] bytes = new byte[1 + random.nextInt(2000)];
        random.nextBytes(bytes);
        String noise = new String(bytes, StandardCharsets.ISO_8859_1);
        // The beginnings of TLS and of HTTP/2, which this listener does not support.
        return pick(List.of("", "\u0016\u0003\u0001\u0002\u0000", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET ")) + noise;
    }

    private <T> T pick(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    private static String utf8(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
