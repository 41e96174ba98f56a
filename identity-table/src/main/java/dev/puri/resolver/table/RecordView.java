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
 * Finds rows of a table and shows them as they stand packed in their records, part by part, as numbers and
 * as bytes that JSON takes as they are: nothing in a name, a handle, an owner or a shard has to be escaped.
 * No object is made of a row, nor of what it is sought by.
 *
 * <p>Used by one thread, for one row after the other. What it shows is the row as it was at one moment.
 */
public final class RecordView {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private static final byte[] NO_BYTES = {};
    private static final long[] NO_HASHES = {};

    private final Slab slab;
    private final Index names;
    private final Index handles;
    private final Words words;
    private final long seed;
    private final NameKey name;

    private long[] touching = NO_HASHES;

    /** Receives prefetched values, so that the compiler keeps the reads. */
    long touched;

    private final RecordParts parts;
    private byte[] record = NO_BYTES;
    private long uuidHigh;
    private long uuidLow;
    private long epoch;
    private long createdMillis;
    private long changedMillis;

    RecordView(Slab slab, Index names, Index handles, Words words, long seed) {
        this.slab = slab;
        this.names = names;
        this.handles = handles;
        this.words = words;
        this.seed = seed;
        this.name = new NameKey(words, seed);
        this.parts = new RecordParts(words);
    }

    /** What came of seeking a handle. */
    public enum Sought {
        FOUND,
        ABSENT,
        /** The text is no handle in lower case. */
        NO_HANDLE
    }

    /**
     * Looks up what has this name.
     *
     * @param text the canonical text from {@code from} to {@code to}
     * @param lastAt where its last segment begins
     * @return false when there is nothing, which then must not be asked for its parts
     */
    public boolean findName(byte[] text, int from, int lastAt, int to) {
        long hash = name.setText(text, from, lastAt, to);
        // The identifier is packed while the processor waits for this slot's memory.
        touched = names.first(hash);
        name.pack();
        return found(names.find(hash, name, parts));
    }

    /** Shows a record whose words are held. */
    void show(byte[] read) {
        parts.read(read);
        found(read);
    }

    /**
     * Looks up who bears the handle that text[from..to) is, as it stands there; if it is one. Only what
     * was {@code FOUND} may be asked for its parts.
     */
    public Sought findHandle(byte[] text, int from, int to) {
        HandleKey key = HandleKey.parse(text, from, to, words, seed);
        if (key == null) {
            return Sought.NO_HANDLE;
        }
        return found(handles.find(key.hash(), key, parts)) ? Sought.FOUND : Sought.ABSENT;
    }

    /**
     * Reads what seeking these texts would read first. Asked before they are sought one by one, the
     * processor waits for all their memory at once.
     *
     * @param bounds of each where it begins in the text, and where it ends
     */
    public void touch(byte[] text, int[] bounds, int count) {
        touch(text, bounds, count, true);
    }

    /** The same of those that are handles; nothing is read of names. */
    public void touchHandles(byte[] text, int[] bounds, int count) {
        touch(text, bounds, count, false);
    }

    private void touch(byte[] text, int[] bounds, int count, boolean withNames) {
        if (touching.length < count) {
            touching = new long[count];
        }
        long[] at = touching;
        // Hashes of names from the front on, those of handles from the back.
        int namesEnd = 0;
        int handlesBegin = count;
        for (int i = 0; i < count; i++) {
            int from = bounds[2 * i];
            int to = bounds[2 * i + 1];
            if (withNames && Puri.identifierOfPlain(text, from, to) >= 0) {
                at[namesEnd++] = Hash.of(text, from, to, seed);
            } else {
                HandleKey key = HandleKey.parse(text, from, to, words, seed);
                if (key != null) {
                    at[--handlesBegin] = key.hash();
                }
            }
        }
        // In loops as short as can be, for so many turns of them are under way at once.
        for (int i = 0; i < namesEnd; i++) {
            at[i] = names.first(at[i]);
        }
        for (int i = handlesBegin; i < count; i++) {
            at[i] = handles.first(at[i]);
        }
        long seen = 0;
        for (int i = 0; i < namesEnd; i++) {
            seen += slab.getLongAcquire(at[i]);
        }
        for (int i = handlesBegin; i < count; i++) {
            seen += slab.getLongAcquire(at[i]);
        }
        touched = seen;
    }

    private boolean found(byte @Nullable [] found) {
        if (found == null) {
            return false;
        }
        record = found;
        uuidHigh = (long) LONGS.get(found, parts.uuidAt);
        uuidLow = (long) LONGS.get(found, parts.uuidAt + 8);
        int at = parts.epochAt;
        epoch = Varint.get(found, at);
        at = Varint.end(found, at);
        createdMillis = RowCodec.timeOf(uuidHigh) + Varint.unzigzag(Varint.get(found, at));
        at = Varint.end(found, at);
        changedMillis = createdMillis + Varint.unzigzag(Varint.get(found, at));
        return true;
    }

    /** Its status. */
    public Row.Status status() {
        return RowCodec.status(record);
    }

    /** The collection's name, {@code namespace:collection}. */
    public String collection() {
        return parts.collection.qualified;
    }

    /** Writes the canonical name, of {@value Puri#MAX_BYTES} bytes at most, and returns where it ends. */
    public int putName(byte[] out, int at) {
        return putName(parts.collection, parts.identifierAt, out, at);
    }

    /** The canonical name. */
    public byte[] name() {
        return name(parts.collection, parts.identifierAt);
    }

    /** The canonical name of what it was merged into; to be asked of a merged row alone. */
    public byte[] survivor() {
        return name(parts.survivorCollection, parts.survivorIdentifierAt);
    }

    private byte[] name(Words.Collection ofCollection, int lastAt) {
        byte[] text = new byte[Puri.MAX_BYTES];
        return Arrays.copyOf(text, putName(ofCollection, lastAt, text, 0));
    }

    private int putName(Words.Collection ofCollection, int lastAt, byte[] out, int at) {
        byte[] begin = ofCollection.bytes;
        System.arraycopy(begin, 0, out, at, begin.length);
        return Identifier.unpack(record, lastAt, out, at + begin.length);
    }

    /** Makes the canonical name as an object. */
    public Puri puri() {
        return RowCodec.name(record, parts.collection, parts.identifierAt);
    }

    /** Whether it bears a handle. */
    public boolean hasHandle() {
        return RowCodec.hasHandle(record);
    }

    /**
     * Writes the handle, of {@value Handle#LENGTH} bytes, and returns where it ends; to be asked only of a
     * row that bears one.
     */
    public int putHandle(byte[] out, int at) {
        return HandleKey.at(record, RowCodec.HANDLE_AT, words, seed).putText(out, at);
    }

    /** Makes the handle as an object; null when the row has none. */
    public @Nullable Handle handle() {
        HandleKey key = HandleKey.of(record, words, seed);
        return key == null ? null : key.handle();
    }

    /** The upper half of the uuid. */
    public long uuidHigh() {
        return uuidHigh;
    }

    /** The lower half of the uuid. */
    public long uuidLow() {
        return uuidLow;
    }

    /** The owner's text; not to be changed. */
    public byte[] owner() {
        return parts.owner.text;
    }

    /** The owner, mostly the same object for rows of one owner. */
    public Owner ownerName() {
        return parts.owner.value;
    }

    /** The shard's text, mostly the same array for rows of one shard; not to be changed. */
    public byte[] shard() {
        return parts.shard.text;
    }

    /** The shard, mostly the same object for rows of one shard. */
    public Shard shardName() {
        return parts.shard.value;
    }

    /** How often it changed hands, from 1. */
    public long epoch() {
        return epoch;
    }

    /** When it was created, in milliseconds since 1970. */
    public long createdMillis() {
        return createdMillis;
    }

    /** When it last changed, in milliseconds since 1970. */
    public long changedMillis() {
        return changedMillis;
    }

    /** The topic of the event that last changed it, mostly the same object for rows of one topic. */
    public String topic() {
        return words.topics.word((int) Varint.get(record, topicAt()));
    }

    /** The partition of the event that last changed it. */
    public int partition() {
        return (int) Varint.get(record, Varint.end(record, topicAt()));
    }

    /** The offset of the event that last changed it. */
    public long offset() {
        return Varint.get(record, Varint.end(record, Varint.end(record, topicAt())));
    }

    private int topicAt() {
        return RowCodec.topicAt(record, parts.epochAt);
    }
}
