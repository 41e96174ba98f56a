package dev.puri.cli.verify;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A partition of a topic, and the partitions of the changelogs from which its content follows. A value is null for a
 * tombstone, and its hash is then {@link #ABSENT}.
 */
interface ComparedLogs {
    long ABSENT = 0;

    /** Returns the changelogs, and last the topic. */
    List<TopicPartition> logs();

    /**
     * Decodes a value.
     *
     * @param logIndex index of the log in {@link #logs}
     * @throws VerifyException if a changelog has a value that this release cannot read
     */
    @Nullable
    Object decode(int logIndex, byte[] value);

    /** Returns the hash of a decoded value. */
    long hash(int logIndex, Object value);

    /** Returns the hash that the value of the topic must have, from the hashes of the changelogs. */
    long expectedHash(long[] hashes);

    /** Returns the fields that the value of the topic must have; null if there must be none. */
    @Nullable
    Map<String, String> expected(@Nullable Object[] values);

    /** Returns the fields of a value of the topic. */
    Map<String, String> found(Object value);
}
