package dev.puri.cli;

import dev.puri.cli.io.Digests;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A rejection and its place in the topic of rejections.
 *
 * @param rejection the rejection without the copy of the refused event, which may have 64 KiB
 * @param partition the partition of the rejection, not of the event
 * @param offset the offset of the rejection
 */
record StoredRejection(Rejection rejection, TopicPartition partition, long offset) {
    /** Returns the position of the refused event. */
    Position position() {
        return positionOf(rejection);
    }

    /** Returns the position of the event that a rejection refuses. */
    static Position positionOf(Rejection rejection) {
        EventPosition position = rejection.getPosition();
        return new Position(position.getTopic(), position.getPartition(), position.getOffset());
    }

    /**
     * Whether a record of the events topic has the value of the refused event. The topic may have been deleted and
     * created again, so that the position has another event.
     */
    boolean isOf(ConsumerRecord<?, byte[]> record) {
        byte[] value = record.value();
        long length = value == null ? -1 : value.length;
        return length == rejection.getLength() && sha256(value).equals(rejection.getSha256());
    }

    /** Returns the SHA-256 of a value as a rejection has it: of no bytes if the value is null. */
    static ByteBuffer sha256(byte @Nullable [] value) {
        return ByteBuffer.wrap(Digests.sha256().digest(value == null ? new byte[0] : value));
    }

    /** Returns owner and shard of the identity that holds the requested name or handle; null if there is none. */
    @Nullable
    String holder() {
        return rejection.getHolderShard() == null
                ? null
                : rejection.getHolderOwner() + " in " + rejection.getHolderShard();
    }

    /** Returns the rejection without the refused event as a JSON object. */
    Map<String, Object> toJson() {
        return new JsonObject()
                .with("reason", rejection.getReason())
                .with("detail", rejection.getDetail())
                .with("puri", rejection.getPuri())
                .with("position", position().toString())
                .with("rejectedAt", rejection.getRejectedAt().toString())
                .with("eventId", rejection.getEventId())
                .with(
                        "holder",
                        rejection.getHolderShard() == null
                                ? null
                                : new JsonObject()
                                        .with("owner", rejection.getHolderOwner())
                                        .with("shard", rejection.getHolderShard()))
                .with("survivor", rejection.getSurvivor());
    }
}
