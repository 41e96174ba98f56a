package dev.puri.cli.verify;

import dev.puri.cli.verify.StoreKey.Slice;
import dev.puri.projection.RecordKey;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares a copy of all rows with {@code puri.identities.v1}. A live copy changes while it is read: its rows are as of
 * the copy's next offset, or newer. So a row is right if it equals the last record of its key before that offset, or
 * any record from that offset on. The keys of other rows are read again, with their values. Then a difference is
 * reported only if the last record of the key is before the offset.
 *
 * <p>The positions of rows are not compared. After an event that leaves the row unchanged, a copy may store the
 * position of that event, but the topic's row keeps the earlier position.
 */
final class CopyComparison extends SettledComparison<CopyComparison.Candidate> {
    /** Column with the hash of the row in the copy. */
    private static final int COPY = 0;

    /** Column with the flags {@link #EQUAL}, {@link #LATER} and {@link #IN_TOPIC}. */
    private static final int FLAGS = 1;

    private static final int COLUMNS = 2;

    /** The row equals the last record before the copy's offset, or a later one. */
    private static final long EQUAL = 1;

    /** The last record is not before the copy's offset. */
    private static final long LATER = 2;

    /** The last record of the key has a row. */
    private static final long IN_TOPIC = 4;

    private static final int MAX_ROUNDS = 5;
    private static final Duration MAX_LAG = Duration.ofSeconds(60);
    private static final Duration LAG_POLL_INTERVAL = Duration.ofMillis(500);

    /** Maximum number of attempts to read the copy, because a resolver may restart during an attempt. */
    private static final int MAX_ATTEMPTS = 5;

    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(2);

    private final RegistryReader registry;
    private final RowCopy copy;
    private final List<TopicPartition> partitions = new ArrayList<>();

    /**
     * @param maxSize maps the number of columns of a table to the number of keys that fit into memory
     */
    CopyComparison(RegistryReader registry, RowCopy copy, IntUnaryOperator maxSize) {
        // A snapshot does not change.
        super(COLUMNS, maxSize, copy.isLive() ? MAX_ROUNDS : 1);
        this.registry = registry;
        this.copy = copy;
        for (int partition = 0; partition < registry.partitions(); partition++) {
            partitions.add(new TopicPartition(Topics.IDENTITIES, partition));
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
        // The rows of a live copy are downloaded, in addition to the records of the topic.
        return registry.records(partitions) * (copy.isLive() ? 2 : 1);
    }

    @Override
    void requireSources() {
        registry.requireComplete(partitions);
    }

    /**
     * A snapshot need not have the rows that changed after it was written. So these rows do not count as not compared;
     * only a note has their number.
     */
    @Override
    Result result(long rows, long expectedRows, long notCompared) {
        return copy.isLive()
                ? super.result(rows, expectedRows, notCompared)
                : new Result(rows, expectedRows, 0, Note.of(notCompared, "changed after the snapshot"));
    }

    @Override
    @Nullable
    Candidate candidate(KeyTable table, int slot) {
        long flags = table.get(slot, FLAGS);
        boolean isEqual = (flags & EQUAL) != 0;
        boolean isCopied = table.get(slot, COPY) != ComparedLogs.ABSENT;
        if (!copy.isLive() && (flags & LATER) != 0 && !(isEqual && isCopied)) {
            countNotCompared();
            return null;
        }
        count((flags & IN_TOPIC) != 0, isCopied);
        return isEqual ? null : new Candidate();
    }

    /** Reads the copy, and then the topic. */
    private interface Pass<T, E extends Exception> {
        T run(RowCopy.Scan scan) throws IOException, E;
    }

    /** Runs a pass. Repeats it if the copy cannot be read or ends early. */
    private <T, E extends Exception> T read(Pass<T, E> pass) throws E {
        for (int attempt = 1; ; attempt++) {
            try (RowCopy.Scan scan = openCaughtUp()) {
                return pass.run(scan);
            } catch (IOException e) {
                if (attempt == MAX_ATTEMPTS) {
                    throw new VerifyException(
                            "it cannot be read, the last of " + attempt + " attempts failed: " + e.getMessage(), e);
                }
            }
            LockSupport.parkNanos(RETRY_INTERVAL.toNanos());
        }
    }

    @Override
    KeyTable readHashes(Slice slice) throws KeyTable.FullException {
        return read(scan -> readHashes(scan, slice));
    }

    private KeyTable readHashes(RowCopy.Scan scan, Slice slice) throws IOException, KeyTable.FullException {
        KeyTable table = newTable();
        // A BiConsumer cannot throw FullException.
        List<KeyTable.FullException> full = new ArrayList<>();
        scan.forEach((puri, row) -> {
            StoreKey key = StoreKey.ofPuri(puri.toBytes());
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
        for (TopicPartition partition : partitions) {
            long nextOffset = scan.nextOffset(partition.partition());
            registry.reader().read(partition, 0, record -> {
                StoreKey key = keyOf(record);
                if (key == null || !key.isIn(slice)) {
                    return;
                }
                int slot = table.find(key);
                if (slot < 0) {
                    slot = table.add(key);
                    // The copy does not have the key, nor did the topic before this record, so they are equal so far.
                    table.set(slot, FLAGS, EQUAL);
                }
                long hash = record.value() == null ? ComparedLogs.ABSENT : hash(record.value());
                boolean isEqual = hash == table.get(slot, COPY);
                boolean isLater = record.offset() >= nextOffset;
                boolean wasEqual = (table.get(slot, FLAGS) & EQUAL) != 0;
                table.set(
                        slot,
                        FLAGS,
                        (isEqual || (isLater && wasEqual) ? EQUAL : 0)
                                | (isLater ? LATER : 0)
                                | (hash == ComparedLogs.ABSENT ? 0 : IN_TOPIC));
            });
        }
        return table;
    }

    private long hash(byte[] value) {
        return registry.decoder().row(value) instanceof Row row ? Hashes.of(row) : 1;
    }

    /** Returns null for a record that copies skip. The comparison with the registrar reports its row. */
    private @Nullable StoreKey keyOf(ConsumerRecord<byte[], byte[]> record) {
        Puri puri = RecordKey.puriOrNull(record, partitions.size());
        return puri == null || Topics.isMarker(puri) ? null : StoreKey.ofPuri(record.key());
    }

    /** Opens the copy when it has all records that the topic has now. */
    private RowCopy.Scan openCaughtUp() throws IOException {
        Map<TopicPartition, Long> ends = registry.reader().endOffsets(partitions);
        long deadline = System.nanoTime() + MAX_LAG.toNanos();
        while (true) {
            RowCopy.Scan scan = copy.open();
            boolean isReturned = false;
            try {
                String lag = copy.isLive() ? lag(scan, ends) : null;
                if (lag == null) {
                    isReturned = true;
                    return scan;
                }
                if (System.nanoTime() - deadline > 0) {
                    throw new VerifyException(lag);
                }
            } finally {
                if (!isReturned) {
                    scan.close();
                }
            }
            LockSupport.parkNanos(LAG_POLL_INTERVAL.toNanos());
        }
    }

    /** Returns a message if the copy lacks records before the ends, else null. */
    private @Nullable String lag(RowCopy.Scan scan, Map<TopicPartition, Long> ends) {
        for (TopicPartition partition : partitions) {
            long from = scan.nextOffset(partition.partition());
            long[] records = {0};
            // The last offsets of a partition may be those of transaction markers, which are not records.
            registry.reader().read(Map.of(partition, from), ends, record -> records[0]++);
            if (records[0] > 0) {
                return "it has not read the last " + records[0] + " records of " + partition + " within "
                        + MAX_LAG.toSeconds() + " s";
            }
        }
        return null;
    }

    /** A key that was not equal in the last comparison. */
    static final class Candidate {
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

        /** Clears the values of the last scan. The pURI and the partition stay. */
        void clear() {
            copied = null;
            expected = null;
            isEqual = false;
            isLater = false;
        }
    }

    @Override
    void readValues(Map<StoreKey, Candidate> keys, int round) {
        read(scan -> readValues(scan, keys));
    }

    private Map<StoreKey, Candidate> readValues(RowCopy.Scan scan, Map<StoreKey, Candidate> keys) throws IOException {
        keys.values().forEach(Candidate::clear);
        scan.forEach((puri, row) -> {
            Candidate candidate = keys.get(StoreKey.ofPuri(puri.toBytes()));
            if (candidate != null) {
                candidate.puri = puri;
                candidate.copied = RowFields.of(row);
                candidate.partition = Tokens.partition(puri, registry.partitions());
            }
        });
        keys.values().forEach(candidate -> candidate.isEqual = candidate.copied == null);
        for (TopicPartition partition : partitions) {
            long nextOffset = scan.nextOffset(partition.partition());
            registry.reader().read(partition, 0, record -> {
                StoreKey key = keyOf(record);
                Candidate candidate = key == null ? null : keys.get(key);
                if (candidate == null) {
                    return;
                }
                candidate.puri = RecordKey.puri(record.key());
                candidate.partition = partition.partition();
                candidate.expected = fields(record.value());
                candidate.isLater = record.offset() >= nextOffset;
                boolean isEqual = candidate.copied == null
                        ? candidate.expected == null
                        : candidate.copied.equals(candidate.expected);
                candidate.isEqual = isEqual || (candidate.isLater && candidate.isEqual);
            });
        }
        return keys;
    }

    @Override
    Comparison compare(Candidate candidate) {
        return candidate.isEqual ? Comparison.EQUAL : candidate.isLater ? Comparison.CHANGED : Comparison.DIFFERENT;
    }

    private @Nullable Map<String, String> fields(byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        return registry.decoder().row(value) instanceof Row row ? RowFields.of(row) : Map.of("value", "unreadable");
    }

    @Override
    void report(Map<StoreKey, Candidate> differing, Consumer<Difference> differences) {
        differing.forEach((key, candidate) -> differences.accept(new Difference(
                part(),
                copy(),
                candidate.partition,
                candidate.puri == null ? null : candidate.puri.toString(),
                key.toString(),
                Difference.kind(candidate.expected, candidate.copied),
                Difference.fields(candidate.expected, candidate.copied),
                null)));
    }
}
