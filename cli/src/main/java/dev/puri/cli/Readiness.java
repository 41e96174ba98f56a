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
 * Waits until servers are ready, as long as they make progress; restoring a large table takes minutes. Progress is
 * bytes that the broker delivers, a changed counter in a server's health response, or a new text in it. Numbers in
 * texts are ignored: the health of a hanging partition contains a growing duration.
 */
final class Readiness {
    private static final long POLL_MILLIS = 10;
    private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    /** Members of health responses: counters of progress, and texts that say what a server waits for. */
    private static final List<String> COUNTERS = List.of("rows", "reached", "read", "identities", "documents");

    private static final List<String> TEXTS = List.of("waitingFor", "reason", "detail", "state");

    /** Numbers in texts, which may be durations. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]+([.,:][0-9]+)*");

    /** After this many different texts, further ones do not count as progress. */
    private static final int MAX_TEXTS = 100;

    private final Duration stallTimeout;
    private final Duration reportInterval;
    private final LongSupplier deliveredBytes;
    private final CompletableFuture<Void> ended;
    private final Consumer<String> progress;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(REQUEST_TIMEOUT).build();
    private final Map<String, String> lastHealth = new HashMap<>();
    private final Map<String, String> counters = new HashMap<>();
    private final Set<String> texts = new HashSet<>();

    /**
     * A server.
     *
     * @param name for messages
     * @param health the URL of its readiness check
     */
    record Server(String name, BooleanSupplier isReady, URI health) {}

    /**
     * @param stallTimeout time without progress after which waiting fails
     * @param reportInterval interval of messages about servers that are not ready
     * @param deliveredBytes returns the bytes of records that the broker has delivered
     * @param ended completes exceptionally if a server fails
     * @param progress receives messages about servers that became ready or are not ready yet
     */
    Readiness(
            Duration stallTimeout,
            Duration reportInterval,
            LongSupplier deliveredBytes,
            CompletableFuture<Void> ended,
            Consumer<String> progress) {
        this.stallTimeout = stallTimeout;
        this.reportInterval = reportInterval;
        this.deliveredBytes = deliveredBytes;
        this.ended = ended;
        this.progress = progress;
    }

    /**
     * Returns when all servers are ready.
     *
     * @throws CommandException if one failed, or there was no progress for too long; it names a server and what it
     *     waits for
     */
    void await(List<Server> servers) {
        long started = System.nanoTime();
        long progressedAt = started;
        long checkedAt = started;
        long reportedAt = started;
        long deliveredBefore = -1;
        List<Server> waiting = new ArrayList<>(servers);
        while (true) {
            waiting.removeIf(server -> isReady(server, started));
            if (waiting.isEmpty()) {
                return;
            }
            if (ended.isCompletedExceptionally()) {
                Throwable cause = ended.exceptionNow();
                throw CommandException.failed("the topology ended: " + cause.getMessage(), cause);
            }
            long now = System.nanoTime();
            if (now - checkedAt >= CHECK_INTERVAL.toNanos()) {
                long deliveredNow = deliveredBytes.getAsLong();
                boolean changed = deliveredNow != deliveredBefore;
                for (Server server : waiting) {
                    String health = healthOf(server);
                    lastHealth.put(server.name(), health);
                    changed |= isProgress(server.name(), health);
                }
                deliveredBefore = deliveredNow;
                checkedAt = System.nanoTime();
                progressedAt = changed ? checkedAt : progressedAt;
                if (checkedAt - progressedAt > stallTimeout.toNanos()) {
                    throw stuck(waiting);
                }
                if (checkedAt - reportedAt >= reportInterval.toNanos()) {
                    reportedAt = checkedAt;
                    waiting.forEach(this::report);
                }
            }
            pause();
        }
    }

    private boolean isReady(Server server, long started) {
        if (!server.isReady().getAsBoolean()) {
            return false;
        }
        progress.accept(
                String.format("the %s is ready after %.1f s", server.name(), (System.nanoTime() - started) / 1e9));
        return true;
    }

    private boolean isProgress(String name, String health) {
        JsonNode root = parsed(health);
        StringBuilder current = new StringBuilder();
        boolean isNew = false;
        for (JsonNode check : root.path("checks")) {
            current.append(check.path("name").asText());
            for (String counter : COUNTERS) {
                current.append(' ').append(check.path("data").path(counter).asText());
            }
            for (String text : textsOf(check)) {
                isNew |= isNew(name + ' ' + text);
            }
        }
        if (root.path("checks").isEmpty()) {
            isNew = isNew(name + ' ' + health);
        }
        return !current.toString().equals(counters.put(name, current.toString())) || isNew;
    }

    private boolean isNew(String text) {
        return texts.size() < MAX_TEXTS && texts.add(NUMBER.matcher(text).replaceAll("#"));
    }

    private static List<String> textsOf(JsonNode check) {
        return TEXTS.stream()
                .map(text -> check.path("data").path(text).asText())
                .filter(text -> !text.isEmpty())
                .toList();
    }

    private void report(Server server) {
        String health = lastHealth.getOrDefault(server.name(), "unknown");
        if (parsed(health).path("status").asText().equals("UP")) {
            // It became ready after the last check.
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

    private CommandException stuck(List<Server> waiting) {
        Server first = waiting.get(0);
        return CommandException.failed(
                "the " + first.name() + " does not become ready, and has made no progress for "
                        + stallTimeout.toSeconds()
                        + " s; its health: "
                        + Optional.ofNullable(lastHealth.get(first.name())).orElse("unknown")
                        + "; -v tells more",
                null);
    }

    private String healthOf(Server server) {
        HttpRequest request =
                HttpRequest.newBuilder(server.health()).timeout(REQUEST_TIMEOUT).build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "no answer: " + e.getMessage();
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
        return CommandException.failed("interrupted while starting", e);
    }
}
