package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cursor that finds rows of a table and reads their fields directly from the packed records, without a {@link Row}
 * object. Texts are bytes that JSON can contain unchanged: pURIs, handles, owners and shards have no characters that
 * JSON escapes.
 *
 * <p>Not thread-safe. The fields are those of the row at the time of the search, even if the table changes afterwards.
 */
public final class RecordView {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private static final byte[] NO_BYTES = {};
    private static final long[] NO_HASHES = {};

    private final Slab slab;
    private final Index puris;
    private final Index handles;
    private final Dictionaries dictionaries;
    private final long seed;
    private final PuriKey puriKey;

    /** First the hashes of the references, which are then replaced by the addresses of their records. */
    private long[] prefetchBuffer = NO_HASHES;

    /** Prefetched values are assigned to this field, so that the compiler does not remove the reads. */
    long prefetched;

    private final RecordParts parts;
    private byte[] record = NO_BYTES;
    private long uuidHigh;
    private long uuidLow;
    private long epoch;
    private long createdMillis;
    private long changedMillis;

    RecordView(TableMemory memory) {
        slab = memory.slab();
        puris = memory.puris();
        handles = memory.handles();
        dictionaries = memory.dictionaries();
        seed = memory.seed();
        puriKey = new PuriKey(dictionaries, seed);
        this.parts = new RecordParts(dictionaries);
    }

    /** The result of {@link #findHandle}. */
    public enum HandleResult {
        FOUND,
        ABSENT,
        /** The text is not a handle in lower case. */
        NOT_A_HANDLE
    }

    /**
     * Finds the row of a pURI.
     *
     * @param text contains the canonical text of the pURI from {@code from} to {@code to}
     * @param identifierOffset the offset of the last segment of the pURI
     * @return false if there is no row; then the fields must not be read
     */
    public boolean findPuri(byte[] text, int from, int identifierOffset, int to) {
        long hash = puriKey.setText(text, from, identifierOffset, to);
        // The identifier is packed while the processor loads the slot from memory.
        prefetched = puris.firstAddress(hash);
        puriKey.pack();
        return moveToParsed(puris.find(hash, puriKey, parts));
    }

    /** Moves to a record. The caller must have called {@link Dictionaries#hold}, so that its words are not removed. */
    void moveTo(byte[] newRecord) {
        parts.read(newRecord);
        moveToParsed(newRecord);
    }

    /** Finds the row with the handle text[from..to). The fields may be read only if the result is {@code FOUND}. */
    public HandleResult findHandle(byte[] text, int from, int to) {
        HandleKey key = HandleKey.parse(text, from, to, dictionaries, seed);
        if (key == null) {
            return HandleResult.NOT_A_HANDLE;
        }
        return moveToParsed(handles.find(key.hash(), key, parts)) ? HandleResult.FOUND : HandleResult.ABSENT;
    }

    /**
     * Prefetches the memory that searches for these references read first. The processor loads the memory of all
     * references in parallel, so that the searches afterwards are faster.
     *
     * @param text contains the references
     * @param bounds the begin and the end of each reference in the text
     * @param count the number of references
     */
    public void prefetch(byte[] text, int[] bounds, int count) {
        prefetch(text, bounds, count, true);
    }

    /** Like {@link #prefetch}, but ignores pURIs. */
    public void prefetchHandles(byte[] text, int[] bounds, int count) {
        prefetch(text, bounds, count, false);
    }

    private void prefetch(byte[] text, int[] bounds, int count, boolean withPuris) {
        if (prefetchBuffer.length < count) {
            prefetchBuffer = new long[count];
        }
        long[] prefetches = prefetchBuffer;
        // The array has the hashes of pURIs at its begin, and those of handles at its end.
        int purisEnd = 0;
        int handlesBegin = count;
        for (int i = 0; i < count; i++) {
            int from = bounds[2 * i];
            int to = bounds[2 * i + 1];
            if (withPuris && Puri.identifierIndexIfUnescaped(text, from, to) >= 0) {
                prefetches[purisEnd++] = Hash.of(text, from, to, seed);
            } else {
                HandleKey key = HandleKey.parse(text, from, to, dictionaries, seed);
                if (key != null) {
                    prefetches[--handlesBegin] = key.hash();
                }
            }
        }
        // The loops are short, so that the processor executes many iterations in parallel.
        for (int i = 0; i < purisEnd; i++) {
            prefetches[i] = puris.firstAddress(prefetches[i]);
        }
        for (int i = handlesBegin; i < count; i++) {
            prefetches[i] = handles.firstAddress(prefetches[i]);
        }
        long sum = 0;
        for (int i = 0; i < purisEnd; i++) {
            sum += slab.getLongAcquire(prefetches[i]);
        }
        for (int i = handlesBegin; i < count; i++) {
            sum += slab.getLongAcquire(prefetches[i]);
        }
        prefetched = sum;
    }

    /** Moves to a record whose parts are already read. Returns false if there is no record. */
    private boolean moveToParsed(byte @Nullable [] newRecord) {
        if (newRecord == null) {
            return false;
        }
        record = newRecord;
        uuidHigh = (long) LONGS.get(newRecord, parts.uuidOffset);
        uuidLow = (long) LONGS.get(newRecord, parts.uuidOffset + 8);
        int offset = parts.epochOffset;
        epoch = Varint.get(newRecord, offset);
        offset = Varint.end(newRecord, offset);
        createdMillis = RowCodec.timeOf(uuidHigh) + Varint.unzigzag(Varint.get(newRecord, offset));
        offset = Varint.end(newRecord, offset);
        changedMillis = createdMillis + Varint.unzigzag(Varint.get(newRecord, offset));
        return true;
    }

    /** Returns the status of the row. */
    public Row.Status status() {
        return RowCodec.status(record);
    }

    /** Returns the collection as {@code namespace:collection}. */
    public String collection() {
        return parts.collection.qualified;
    }

    /** Writes the canonical pURI, at most {@value Puri#MAX_BYTES} bytes, and returns the offset after it. */
    public int putPuri(byte[] out, int offset) {
        return putPuri(parts.collection, parts.identifierOffset, out, offset);
    }

    /** Returns the canonical pURI. */
    public byte[] puriBytes() {
        return puriBytes(parts.collection, parts.identifierOffset);
    }

    /** Returns the canonical pURI of the survivor. Only for a merged row. */
    public byte[] survivorBytes() {
        return puriBytes(parts.survivorCollection, parts.survivorIdentifierOffset);
    }

    private byte[] puriBytes(Dictionaries.Collection collectionWord, int identifierOffset) {
        byte[] text = new byte[Puri.MAX_BYTES];
        return Arrays.copyOf(text, putPuri(collectionWord, identifierOffset, text, 0));
    }

    private int putPuri(Dictionaries.Collection collectionWord, int identifierOffset, byte[] out, int offset) {
        byte[] prefix = collectionWord.bytes;
        System.arraycopy(prefix, 0, out, offset, prefix.length);
        return Identifier.unpack(record, identifierOffset, out, offset + prefix.length);
    }

    /** Returns the pURI as an object. */
    public Puri puri() {
        return RowCodec.puri(record, parts.collection, parts.identifierOffset);
    }

    /** Whether the row has a handle. */
    public boolean hasHandle() {
        return RowCodec.hasHandle(record);
    }

    /** Writes the {@value Handle#LENGTH} bytes of the handle and returns the offset after it. The row must have one. */
    public int putHandle(byte[] out, int offset) {
        return HandleKey.unpack(record, RowCodec.HANDLE_OFFSET, dictionaries, seed)
                .putText(out, offset);
    }

    /** Returns the handle as an object, or null if the row has none. */
    public @Nullable Handle handle() {
        HandleKey key = HandleKey.of(record, dictionaries, seed);
        return key == null ? null : key.handle();
    }

    /** Returns the upper 64 bits of the uuid. */
    public long uuidHigh() {
        return uuidHigh;
    }

    /** Returns the lower 64 bits of the uuid. */
    public long uuidLow() {
        return uuidLow;
    }

    /** Returns the text of the owner. The caller must not change the array. */
    public byte[] ownerBytes() {
        return parts.owner.text;
    }

    /** Returns the owner. Rows of one owner mostly share the object. */
    public Owner owner() {
        return parts.owner.value;
    }

    /** Returns the text of the shard. Rows of one shard mostly share the array. The caller must not change it. */
    public byte[] shardBytes() {
        return parts.shard.text;
    }

    /** Returns the shard. Rows of one shard mostly share the object. */
    public Shard shard() {
        return parts.shard.value;
    }

    /** Returns the epoch, which is 1 at first. A move, merge, deletion or new creation increments it. */
    public long epoch() {
        return epoch;
    }

    /** Returns the time of the creation, in milliseconds since 1970. */
    public long createdMillis() {
        return createdMillis;
    }

    /** Returns the time of the last change, in milliseconds since 1970. */
    public long changedMillis() {
        return changedMillis;
    }

    /** Returns the topic of the event that last changed the row. Rows of one topic mostly share the object. */
    public String topic() {
        return dictionaries.topics.word((int) Varint.get(record, topicFieldOffset()));
    }

    /** Returns the partition of the event that last changed the row. */
    public int partition() {
        return (int) Varint.get(record, Varint.end(record, topicFieldOffset()));
    }

    /** Returns the offset of the event that last changed the row. */
    public long offset() {
        return Varint.get(record, Varint.end(record, Varint.end(record, topicFieldOffset())));
    }

    private int topicFieldOffset() {
        return RowCodec.topicFieldOffset(record, parts.epochOffset);
    }
}
