package dev.puri.projection.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Compares tokens with the positions of rows, and checks whether a token can belong to an event of a name. */
public final class Tokens {
    private Tokens() {}

    /**
     * Returns the partition of a name in a topic whose keys are pURIs. Publishers, the registry's producer and Kafka's
     * default partitioner choose the same one.
     *
     * @param partitions the number of the topic's partitions
     */
    public static int partition(Puri puri, int partitions) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % partitions;
    }

    /**
     * Returns whether a position is at or after that of the token's event, in the same partition.
     *
     * @param last the position of the last event that a row shows
     */
    public static boolean isAsOf(Position token, Position last) {
        return last.topic().equals(token.topic())
                && last.partition() == token.partition()
                && last.offset() >= token.offset();
    }

    /**
     * Returns why a token cannot belong to an event of a name; null if it can.
     *
     * @param partitions the number of partitions of the shared events topic. The number of partitions of a namespace's
     *     own topic is not known here
     */
    public static @Nullable String explainForeign(Position token, Puri puri, int partitions) {
        if (!token.topic().equals(Topics.EVENTS)) {
            return Topics.mayOwnTopic(puri.namespace()) && token.topic().equals(Topics.eventsTopicOf(puri.namespace()))
                    ? null
                    : "the token " + token + " is from an events topic that has no events of " + puri
                            + "; if one was sent there nevertheless, the registry refuses it within 6 s";
        }
        int partition = partition(puri, partitions);
        return token.partition() == partition
                ? null
                : "the token " + token + " cannot belong to " + puri + ": events of " + puri + " are in partition "
                        + partition + "; if it does, the producer does not choose the partition by murmur2 of the"
                        + " canonical key, and the registry refuses the event";
    }
}
