package dev.puri.benchmarks;

import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * One client that publishes an event, asks for it with the token, and publishes the next one when it has the
 * answer. Nobody else writes.
 */
final class LoneClient {
    private static final int FOUND = 200;
    private static final long PUBLISH_SECONDS = 30;

    private LoneClient() {}

    /**
     * Measures the time from the acknowledgement to the answer.
     *
     * @param port of the resolver
     * @param duration of what counts; a third of it runs before, as a warm-up
     * @return microseconds
     */
    static Histogram measure(
            IdentityPublisher publisher, int port, Creations creations, boolean withHandles, Duration duration)
            throws Exception {
        Histogram micros = new Histogram(TimeUnit.MINUTES.toMicros(1), 3);
        long begun = System.nanoTime();
        long counted = begun + duration.toNanos() / 3;
        long end = counted + duration.toNanos();
        try (HttpSocket resolver = new HttpSocket(port)) {
            for (long now = begun; now < end; now = System.nanoTime()) {
                Event event = creations.next(withHandles);
                Position token = publisher.publish(event).toCompletableFuture().get(PUBLISH_SECONDS, TimeUnit.SECONDS);
                long acknowledged = System.nanoTime();
                ask(resolver, event, token);
                if (acknowledged >= counted) {
                    micros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - acknowledged));
                }
            }
        }
        return micros;
    }

    private static void ask(HttpSocket resolver, Event event, Position token) throws IOException {
        String path = "/v1/identities/" + event.puri() + "?at=" + token + "&wait=10s";
        HttpSocket.Answer answer = resolver.ask(HttpSocket.get(path));
        if (answer.status() != FOUND) {
            throw new IllegalStateException(path + " was answered with " + answer.head() + answer.text());
        }
    }
}
