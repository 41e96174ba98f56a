package dev.puri.cli.verify;

import dev.puri.cli.verify.RecordDecoder.Unreadable;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A partition of {@code puri.identities.v1} and the registrations. All fields are compared, the position too. */
record IdentityLogs(String registrationsTopic, int partition, RecordDecoder decoder) implements ComparedLogs {
    @Override
    public List<TopicPartition> logs() {
        return List.of(
                new TopicPartition(registrationsTopic, partition), new TopicPartition(Topics.IDENTITIES, partition));
    }

    @Override
    public @Nullable Object decode(int logIndex, byte[] value) {
        return logIndex == 0
                ? RecordDecoder.registration(registrationsTopic, value).row()
                : decoder.row(value);
    }

    @Override
    public long hash(int logIndex, Object value) {
        return value instanceof Row row
                ? Hashes.withPosition(row)
                : Hashes.present(RowHash.ofText(((Unreadable) value).why()));
    }

    @Override
    public long expectedHash(long[] hashes) {
        return hashes[0];
    }

    @Override
    public @Nullable Map<String, String> expected(@Nullable Object[] values) {
        return values[0] instanceof Row row ? RowFields.withPosition(row) : null;
    }

    @Override
    public Map<String, String> found(Object value) {
        return value instanceof Row row
                ? RowFields.withPosition(row)
                : Map.of("value", "unreadable: " + ((Unreadable) value).why());
    }
}
