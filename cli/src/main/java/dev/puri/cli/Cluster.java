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
 * The brokers, asked with patience: a question that times out is asked again as long as one of them listens,
 * because a broker under load is late and not gone. Where nobody listens the first timeout is the last.
 *
 * @param patience how long a question may take in all
 */
record Cluster(Console console, CliSettings settings, Duration patience) {
    /** For commands that have no option of their own. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int MAX_NAMED = 10;

    /**
     * Asks until there is an answer.
     *
     * @param what is asked for, for the line that says what is waited for
     * @param question repeats without harm
     * @throws CommandException when a broker listened and did not answer within the patience
     */
    <T> T ask(String what, Supplier<T> question) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return question.get();
            } catch (KafkaException | CollectionRegistryException e) {
                if (!isTimeout(e) || !listens(settings.bootstrapServer())) {
                    throw e;
                }
                if (System.nanoTime() > end) {
                    throw CommandException.failed(late(settings.bootstrapServer(), e), e);
                }
                console.say("puri: waiting for " + what + ": the broker at " + settings.bootstrapServer()
                        + " listens but does not answer in time (" + e.getMessage() + ")");
                pause();
            }
        }
    }

    /** What is declared; each record that cannot be read is named. */
    Declarations declarations() {
        return content().declarations();
    }

    /** What is declared and what cannot be read, which is named. */
    CollectionsContent content() {
        CollectionsContent content =
                ask("the declared collections", () -> settings.collections().read());
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

    /** Whether a failure is that no answer came in time. */
    static boolean isTimeout(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof TimeoutException) {
                return true;
            }
        }
        return false;
    }

    /** Whether a connection to one of the brokers can be opened. */
    static boolean listens(String bootstrapServers) {
        return List.of(bootstrapServers.split(",")).stream().anyMatch(Cluster::isListening);
    }

    /** What a timeout means when a broker listens. */
    static String late(String bootstrapServers, Throwable e) {
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
