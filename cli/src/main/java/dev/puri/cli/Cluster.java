package dev.puri.cli;

import dev.puri.client.CollectionRegistryException;
import dev.puri.client.CollectionsContent;
import dev.puri.schemas.collection.Declarations;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Utils;

/**
 * Repeats requests to brokers that time out. While a broker accepts connections a time-out means that it is overloaded,
 * so the request is repeated. If no broker accepts connections, the first time-out is final.
 *
 * @param timeout how long a request may take with all repetitions
 */
record Cluster(Console console, CliSettings settings, Duration timeout) {
    /** For commands without an option for it. */
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int MAX_NAMED = 10;

    /**
     * Repeats a request until it does not time out.
     *
     * @param what the requested data, for the message that is printed while waiting
     * @param request an idempotent request
     * @throws CommandException if a broker accepts connections but does not respond within the time-out
     */
    <T> T retry(String what, Supplier<T> request) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            try {
                return request.get();
            } catch (KafkaException | CollectionRegistryException e) {
                if (!isTimeout(e) || !listens(settings.bootstrapServer())) {
                    throw e;
                }
                if (System.nanoTime() > deadline) {
                    throw CommandException.failed(timeoutMessage(settings.bootstrapServer(), e), e);
                }
                console.say("puri: waiting for " + what + ": the broker at " + settings.bootstrapServer()
                        + " listens but does not answer in time (" + e.getMessage() + ")");
                pause();
            }
        }
    }

    /** Reads the declarations; prints a warning for records that cannot be decoded. */
    Declarations declarations() {
        return content().declarations();
    }

    /** Reads the collections topic; prints a warning for records that cannot be decoded. */
    CollectionsContent content() {
        CollectionsContent content =
                retry("the declared collections", () -> settings.collections().read());
        List<String> records =
                content.unreadable().stream().map(each -> "\n  " + each).toList();
        if (!records.isEmpty()) {
            console.say("puri: warning: " + records.size() + " of the records of collections cannot be read and "
                    + (records.size() == 1 ? "is" : "are") + " passed over:"
                    + String.join("", records.subList(0, Math.min(MAX_NAMED, records.size())))
                    + (records.size() > MAX_NAMED ? "\n  and " + (records.size() - MAX_NAMED) + " more" : "")
                    + "\n  puri collections repair says what to do about it");
        }
        return content;
    }

    /** Whether a failure is a time-out. */
    static boolean isTimeout(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof TimeoutException) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of the brokers accepts connections. */
    static boolean listens(String bootstrapServers) {
        return List.of(bootstrapServers.split(",")).stream().anyMatch(Cluster::isListening);
    }

    /** Returns the message for a time-out while a broker accepts connections. */
    static String timeoutMessage(String bootstrapServers, Throwable e) {
        return "the broker at " + bootstrapServers + " listens but did not answer in time (" + e.getMessage()
                + "); it is overloaded, stuck or still starting: try again";
    }

    private static boolean isListening(String server) {
        String host = Utils.getHost(server.strip());
        Integer port = Utils.getPort(server.strip());
        if (host == null || port == null) {
            return false;
        }
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), (int) CONNECT_TIMEOUT.toMillis());
            return true;
        } catch (IOException | IllegalArgumentException e) {
            return false;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            throw new org.apache.kafka.common.errors.InterruptException(e);
        }
    }
}
