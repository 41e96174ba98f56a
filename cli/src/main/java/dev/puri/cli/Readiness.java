package dev.puri.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Waits until servers are ready, for as long as they get on: a large table takes its time. What a server says of its
 * own health, and what the broker has delivered, tell whether anything moves.
 */
final class Readiness {
    private static final long POLL_MILLIS = 10;
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

    private final Duration patience;
    private final LongSupplier delivered;
    private final CompletableFuture<Void> ended;
    private final Consumer<String> progress;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(ANSWER_WITHIN).build();
    private final Map<String, String> said = new HashMap<>();

    /**
     * A server.
     *
     * @param name for people
     * @param health the URL of its readiness
     */
    record Part(String name, BooleanSupplier isReady, URI health) {}

    /**
     * @param patience how long nothing may move
     * @param delivered how many bytes of records the broker has delivered
     * @param ended completes exceptionally when one of the servers failed
     * @param progress is told of each that became ready
     */
    Readiness(Duration patience, LongSupplier delivered, CompletableFuture<Void> ended, Consumer<String> progress) {
        this.patience = patience;
        this.delivered = delivered;
        this.ended = ended;
        this.progress = progress;
    }

    /**
     * Returns when all are ready.
     *
     * @throws CommandException when one failed, or nothing has moved for too long; it names the server and says what
     *     that one waits for
     */
    void await(List<Part> parts) {
        long started = System.nanoTime();
        long moved = started;
        long looked = started;
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
                    changed |= !says.equals(said.put(part.name(), says));
                }
                before = after;
                looked = System.nanoTime();
                moved = changed ? looked : moved;
                if (looked - moved > patience.toNanos()) {
                    throw stuck(waiting);
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

    private CommandException stuck(List<Part> waiting) {
        Part first = waiting.get(0);
        return CommandException.failed(
                "the " + first.name() + " does not become ready, and nothing has moved for " + patience.toSeconds()
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
