package dev.puri.cli.verify;

import dev.puri.cli.verify.Key.Slice;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.RecordKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares a copy of all rows with {@code puri.identities.v1}. The copy is read while it is written: each of its rows
 * is as of an offset that is not before the copy's next offset. So a row is right if it equals the last record of its
 * key before that offset, or any later record. The keys of the others are read once more, with their values. Then a
 * difference is reported if the last record of the key is before the offset.
 *
 * <p>The positions are not compared: a copy has that of the last event, even of one that changed nothing.
 */
final class CopyComparison implements Check {
    /** Column with the hash of the row in the copy. */
    private static final int COPY = 0;

    /** Column with {@link #EQUAL}, {@link #LATER} and {@link #IN_TOPIC}. */
    private static final int STATE = 1;

    private static final int COLUMNS = 2;

    /** The row equals the last record before the copy's offset, or a later one. */
    private static final long EQUAL = 1;

    /** The last record is not before the copy's offset. */
    private static final long LATER = 2;

    /** The last record of the key has a row. */
    private static final long IN_TOPIC = 4;

    /** The values of this many keys are in memory. */
    private static final int BATCH = 20_000;

    private static final int MAX_ROUNDS = 5;
    private static final Duration MAX_LAG = Duration.ofSeconds(60);
    private static final Duration RETRY_INTERVAL = Duration.ofMillis(500);

    private final Registry registry;
    private final RowCopy copy;
    private final IntUnaryOperator maxSize;
    private final List<TopicPartition> topic = new ArrayList<>();
    private long rows;
    private long expectedRows;
    private long notCompared;

    /**
     * @param maxSize maps the number of columns of a table to the number of keys that fit into memory
     */
    CopyComparison(Registry registry, RowCopy copy, IntUnaryOperator maxSize) {
        this.registry = registry;
        this.copy = copy;
        this.maxSize = maxSize;
        for (int partition = 0; partition < registry.partitions(); partition++) {
            topic.add(new TopicPartition(Topics.IDENTITIES, partition));
        }
    }

    @Override
    public String part() {
        return copy.part();
    }

    @Override
    public String copy() {
        return copy.name();
    }

    @Override
    public @Nullable Integer partition() {
        return null;
    }

    @Override
    public long records() {
        // A row of an export is read as well as a record of the topic.
        return registry.records(topic) * (copy.isLive() ? 2 : 1);
    }

    @Override
    public Result run(Consumer<Difference> differences) {
        rows = 0;
        expectedRows = 0;
        notCompared = 0;
        registry.requireComplete(topic);
        compare(Slice.ALL, differences);
        registry.requireComplete(topic);
        String reason = copy.isLive() ? "changed in each of several comparisons" : "changed after the snapshot";
        return new Result(rows, expectedRows, copy.isLive() ? notCompared : 0, notCompared == 0 ? null : note(reason));
    }

    private String note(String reason) {
        return notCompared + " rows " + reason;
    }

    private void compare(Slice slice, Consumer<Difference> differences) {
        try {
            KeyTable table = readHashes(slice);
            List<Key> batch = new ArrayList<>();
            for (int slot = 0; slot < table.slots(); slot++) {
                if (!table.isUsed(slot)) {
                    continue;
                }
                long state = table.get(slot, STATE);
                boolean isEqual = (state & EQUAL) != 0;
                boolean isCopied = table.get(slot, COPY) != ComparedLogs.ABSENT;
                if (!copy.isLive() && (state & LATER) != 0 && !(isEqual && isCopied)) {
                    notCompared++;
                    continue;
                }
                boolean isExpected = (state & IN_TOPIC) != 0;
                rows += isExpected || isCopied ? 1 : 0;
                expectedRows += isExpected ? 1 : 0;
                if (isEqual) {
                    continue;
                }
                batch.add(table.key(slot));
                if (batch.size() == BATCH) {
                    settle(batch, differences);
                    batch.clear();
                }
            }
            settle(batch, differences);
        } catch (KeyTable.FullException e) {
            compare(slice.half(0), differences);
            compare(slice.half(1), differences);
        }
    }

    private KeyTable readHashes(Slice slice) throws KeyTable.FullException {
        KeyTable table = new KeyTable(COLUMNS, maxSize.applyAsInt(COLUMNS));
        try (RowCopy.Reading reading = openCaughtUp()) {
            // A lambda of another type cannot throw FullException.
            List<KeyTable.FullException> full = new ArrayList<>();
            reading.forEach((puri, row) -> {
                Key key = Key.ofPuri(puri.toBytes());
                if (full.isEmpty() && key.isIn(slice)) {
                    try {
                        table.set(table.add(key), COPY, Hashes.of(row));
                    } catch (KeyTable.FullException e) {
                        full.add(e);
                    }
                }
            });
            if (!full.isEmpty()) {
                throw full.getFirst();
            }
            for (TopicPartition partition : topic) {
                long copied = reading.nextOffset(partition.partition());
                registry.reader().read(partition, 0, record -> {
                    Key key = keyOf(record);
                    if (key == null || !key.isIn(slice)) {
                        return;
                    }
                    int slot = table.find(key);
                    if (slot < 0) {
                        slot = table.add(key);
                        // Before its first record neither topic nor copy have the key.
                        table.set(slot, STATE, EQUAL);
                    }
                    long hash = record.value() == null ? ComparedLogs.ABSENT : hash(record.value());
                    boolean isEqual = hash == table.get(slot, COPY);
                    boolean isLater = record.offset() >= copied;
                    boolean wasEqual = (table.get(slot, STATE) & EQUAL) != 0;
                    table.set(
                            slot,
                            STATE,
                            (isEqual || (isLater && wasEqual) ? EQUAL : 0)
                                    | (isLater ? LATER : 0)
                                    | (hash == ComparedLogs.ABSENT ? 0 : IN_TOPIC));
                });
            }
        }
        return table;
    }

    private long hash(byte[] value) {
        return registry.decoder().row(value) instanceof Row row ? Hashes.of(row) : 1;
    }

    private static @Nullable Key keyOf(ConsumerRecord<byte[], byte[]> record) {
        try {
            Puri puri = RecordKey.puri(record.key());
            return Topics.isMarker(puri) ? null : Key.ofPuri(record.key());
        } catch (IllegalArgumentException e) {
            // No copy has a row for such a key. The comparison with the registrar reports it.
            return null;
        }
    }

    /** Opens the copy when it has all records that the topic has now. */
    private RowCopy.Reading openCaughtUp() throws KeyTable.FullException {
        Map<TopicPartition, Long> ends = new HashMap<>();
        topic.forEach(partition -> ends.put(partition, registry.reader().stableEnd(partition)));
        long deadline = System.nanoTime() + MAX_LAG.toNanos();
        while (true) {
            RowCopy.Reading reading = copy.open();
            boolean isReturned = false;
            try {
                String lag = copy.isLive() ? lag(reading, ends) : null;
                if (lag == null) {
                    isReturned = true;
                    return reading;
                }
                if (System.nanoTime() > deadline) {
                    throw new VerifyException(lag);
                }
            } finally {
                if (!isReturned) {
                    reading.close();
                }
            }
            LockSupport.parkNanos(RETRY_INTERVAL.toNanos());
        }
    }

    /** Returns a message if the copy lacks records before the ends, else null. */
    private @Nullable String lag(RowCopy.Reading reading, Map<TopicPartition, Long> ends)
            throws KeyTable.FullException {
        for (TopicPartition partition : topic) {
            long from = reading.nextOffset(partition.partition());
            long[] records = {0};
            // The last offsets of a partition may be those of transaction markers, which are not records.
            registry.reader().read(partition, from, ends.getOrDefault(partition, 0L), record -> records[0]++);
            if (records[0] > 0) {
                return "it has not read the last " + records[0] + " records of " + partition + " within "
                        + MAX_LAG.toSeconds() + " s";
            }
        }
        return null;
    }

    /** A key that was not equal in the last comparison. */
    private static final class Candidate {
        @Nullable
        Puri puri;

        @Nullable
        Map<String, String> copied;

        @Nullable
        Map<String, String> expected;

        @Nullable
        Integer partition;

        boolean isEqual;
        boolean isLater;

        /** Forgets what was read, except the pURI. */
        void clear() {
            copied = null;
            expected = null;
            isEqual = false;
            isLater = false;
        }
    }

    private void settle(List<Key> keys, Consumer<Difference> differences) throws KeyTable.FullException {
        Map<Key, Candidate> open = new HashMap<>();
        keys.forEach(key -> open.put(key, new Candidate()));
        int maxRounds = copy.isLive() ? MAX_ROUNDS : 1;
        for (int round = 0; round < maxRounds && !open.isEmpty(); round++) {
            readValues(open);
            for (Iterator<Map.Entry<Key, Candidate>> i = open.entrySet().iterator(); i.hasNext(); ) {
                Map.Entry<Key, Candidate> entry = i.next();
                Candidate candidate = entry.getValue();
                if (candidate.isEqual) {
                    i.remove();
                } else if (!candidate.isLater) {
                    report(entry.getKey(), candidate, differences);
                    i.remove();
                }
            }
        }
        notCompared += open.size();
    }

    private void readValues(Map<Key, Candidate> candidates) throws KeyTable.FullException {
        candidates.values().forEach(Candidate::clear);
        try (RowCopy.Reading reading = openCaughtUp()) {
            reading.forEach((puri, row) -> {
                Candidate candidate = candidates.get(Key.ofPuri(puri.toBytes()));
                if (candidate != null) {
                    candidate.puri = puri;
                    candidate.copied = Fields.of(row);
                    candidate.partition = RegistrarChangelogs.partition(puri, registry.partitions());
                }
            });
            candidates.values().forEach(candidate -> candidate.isEqual = candidate.copied == null);
            for (TopicPartition partition : topic) {
                long copied = reading.nextOffset(partition.partition());
                registry.reader().read(partition, 0, record -> {
                    Key key = keyOf(record);
                    Candidate candidate = key == null ? null : candidates.get(key);
                    if (candidate == null) {
                        return;
                    }
                    candidate.puri = RecordKey.puri(record.key());
                    candidate.partition = partition.partition();
                    candidate.expected = fields(record.value());
                    candidate.isLater = record.offset() >= copied;
                    boolean isEqual = candidate.copied == null
                            ? candidate.expected == null
                            : candidate.copied.equals(candidate.expected);
                    candidate.isEqual = isEqual || (candidate.isLater && candidate.isEqual);
                });
            }
        }
    }

    private @Nullable Map<String, String> fields(byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        return registry.decoder().row(value) instanceof Row row ? Fields.of(row) : Map.of("value", "unreadable");
    }

    private void report(Key key, Candidate candidate, Consumer<Difference> differences) {
        differences.accept(new Difference(
                part(),
                copy(),
                candidate.partition,
                candidate.puri == null ? null : candidate.puri.toString(),
                key.toString(),
                Difference.kind(candidate.expected, candidate.copied),
                Difference.fields(candidate.expected, candidate.copied),
                null));
    }
}
