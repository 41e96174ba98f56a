package dev.puri.http;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.Map;

/** Limits and timeouts of listeners. Every server has these settings. */
public record HttpLimits(
        @Setting(
                doc = "Maximum size of the request headers, in bytes.",
                byDefault = "16384",
                atLeast = "256",
                atMost = "1048576")
        int maxHeaderBytes,

        @Setting(
                doc = "Maximum size of the request line in bytes: method, URL and version. On HTTP/2, of the URL.",
                byDefault = "8192",
                atLeast = "256",
                atMost = "1048576")
        int maxUrlBytes,

        @Setting(doc = "Maximum number of open connections of a listener.", byDefault = "10000", atLeast = "1")
        int maxConnections,

        @Setting(
                doc = "Maximum number of concurrent requests on an HTTP/2 connection. HTTP/1.1 allows one.",
                byDefault = "100",
                atLeast = "1",
                atMost = "100000")
        int maxConnectionRequests,

        @Setting(
                doc = "Maximum number of HTTP/2 streams that a client may reset within 30 s, per connection.",
                byDefault = "200",
                atLeast = "1",
                atMost = "1000000")
        int maxResets,

        @Setting(
                doc = "Maximum time from a new connection to its first complete request headers, TLS included.",
                byDefault = "10s",
                atLeast = "10ms",
                atMost = "1h")
        Duration headerTimeout,

        @Setting(
                doc = "Maximum time to receive a request body, or to deliver the last bytes of a stream. Received bytes"
                        + " do not extend it.",
                byDefault = "10s",
                atLeast = "10ms",
                atMost = "1h")
        Duration bodyTimeout,

        @Setting(
                doc = "Maximum time to a response; after it the response is 503. Must be longer than the longest wait"
                        + " that a client may request.",
                byDefault = "6m",
                atLeast = "10ms",
                atMost = "1d")
        Duration answerTimeout,

        @Setting(
                doc = "Maximum time that a connection may be idle.",
                byDefault = "60s",
                atLeast = "10ms",
                atMost = "1d")
        Duration idleTimeout,

        @Setting(
                doc = "Maximum time that a stopping server waits for requests in progress.",
                byDefault = "5s",
                atLeast = "0ms",
                atMost = "1h")
        Duration closeGrace) {
    /** The default limits. */
    public static final HttpLimits DEFAULT = Settings.read(HttpLimits.class, Map.of(), Map.of(), null);
}
