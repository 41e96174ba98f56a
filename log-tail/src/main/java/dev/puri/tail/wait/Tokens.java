package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Whether a token can be of an event of a name at all. */
public final class Tokens {
    private Tokens() {}

    /**
     * @param partitions of the shared events topic; those of a namespace's own are not known here
     * @return why it is of something else; null when it may be of this name
     */
    public static @Nullable String foreign(Position token, Puri puri, int partitions) {
        if (!token.topic().equals(Topics.EVENTS)) {
            return Topics.mayOwnTopic(puri.namespace()) && token.topic().equals(Topics.eventsOf(puri.namespace()))
                    ? null
                    : "the token " + token + " is of another namespace's events than those of " + puri;
        }
        // As the publisher, and Kafka's own partitioner, choose by the key.
        int partition = Utils.toPositive(Utils.murmur2(puri.toBytes())) % partitions;
        return token.partition() == partition
                ? null
                : "the token " + token + " is of another object than " + puri + ", whose events are in partition "
                        + partition;
    }
}
