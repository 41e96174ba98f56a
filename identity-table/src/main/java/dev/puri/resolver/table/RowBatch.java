package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Packed rows for a table, in the topic's order. The thread that writes only stores them and points the indexes to
 * them. Created by {@link PackedTable#newBatch}. One thread fills all batches of a table; it may be another than the
 * one that writes.
 */
public final class RowBatch {
    /** Rows of a full batch: Kafka's default of {@code max.poll.records}. */
    public static final int MOST = 500;

    private static final int NONE = -1;

    private final Words words;
    private final RowCodec codec;
    private final RawRow raw;
    private final RecordParser parser;
    private final byte[] scratch = RowCodec.buffer();

    byte[] records = new byte[64 << 10];
    final int[] begins = new int[MOST + 1];
    final long[] names = new long[MOST];
    final boolean[] hasHandle = new boolean[MOST];
    final long[] handles = new long[MOST];
    final int[] collections = new int[MOST];
    final int[] owners = new int[MOST];
    final int[] shards = new int[MOST];
    final int[] statuses = new int[MOST];

    /** The collection of a merged row's survivor; -1 for other rows. */
    final int[] survivorCollections = new int[MOST];

    /** The name to remove; null if there is a row to put. */
    final @Nullable Puri[] removed = new Puri[MOST];

    int count;

    /** The number of this batch, with which the dictionaries note the words that it uses. */
    private long number;

    RowBatch(Words words, RowCodec codec, long seed) {
        this.words = words;
        this.codec = codec;
        raw = new RawRow(words, seed);
        parser = new RecordParser(words);
    }

    /** Whether the batch is full. */
    public boolean isFull() {
        return count == MOST;
    }

    /** The number of rows and removals. */
    public int count() {
        return count;
    }

    /** The name whose row is put or removed. */
    public Puri name(int i) {
        Puri name = removed[i];
        return name == null ? codec.decode(record(i)).puri() : name;
    }

    /** The row to put; null for a removal. */
    public @Nullable Row row(int i) {
        return removed[i] == null ? codec.decode(record(i)).row() : null;
    }

    private byte[] record(int i) {
        return Arrays.copyOfRange(records, begins[i], begins[i + 1]);
    }

    /**
     * Adds the row of a record of the topic.
     *
     * @param value written with the schema that this program was built with
     * @param token of the event that the record answers, under whose position the row is kept
     * @return false, and nothing is added, when only Avro can read it; the caller then decodes it and adds the row
     */
    public boolean take(byte[] key, byte[] value, byte[] token) {
        begin();
        if (!parser.parse(key, value, token, raw)) {
            return false;
        }
        add();
        return true;
    }

    /** Adds a row, which replaces the previous one of its name. */
    public void put(Puri puri, Row row) {
        begin();
        raw.set(puri, row);
        add();
    }

    /** Adds the removal of a name's row. */
    public void remove(Puri puri) {
        begin();
        begins[count + 1] = begins[count];
        removed[count++] = puri;
    }

    private void begin() {
        if (count == 0) {
            number = words.beginBatch();
        }
    }

    private void add() {
        int begin = begins[count];
        int length = codec.encode(raw, scratch);
        if (begin + length > records.length) {
            records = Arrays.copyOf(records, 2 * records.length);
        }
        System.arraycopy(scratch, 0, records, begin, length);
        begins[count + 1] = begin + length;
        names[count] = raw.nameHash;
        hasHandle[count] = raw.hasHandle;
        handles[count] = raw.handleHash;
        collections[count] = raw.collection;
        owners[count] = raw.owner;
        shards[count] = raw.shard;
        statuses[count] = raw.status;
        survivorCollections[count] = raw.survivor == null ? NONE : raw.survivorCollection;
        count++;
    }

    /** Empties the batch for reuse. Called by the thread that has written it, when nobody reads it any more. */
    public void clear() {
        words.written(number);
        Arrays.fill(removed, 0, count, null);
        count = 0;
    }
}
