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
 * Waits until servers are ready, for as long as they make progress: a large table takes its time. Progress is a record
 * that the broker delivers, a counter in a server's health that changes, or a text there that was not there before. The
 * clocks in it are no progress: a partition that hangs is reported with a new duration each second, for ever.
 */
final class Readiness {
    private static final long POLL_MILLIS = 10;
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

    /** Members of health that count what is done, and those that say what is waited for. */
    private static final List<String> COUNTERS = List.of("rows", "reached", "read", "identities", "documents");

    private static final List<String> TEXTS = List.of("waitingFor", "reason", "detail", "state");

    /** Numbers in a text may be clocks. */
    private static final Pattern NUMBER = Pattern.compile("[0-9]+([.,:][0-9]+)*");

    /** A server that finds ever new texts makes no progress either. */
    private static final int MOST_TEXTS = 100;

    private final Duration patience;
    private final Duration reportEvery;
    private final LongSupplier delivered;
    private final CompletableFuture<Void> ended;
    private final Consumer<String> progress;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(ANSWER_WITHIN).build();
    private final Map<String, String> said = new HashMap<>();
    private final Map<String, String> counters = new HashMap<>();
    private final Set<String> texts = new HashSet<>();

    /**
     * A server.
     *
     * @param name for people
     * @param health the URL of its readiness
     */
    record Part(String name, BooleanSupplier isReady, URI health) {}

    /**
     * @param patience how long there may be no progress
     * @param reportEvery how often {@code progress} is told what is waited for
     * @param delivered how many bytes of records the broker has delivered
     * @param ended completes exceptionally when one of the servers failed
     * @param progress is told of each that became ready, and of those that are not yet
     */
    Readiness(
            Duration patience,
            Duration reportEvery,
            LongSupplier delivered,
            CompletableFuture<Void> ended,
            Consumer<String> progress) {
        this.patience = patience;
        this.reportEvery = reportEvery;
        this.delivered = delivered;
        this.ended = ended;
        this.progress = progress;
    }

    /**
     * Returns when all are ready.
     *
     * @throws CommandException when one failed, or there was no progress for too long; it names the server and says
     *     what that one waits for
     */
    void await(List<Part> parts) {
        long started = System.nanoTime();
        long moved = started;
        long looked = started;
        long reported = started;
        long before = -1;
        List<Part> waiting = new ArrayList<>(parts);
        while (true) {
            waiting.removeIf(part -> isReady(part, started));
            if (waiting.isEmpty()) {
                return;
            }
            if (ended.isCompletedExceptionally()) {
                Throwable cause = ended.exceptionNow();
                throw CommandException.failed("the topology ended: " + cause.getMessage(), cause);
            }
            long now = System.nanoTime();
            if (now - looked >= LOOK_EVERY.toNanos()) {
                long after = delivered.getAsLong();
                boolean changed = after != before;
                for (Part part : waiting) {
                    String says = healthOf(part);
                    said.put(part.name(), says);
                    changed |= isProgress(part.name(), says);
                }
                before = after;
                looked = System.nanoTime();
                moved = changed ? looked : moved;
                if (looked - moved > patience.toNanos()) {
                    throw stuck(waiting);
                }
                if (looked - reported >= reportEvery.toNanos()) {
                    reported = looked;
                    waiting.forEach(this::report);
                }
            }
            pause();
        }
    }

    private boolean isReady(Part part, long started) {
        if (!part.isReady().getAsBoolean()) {
            return false;
        }
        progress.accept(
                String.format("the %s is ready after %.1f s", part.name(), (System.nanoTime() - started) / 1e9));
        return true;
    }

    private boolean isProgress(String name, String health) {
        JsonNode root = parsed(health);
        StringBuilder counted = new StringBuilder();
        boolean isNew = false;
        for (JsonNode check : root.path("checks")) {
            counted.append(check.path("name").asText());
            for (String counter : COUNTERS) {
                counted.append(' ').append(check.path("data").path(counter).asText());
            }
            for (String text : textsOf(check)) {
                isNew |= isNew(name + ' ' + text);
            }
        }
        if (root.path("checks").isEmpty()) {
            isNew = isNew(name + ' ' + health);
        }
        return !counted.toString().equals(counters.put(name, counted.toString())) || isNew;
    }

    private boolean isNew(String text) {
        return texts.size() < MOST_TEXTS && texts.add(NUMBER.matcher(text).replaceAll("#"));
    }

    private static List<String> textsOf(JsonNode check) {
        return TEXTS.stream()
                .map(text -> check.path("data").path(text).asText())
                .filter(text -> !text.isEmpty())
                .toList();
    }

    private void report(Part part) {
        String health = said.getOrDefault(part.name(), "unknown");
        if (parsed(health).path("status").asText().equals("UP")) {
            // Ready since it was looked at.
            return;
        }
        String reasons = StreamSupport.stream(parsed(health).path("checks").spliterator(), false)
                .filter(check -> check.path("status").asText().equals("DOWN"))
                .flatMap(check -> textsOf(check).stream().limit(1))
                .distinct()
                .collect(Collectors.joining("; "));
        progress.accept("the " + part.name() + " is not ready yet: " + (reasons.isEmpty() ? health.strip() : reasons));
    }

    /** A missing node when there was no answer, or none of a server of ours. */
    private static JsonNode parsed(String health) {
        try {
            return Json.parse(health);
        } catch (UncheckedIOException e) {
            return MissingNode.getInstance();
        }
    }

    private CommandException stuck(List<Part> waiting) {
        Part first = waiting.get(0);
        return CommandException.failed(
                "the " + first.name() + " does not become ready, and has made no progress for " + patience.toSeconds()
                        + " s; its health: "
                        + Optional.ofNullable(said.get(first.name())).orElse("unknown")
                        + "; -v tells more",
                null);
    }

    private String healthOf(Part part) {
        HttpRequest request =
                HttpRequest.newBuilder(part.health()).timeout(ANSWER_WITHIN).build();
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
