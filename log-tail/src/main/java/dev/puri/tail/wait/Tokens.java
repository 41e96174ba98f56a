package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Compares tokens with positions of rows, and checks whether a token can be of an event of a name. */
public final class Tokens {
    private Tokens() {}

    /**
     * The partition of a name in a topic that is keyed by pURI, as publishers, the registry's producer and Kafka's
     * default partitioner choose it.
     *
     * @param partitions of the topic
     */
    public static int partition(Puri puri, int partitions) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % partitions;
    }

    /**
     * Whether a position is that of a token's event, or a later one of the same partition.
     *
     * @param last the position of the last event that a row shows
     */
    public static boolean isAsOf(Position token, Position last) {
        return last.topic().equals(token.topic())
                && last.partition() == token.partition()
                && last.offset() >= token.offset();
    }

    /**
     * @param partitions of the shared events topic; those of a namespace's own are not known here
     * @return why the token is of another name; null when it may be of this one
     */
    public static @Nullable String foreign(Position token, Puri puri, int partitions) {
        if (!token.topic().equals(Topics.EVENTS)) {
            return Topics.mayOwnTopic(puri.namespace()) && token.topic().equals(Topics.eventsOf(puri.namespace()))
                    ? null
                    : "the token " + token + " is of another namespace's events than those of " + puri + "; if " + puri
                            + " was sent there all the same, the registry refuses that event within 6 s";
        }
        int partition = partition(puri, partitions);
        return token.partition() == partition
                ? null
                : "the token " + token + " is of another object than " + puri + ", whose events are in partition "
                        + partition + "; if " + puri
                        + " was meant, its producer does not choose the partition by murmur2 of the canonical key, and the"
                        + " registry refuses the event";
    }
}
