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
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to Kafka brokers and repeats those that time out. If a broker accepts connections, it is probably
 * overloaded, so a request that timed out is repeated. If no broker accepts connections, the first time-out is final.
 *
 * @param timeout the time after which a request that timed out is not repeated any more
 */
record BrokerRequests(Console console, CliSettings settings, Duration timeout) {
    /** The time-out of commands that have no option for it. */
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    private static final int MAX_LISTED_RECORDS = 10;

    /**
     * Sends a request, and repeats it each time it times out, until the deadline.
     *
     * @param what the requested data, for the message that is printed before each repetition
     * @param request an idempotent request
     * @throws CommandException if a broker accepts connections but does not respond by the deadline
     */
    <T> T retry(String what, Supplier<T> request) {
        long startNanos = System.nanoTime();
        while (true) {
            try {
                return request.get();
            } catch (KafkaException | CollectionRegistryException e) {
                if (!isTimeout(e) || !acceptsConnections(settings.bootstrapServer())) {
                    throw e;
                }
                if (System.nanoTime() - startNanos > timeout.toNanos()) {
                    throw CommandException.failed(timeoutMessage(settings.bootstrapServer(), e), e);
                }
                console.say("puri: waiting for " + what + ": the broker at " + settings.bootstrapServer()
                        + " listens but does not answer in time (" + e.getMessage() + ")");
                pause();
            }
        }
    }

    /** Starts a reader of outcomes, which the caller closes. */
    OutcomeReader outcomes(OutcomeMatcher.Listener listener) {
        return retry("the topics of outcomes", () -> OutcomeReader.start(settings, listener));
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
            console.say("puri: warning: " + records.size()
                    + (records.size() == 1
                            ? " record of the collections topic cannot be decoded and is skipped:"
                            : " records of the collections topic cannot be decoded and are skipped:")
                    + String.join("", records.subList(0, Math.min(MAX_LISTED_RECORDS, records.size())))
                    + (records.size() > MAX_LISTED_RECORDS
                            ? "\n  and " + (records.size() - MAX_LISTED_RECORDS) + " more"
                            : "")
                    + "\n  run puri collections repair to see how to replace them");
        }
        return content;
    }

    /** Whether an exception or one of its causes is a time-out. */
    static boolean isTimeout(Throwable e) {
        return find(TimeoutException.class, e) != null;
    }

    /** Returns an exception, or the first of its causes, that has a type; null if none has it. */
    static <T extends Throwable> @Nullable T find(Class<T> type, Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    /**
     * Whether one of several servers accepts connections.
     *
     * @param addresses {@code HOST:PORT}, separated by commas
     */
    static boolean acceptsConnections(String addresses) {
        return Stream.of(addresses.split(",")).anyMatch(BrokerRequests::isReachable);
    }

    /** Returns the message for a time-out while a broker accepts connections. */
    static String timeoutMessage(String bootstrapServers, Throwable e) {
        return "the broker at " + bootstrapServers + " listens but did not answer in time (" + e.getMessage()
                + "); it is overloaded, stuck or still starting: try again";
    }

    private static boolean isReachable(String server) {
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
            Thread.sleep(RETRY_DELAY);
        } catch (InterruptedException e) {
            throw new org.apache.kafka.common.errors.InterruptException(e);
        }
    }
}
