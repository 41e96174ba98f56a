package dev.puri.registry;

import org.apache.kafka.common.KafkaException;

/**
 * The failure of the topology, with which {@link RegistryStreams#ended} completes. The message begins with the root
 * cause, because Kafka Streams wraps it in several exceptions.
 */
public final class TopologyFailedException extends KafkaException {
    private static final long serialVersionUID = 1L;

    TopologyFailedException(Throwable failure) {
        super("the topology failed: " + reasonOf(failure), failure);
    }

    private static String reasonOf(Throwable failure) {
        Throwable root = rootOf(failure);
        // The class of an Error says more than its message, for example OutOfMemoryError: Java heap space.
        String reason = root instanceof Error || root.getMessage() == null ? root.toString() : root.getMessage();
        // Only the first line: the other lines of Kafka Streams' message are a stack trace, which is also in the log.
        return root == failure || failure.getMessage() == null
                ? reason
                : reason + " ("
                        + failure.getMessage().lines().findFirst().orElse("").strip() + ")";
    }

    /** Returns the root cause; the failure itself if it has no cause. */
    static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }
}
