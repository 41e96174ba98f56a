package dev.puri.registry;

import org.apache.kafka.common.KafkaException;

/** Thrown if the topology fails. The message contains the root cause, which Kafka Streams wraps several times. */
public final class TopologyFailedException extends KafkaException {
    private static final long serialVersionUID = 1L;

    TopologyFailedException(Throwable failure) {
        super("the topology failed: " + reasonOf(failure), failure);
    }

    private static String reasonOf(Throwable failure) {
        Throwable root = rootOf(failure);
        // The class of an Error says more than its message, for example OutOfMemoryError: Java heap space.
        String reason = root instanceof Error || root.getMessage() == null ? root.toString() : root.getMessage();
        // The further lines of Kafka Streams' message are a stack trace, which is also in the log.
        return root == failure || failure.getMessage() == null
                ? reason
                : reason + " ("
                        + failure.getMessage().lines().findFirst().orElse("").strip() + ")";
    }

    /** Returns the last of the causes; the failure itself if it has none. */
    static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }
}
