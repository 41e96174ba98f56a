package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Waits until servers are ready. There is no limit while they make progress, because restoring a large table takes
 * minutes. Three things count as progress: the broker delivers bytes, a counter in a server's health response changes,
 * or a health response contains a new text. Numbers in texts are ignored, because some texts contain a duration that
 * grows without progress.
 */
final class Readiness {
    private static final long POLL_MILLIS = 10;
    private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    /** The members of health responses that count progress. */
    private static final List<String> COUNTERS = List.of("rows", "reached", "read", "identities", "documents");

    /** The members of health responses with the reason why a server is not ready. */
    private static final List<String> TEXTS = List.of("waitingFor", "reason", "detail", "state");

    /** A number or duration in a text. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]+([.,:][0-9]+)*");

    /** After this number of different texts, new texts no longer count as progress. */
    private static final int MAX_TEXTS = 100;

    private final Duration stallTimeout;
    private final Duration reportInterval;
    private final Duration checkInterval;
    private final LongSupplier deliveredBytes;
    private final CompletableFuture<Void> topologyTermination;
    private final Consumer<String> progress;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(REQUEST_TIMEOUT).build();
    private final Map<String, String> lastHealthByServer = new HashMap<>();
    private final Map<String, String> lastCountersByServer = new HashMap<>();
    private final Set<String> knownTexts = new HashSet<>();

    /**
     * A server.
     *
     * @param name the server's name, for messages
     * @param healthUrl the URL of the server's readiness check
     */
    record Server(String name, BooleanSupplier isReady, URI healthUrl) {}

    /**
     * @param stallTimeout the time without progress after which waiting fails
     * @param reportInterval the interval of messages about servers that are not ready
     * @param deliveredBytes returns the number of bytes of records that the broker has delivered
     * @param topologyTermination completes exceptionally if the topology fails
     * @param progress receives messages about servers that have become ready or are not ready yet
     */
    Readiness(
            Duration stallTimeout,
            Duration reportInterval,
            LongSupplier deliveredBytes,
            CompletableFuture<Void> topologyTermination,
            Consumer<String> progress) {
        this(stallTimeout, reportInterval, CHECK_INTERVAL, deliveredBytes, topologyTermination, progress);
    }

    /**
     * For tests.
     *
     * @param checkInterval the time between two requests for the health of a server
     */
    Readiness(
            Duration stallTimeout,
            Duration reportInterval,
            Duration checkInterval,
            LongSupplier deliveredBytes,
            CompletableFuture<Void> topologyTermination,
            Consumer<String> progress) {
        this.stallTimeout = stallTimeout;
        this.reportInterval = reportInterval;
        this.checkInterval = checkInterval;
        this.deliveredBytes = deliveredBytes;
        this.topologyTermination = topologyTermination;
        this.progress = progress;
    }

    /**
     * Returns when all servers are ready.
     *
     * @throws CommandException if the topology failed, or if there was no progress for the stall time-out; the message
     *     then names a server and contains its health
     */
    void await(List<Server> servers) {
        long startNanos = System.nanoTime();
        long lastProgressNanos = startNanos;
        long lastCheckNanos = startNanos;
        long lastReportNanos = startNanos;
        long lastDeliveredBytes = -1;
        List<Server> unready = new ArrayList<>(servers);
        while (true) {
            unready.removeIf(server -> isReady(server, startNanos));
            if (unready.isEmpty()) {
                return;
            }
            if (topologyTermination.isCompletedExceptionally()) {
                Throwable cause = topologyTermination.exceptionNow();
                throw CommandException.failed("the topology ended: " + cause.getMessage(), cause);
            }
            long now = System.nanoTime();
            if (now - lastCheckNanos >= checkInterval.toNanos()) {
                long currentDeliveredBytes = deliveredBytes.getAsLong();
                boolean hasProgress = currentDeliveredBytes != lastDeliveredBytes;
                for (Server server : unready) {
                    String health = readHealth(server);
                    lastHealthByServer.put(server.name(), health);
                    hasProgress |= isProgress(server.name(), health);
                }
                lastDeliveredBytes = currentDeliveredBytes;
                lastCheckNanos = System.nanoTime();
                lastProgressNanos = hasProgress ? lastCheckNanos : lastProgressNanos;
                if (lastCheckNanos - lastProgressNanos > stallTimeout.toNanos()) {
                    throw stalled(unready);
                }
                if (lastCheckNanos - lastReportNanos >= reportInterval.toNanos()) {
                    lastReportNanos = lastCheckNanos;
                    unready.forEach(this::report);
                }
            }
            pause();
        }
    }

    private boolean isReady(Server server, long startNanos) {
        if (!server.isReady().getAsBoolean()) {
            return false;
        }
        progress.accept(
                String.format("the %s is ready after %.1f s", server.name(), (System.nanoTime() - startNanos) / 1e9));
        return true;
    }

    /** Whether a health response of a server shows progress since the previous response. */
    private boolean isProgress(String server, String health) {
        JsonNode root = parsed(health);
        StringBuilder counters = new StringBuilder();
        boolean hasNewText = false;
        for (JsonNode check : root.path("checks")) {
            counters.append(check.path("name").asText());
            for (String counter : COUNTERS) {
                counters.append(' ').append(check.path("data").path(counter).asText());
            }
            for (String text : textsOf(check)) {
                hasNewText |= addIfNew(server + ' ' + text);
            }
        }
        if (root.path("checks").isEmpty()) {
            hasNewText = addIfNew(server + ' ' + health);
        }
        return !counters.toString().equals(lastCountersByServer.put(server, counters.toString())) || hasNewText;
    }

    private boolean addIfNew(String text) {
        return knownTexts.size() < MAX_TEXTS
                && knownTexts.add(NUMBER.matcher(text).replaceAll("#"));
    }

    private static List<String> textsOf(JsonNode check) {
        return TEXTS.stream()
                .map(member -> check.path("data").path(member).asText())
                .filter(text -> !text.isEmpty())
                .toList();
    }

    private void report(Server server) {
        String health = lastHealthByServer.getOrDefault(server.name(), "unknown");
        if (parsed(health).path("status").asText().equals("UP")) {
            // The last health check, which is later than isReady(), found the server ready.
            return;
        }
        String reasons = StreamSupport.stream(parsed(health).path("checks").spliterator(), false)
                .filter(check -> check.path("status").asText().equals("DOWN"))
                .flatMap(check -> textsOf(check).stream().limit(1))
                .distinct()
                .collect(Collectors.joining("; "));
        progress.accept(
                "the " + server.name() + " is not ready yet: " + (reasons.isEmpty() ? health.strip() : reasons));
    }

    /** Parses a health response; returns a missing node if it is not JSON. */
    private static JsonNode parsed(String health) {
        try {
            return Json.parse(health);
        } catch (UncheckedIOException e) {
            return MissingNode.getInstance();
        }
    }

    private CommandException stalled(List<Server> unready) {
        Server first = unready.get(0);
        return CommandException.failed("the " + first.name() + " does not become ready, and has made no progress for "
                + stallTimeout.toSeconds()
                + " s; its health: "
                + Optional.ofNullable(lastHealthByServer.get(first.name())).orElse("unknown")
                + "; use -v to log more");
    }

    private String readHealth(Server server) {
        HttpRequest request = HttpRequest.newBuilder(server.healthUrl())
                .timeout(REQUEST_TIMEOUT)
                .build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "no response: " + e.getMessage();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static CommandException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return CommandException.failed("interrupted while the servers started", e);
    }
}
