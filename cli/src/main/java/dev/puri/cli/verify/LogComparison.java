package dev.puri.cli.verify;

import dev.puri.cli.verify.StoreKey.Slice;
import dev.puri.projection.RecordKey;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Compares a partition of a topic with the registrar's changelogs:
 *
 * <pre>
 * read the logs, keep a hash of each key's last value ─▶ compare ─▶ for the keys that differ:
 *      ┌─▶ wait for the open transactions, read to the new ends, keep the values ─▶ compare again
 *      │                                                    │ no new record of the key: report the difference
 *      └──────────────────── a new record of the key ◀──────┘
 * </pre>
 *
 * The registrar writes the changelogs and the topic in one transaction, but the logs are read one after the other. So a
 * difference is reported only if it remains after all open transactions have ended, and the key has no new record in
 * any log.
 */
final class LogComparison extends SettledComparison<LogComparison.Candidate> {
    private static final int MAX_ROUNDS = 10;

    private final RegistryReader registry;
    private final ComparedLogs compared;
    private final List<TopicPartition> logs;

    /** Index of the topic in {@link #logs}. The changelogs come before it. */
    private final int topicLog;

    /** For each log, the offset at which the next reading of values begins. */
    private final long[] nextOffsets;

    /**
     * @param maxSize maps the number of columns of a table to the number of keys that fit into memory
     */
    LogComparison(RegistryReader registry, ComparedLogs compared, IntUnaryOperator maxSize) {
        // Each log has two columns: the hash of the last value of the key, and the offset after its last record.
        super(2 * compared.logs().size(), maxSize, MAX_ROUNDS);
        this.registry = registry;
        this.compared = compared;
        this.logs = compared.logs();
        this.topicLog = logs.size() - 1;
        this.nextOffsets = new long[logs.size()];
    }

    @Override
    public String part() {
        return RegistryReader.REGISTRAR;
    }

    @Override
    public String copy() {
        return logs.getLast().topic();
    }

    @Override
    public Integer partition() {
        return logs.getLast().partition();
    }

    @Override
    public long records() {
        return registry.records(logs);
    }

    @Override
    public boolean mustHaveRows() {
        // A registry without searchable collections has no documents.
        return compared instanceof IdentityLogs;
    }

    /**
     * Requires that the changelogs are complete. The topic need not be complete: each missing record is reported as a
     * difference.
     */
    @Override
    void requireSources() {
        registry.requireComplete(logs.subList(0, topicLog));
        registry.requirePartitions(logs);
    }

    /** A key that differed in the last comparison. */
    final class Candidate {
        /** By log: the offset of the last record; -1 without one. */
        final long[] offsets;

        final @Nullable Object[] values = new Object[logs.size()];

        /** The key of the last record in the topic. A foreign producer may have written a key that is not a pURI. */
        byte @Nullable [] topicKey;

        /** If the last record of the topic is a tombstone, the position of its event. */
        @Nullable
        Position tombstonePosition;

        boolean hasChanged;

        Candidate(long[] offsets) {
            this.offsets = offsets;
        }

        void put(int logIndex, ConsumerRecord<byte[], byte[]> record) {
            values[logIndex] = record.value() == null ? null : compared.decode(logIndex, record.value());
            if (logIndex == topicLog) {
                topicKey = record.key();
                tombstonePosition = record.value() == null ? position(record.headers()) : null;
            }
            if (record.offset() > offsets[logIndex]) {
                offsets[logIndex] = record.offset();
                hasChanged = true;
            }
        }

        @Nullable
        Map<String, String> found() {
            Object value = values[topicLog];
            return value == null ? null : compared.found(value);
        }
    }

    /** Reads all logs. Returns, by key, the hash of the last value in each log, and then the offsets after them. */
    @Override
    KeyTable readHashes(Slice slice) throws KeyTable.FullException {
        KeyTable table = newTable();
        for (int i = 0; i < logs.size(); i++) {
            int logIndex = i;
            registry.reader().read(logs.get(logIndex), 0, record -> {
                StoreKey key = keyOf(logIndex, record);
                if (key != null && key.isIn(slice)) {
                    int slot = table.add(key);
                    Object value = record.value() == null ? null : compared.decode(logIndex, record.value());
                    table.set(slot, logIndex, value == null ? ComparedLogs.ABSENT : compared.hash(logIndex, value));
                    // 0 is the value of a slot without a record.
                    table.set(slot, logs.size() + logIndex, record.offset() + 1);
                }
            });
        }
        return table;
    }

    @Override
    @Nullable
    Candidate candidate(KeyTable table, int slot) {
        long[] hashes = new long[topicLog];
        for (int logIndex = 0; logIndex < topicLog; logIndex++) {
            hashes[logIndex] = table.get(slot, logIndex);
        }
        long expected = compared.expectedHash(hashes);
        long found = table.get(slot, topicLog);
        count(expected != ComparedLogs.ABSENT, found != ComparedLogs.ABSENT);
        if (expected == found) {
            return null;
        }
        long[] offsets = new long[logs.size()];
        for (int logIndex = 0; logIndex < offsets.length; logIndex++) {
            offsets[logIndex] = table.get(slot, logs.size() + logIndex) - 1;
        }
        return new Candidate(offsets);
    }

    @Override
    void readValues(Map<StoreKey, Candidate> keys, int round) {
        if (round == 0) {
            Arrays.fill(nextOffsets, 0);
        }
        registry.awaitTransactions(logs);
        for (int i = 0; i < logs.size(); i++) {
            int logIndex = i;
            nextOffsets[logIndex] = registry.reader().read(logs.get(logIndex), nextOffsets[logIndex], record -> {
                Candidate candidate = keys.get(keyOf(logIndex, record));
                if (candidate != null) {
                    candidate.put(logIndex, record);
                }
            });
        }
    }

    @Override
    Comparison compare(Candidate candidate) {
        boolean hasChanged = candidate.hasChanged;
        candidate.hasChanged = false;
        if (Objects.equals(compared.expected(candidate.values), candidate.found())) {
            return Comparison.EQUAL;
        }
        return hasChanged ? Comparison.CHANGED : Comparison.DIFFERENT;
    }

    @Override
    void report(Map<StoreKey, Candidate> differing, Consumer<Difference> differences) {
        Map<StoreKey, String> puris = purisOfEvents(differing.values());
        differing.forEach((key, candidate) -> {
            Map<String, String> expected = compared.expected(candidate.values);
            Map<String, String> found = candidate.found();
            byte[] topicKey = candidate.topicKey;
            String puri = topicKey == null ? puris.get(key) : text(topicKey);
            String detail = null;
            if (puri == null) {
                detail = "the event is no longer in the log, so the pURI is unknown";
            } else if (topicKey != null && !isPuri(topicKey)) {
                detail = "the key of the record is not a pURI in canonical form";
            }
            differences.accept(new Difference(
                    part(),
                    copy(),
                    partition(),
                    puri,
                    key.toString(),
                    Difference.kind(expected, found),
                    fields(expected, found, candidate.tombstonePosition),
                    detail));
        });
    }

    /** Returns the fields that differ. The position of its event is the only field of a tombstone. */
    static Map<String, Difference.Field> fields(
            @Nullable Map<String, String> expected, @Nullable Map<String, String> found, @Nullable Position tombstone) {
        Map<String, Difference.Field> fields = Difference.fields(expected, found);
        if (tombstone != null) {
            fields.computeIfPresent(
                    RowFields.POSITION, (name, field) -> new Difference.Field(field.expected(), tombstone.toString()));
        }
        return fields;
    }

    /**
     * Returns the position of the event that caused a record, from the record's headers. Null if they have no valid
     * position, for example because a foreign producer wrote the record.
     */
    static @Nullable Position position(Headers headers) {
        Header header = headers.lastHeader(Position.HEADER);
        if (header == null || header.value() == null) {
            return null;
        }
        try {
            return Position.parse(new String(header.value(), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * Finds the pURIs of keys without a record in the topic. A changelog has only a hash of each pURI, but the event at
     * the position of the row has the pURI as its key.
     */
    private Map<StoreKey, String> purisOfEvents(Collection<Candidate> candidates) {
        List<Position> positions = new ArrayList<>();
        for (Candidate candidate : candidates) {
            if (candidate.topicKey == null && candidate.values[0] instanceof Row row) {
                positions.add(row.position());
            }
        }
        Map<StoreKey, String> puris = new HashMap<>();
        registry.reader().find(positions, record -> {
            if (record.key() != null) {
                puris.put(StoreKey.ofPuri(record.key()), text(record.key()));
            }
        });
        return puris;
    }

    private @Nullable StoreKey keyOf(int logIndex, ConsumerRecord<byte[], byte[]> record) {
        if (logIndex < topicLog) {
            return StoreKey.ofChangelogKey(record.key());
        }
        // Two kinds of records have no row: those without a key, which only a foreign producer writes, and the
        // registrar's digests, whose key is a marker.
        return record.key() == null || isMarker(record.key()) ? null : StoreKey.ofPuri(record.key());
    }

    private static boolean isMarker(byte[] key) {
        return key.length > Topics.MARKER.length()
                && new String(key, 0, Topics.MARKER.length(), StandardCharsets.UTF_8).equals(Topics.MARKER);
    }

    private static boolean isPuri(byte[] key) {
        try {
            RecordKey.puri(key);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
