package dev.puri.registry;

import org.apache.kafka.common.KafkaException;

/** Thrown if the topology fails. The message begins with the root cause, which Kafka Streams wraps several times. */
public final class TopologyFailedException extends KafkaException {
    private static final long serialVersionUID = 1L;

    TopologyFailedException(Throwable failure) {
        super("the topology failed: " + describe(failure), failure);
    }

    private static String describe(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        // An Error's class says more than its message: OutOfMemoryError, "Java heap space".
        String reason = root instanceof Error || root.getMessage() == null ? root.toString() : root.getMessage();
        // Further lines of a message of Kafka Streams are a stack trace, which the log has anyway.
        return root == failure || failure.getMessage() == null
                ? reason
                : reason + " ("
                        + failure.getMessage().lines().findFirst().orElse("").strip() + ")";
    }
}
