package dev.puri.http;

import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.Map;

/** Bounds and time-outs of listeners; every server has these settings. */
public record HttpLimits(
        @Setting(doc = "Most bytes of a request's headers.", byDefault = "16384", atLeast = "256", atMost = "1048576")
        int maxHeaderBytes,

        @Setting(doc = "Most bytes of a request's line.", byDefault = "8192", atLeast = "256", atMost = "1048576")
        int maxUrlBytes,

        @Setting(doc = "Most connections at a time to a listener.", byDefault = "10000", atLeast = "1")
        int maxConnections,

        @Setting(
                doc = "Most requests at a time on an HTTP/2 connection; on one of HTTP/1.1 it is one.",
                byDefault = "100",
                atLeast = "1",
                atMost = "100000")
        int maxConnectionRequests,

        @Setting(
                doc = "Most HTTP/2 streams that a connection may reset within 30 s.",
                byDefault = "200",
                atLeast = "1",
                atMost = "1000000")
        int maxResets,

        @Setting(
                doc = "How long a new connection may take to its first request, TLS included.",
                byDefault = "10s",
                atLeast = "10ms",
                atMost = "1h")
        Duration headerTimeout,

        @Setting(
                doc = "How long a request's body may take to arrive, however steadily it drips.",
                byDefault = "10s",
                atLeast = "10ms",
                atMost = "1h")
        Duration bodyTimeout,

        @Setting(
                doc = "How long a request may have no answer before it is answered 503; longer than any wait.",
                byDefault = "6m",
                atLeast = "10ms",
                atMost = "1d")
        Duration answerTimeout,

        @Setting(
                doc = "How long a connection may be without a request under way.",
                byDefault = "60s",
                atLeast = "10ms",
                atMost = "1d")
        Duration idleTimeout,

        @Setting(
                doc = "How long requests under way may take when the server stops.",
                byDefault = "5s",
                atLeast = "0ms",
                atMost = "1h")
        Duration closeGrace) {
    /** The defaults, which fit an API of small requests. */
    public static final HttpLimits DEFAULT = Settings.read(HttpLimits.class, Map.of(), Map.of(), null);
}
