package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A batch of changes for a table, in the order of the topic: packed records to put, and pURIs to remove. One thread,
 * the packer, fills all batches of a table. Another thread, the writer, passes them to {@link PackedTable#write}, which
 * only has to store the records and to update the indexes. See {@link Dictionary} for the threads.
 */
public final class RowBatch {
    /** The maximum number of rows and removals. Equals Kafka's default of {@code max.poll.records}. */
    public static final int MAX_ROWS = 500;

    private static final int NO_COLLECTION = -1;

    private final Dictionaries dictionaries;
    private final RowCodec codec;
    private final RawRow rawRow;
    private final RecordParser parser;

    /** The packed records, one after the other. Record {@code i} begins at {@code begins[i]}. */
    byte[] records = new byte[64 << 10];

    final int[] begins = new int[MAX_ROWS + 1];

    /** By row to put: the hash with which the index finds its pURI. */
    final long[] puriHashes = new long[MAX_ROWS];

    /** {@link RowHash#ofText} of the pURIs. */
    final long[] textHashes = new long[MAX_ROWS];

    /** The {@link RowHash} of each row to put. */
    final long[] rowHashes = new long[MAX_ROWS];

    /** The partitions of the topic from which the rows and removals are. */
    final int[] partitions = new int[MAX_ROWS];

    final boolean[] hasHandle = new boolean[MAX_ROWS];

    /** The hashes of the handles. */
    final long[] handleHashes = new long[MAX_ROWS];

    // By row to put: the dictionary codes of its collection, owner and shard, and the ordinal of its status.
    final int[] collections = new int[MAX_ROWS];
    final int[] owners = new int[MAX_ROWS];
    final int[] shards = new int[MAX_ROWS];
    final int[] statuses = new int[MAX_ROWS];

    /** The code of the survivor's collection of a merged row; -1 for other rows. */
    final int[] survivorCollections = new int[MAX_ROWS];

    /** The pURI to remove; null if there is a row to put. */
    final @Nullable Puri[] toRemove = new Puri[MAX_ROWS];

    int count;

    /** The number of this batch for the dictionaries, which note the last batch that used a word. */
    private long batchNumber;

    RowBatch(Dictionaries dictionaries, RowCodec codec, long seed) {
        this.dictionaries = dictionaries;
        this.codec = codec;
        rawRow = new RawRow(dictionaries, seed);
        parser = new RecordParser(dictionaries);
    }

    /** Whether the batch is full. */
    public boolean isFull() {
        return count == MAX_ROWS;
    }

    /** Returns the number of rows and removals. */
    public int count() {
        return count;
    }

    /** Returns the pURI of a row or removal. */
    public Puri puri(int i) {
        Puri puriToRemove = toRemove[i];
        return puriToRemove == null ? codec.decode(record(i)).puri() : puriToRemove;
    }

    /** Returns a row, or null for a removal. */
    public @Nullable Row row(int i) {
        return toRemove[i] == null ? codec.decode(record(i)).row() : null;
    }

    private byte[] record(int i) {
        return Arrays.copyOfRange(records, begins[i], begins[i + 1]);
    }

    /**
     * Parses a topic record and adds its row, which replaces the previous row of the pURI.
     *
     * @param partition the partition of the record
     * @param value a value written with the schema of this build
     * @param token the position of the event that caused the record, from the header {@code position}. It replaces the
     *     position in the value
     * @return false if this parser does not support the form of the record. Then nothing is added; the caller decodes
     *     the record with Avro and calls {@link #put}
     */
    public boolean tryPut(int partition, byte[] key, byte[] value, byte[] token) {
        beginIfEmpty();
        if (!parser.parse(key, value, token, rawRow)) {
            return false;
        }
        add(partition);
        return true;
    }

    /** Adds a row of partition 0, which replaces the previous row of the pURI. */
    public void put(Puri puri, Row row) {
        put(0, puri, row);
    }

    /**
     * Adds a row, which replaces the previous row of the pURI.
     *
     * @param partition the partition of the row's record. All records of a pURI are in one partition
     */
    public void put(int partition, Puri puri, Row row) {
        beginIfEmpty();
        rawRow.set(puri, row);
        add(partition);
    }

    /** Adds the removal of a row of partition 0. */
    public void remove(Puri puri) {
        remove(0, puri);
    }

    /**
     * Adds the removal of a row.
     *
     * @param partition the partition of the tombstone
     */
    public void remove(int partition, Puri puri) {
        beginIfEmpty();
        partitions[count] = partition;
        textHashes[count] = RowHash.ofText(puri.toBytes());
        begins[count + 1] = begins[count];
        toRemove[count++] = puri;
    }

    private void beginIfEmpty() {
        if (count == 0) {
            batchNumber = dictionaries.beginBatch();
        }
    }

    private void add(int partition) {
        int begin = begins[count];
        if (begin + RowCodec.MAX_BYTES > records.length) {
            records = Arrays.copyOf(records, 2 * records.length);
        }
        begins[count + 1] = codec.encode(rawRow, records, begin);
        puriHashes[count] = rawRow.puriHash;
        textHashes[count] = rawRow.textHash;
        rowHashes[count] = rawRow.rowHash();
        partitions[count] = partition;
        hasHandle[count] = rawRow.hasHandle;
        handleHashes[count] = rawRow.handleHash;
        collections[count] = rawRow.collection;
        owners[count] = rawRow.owner;
        shards[count] = rawRow.shard;
        statuses[count] = rawRow.status;
        survivorCollections[count] = rawRow.survivor == null ? NO_COLLECTION : rawRow.survivorCollection;
        count++;
    }

    /** Empties the batch for reuse. The writer calls it after it has written the batch and no longer reads it. */
    public void clear() {
        dictionaries.batchWritten(batchNumber);
        Arrays.fill(toRemove, 0, count, null);
        count = 0;
    }
}
