package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a pURI and its row as one packed record, and decodes records. RATIONALE.md describes each field.
 *
 * <pre>
 * length in units of 8 bytes · flags · [handle 10 or 12] · collection · identifier · uuid 16 · owner · shard · epoch
 *   · createdAt · changedAt · topic · partition · offset · [survivor's collection · identifier] · zeros
 * </pre>
 */
final class RowCodec {
    /** The number of bytes that an array must have for any record. */
    static final int MAX_BYTES = Slab.MAX_RECORD_UNITS * Slab.UNIT_BYTES;

    static final int HANDLE_OFFSET = 2;
    private static final int HAS_HANDLE = 4;
    private static final int HAS_WIDE_HANDLE = 8;
    private static final int STATUS_MASK = 3;
    private static final int MERGED = Row.Status.MERGED.ordinal();

    /** A record stores {@code createdAt} relative to the time in the uuid, or to this time if the uuid has none. */
    private static final long BASE_MILLIS =
            Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final Row.Status[] STATUSES = Row.Status.values();

    private final Dictionaries dictionaries;

    RowCodec(Dictionaries dictionaries) {
        this.dictionaries = dictionaries;
    }

    static boolean hasHandle(byte[] record) {
        return hasHandle(record, 0);
    }

    /** Returns whether the record that begins at an offset has a handle. */
    static boolean hasHandle(byte[] bytes, int begin) {
        return (bytes[begin + 1] & HAS_HANDLE) != 0;
    }

    /** Returns the offset of the code of the collection. */
    static int collectionOffset(byte[] record) {
        return collectionOffset(record, 0);
    }

    static Row.Status status(byte[] record) {
        return STATUSES[record[1] & STATUS_MASK];
    }

    /**
     * Returns the ordinal of the status of the record that begins at an offset. A damaged record may have 3, which is
     * no status.
     */
    static int statusOrdinal(byte[] bytes, int begin) {
        return bytes[begin + 1] & STATUS_MASK;
    }

    /** Returns the offset of the code of the collection of the record that begins at an offset. */
    static int collectionOffset(byte[] bytes, int begin) {
        int flags = bytes[begin + 1];
        return (flags & HAS_HANDLE) == 0
                ? begin + HANDLE_OFFSET
                : begin
                        + HANDLE_OFFSET
                        + HandleKey.PACKED_BYTES
                        + ((flags & HAS_WIDE_HANDLE) == 0 ? 0 : HandleKey.PACKED_PREFIX_BYTES);
    }

    /**
     * Writes the record of a row at an offset, which is a multiple of 8. Returns the offset after the record, which is
     * a multiple of 8 too.
     */
    int encode(RawRow row, byte[] out, int begin) {
        int flags = row.status;
        int offset = begin + HANDLE_OFFSET;
        if (row.hasHandle) {
            offset = HandleKey.put(row, dictionaries, out, offset);
            flags |= offset == begin + HANDLE_OFFSET + HandleKey.PACKED_BYTES
                    ? HAS_HANDLE
                    : HAS_HANDLE | HAS_WIDE_HANDLE;
        }
        offset = Varint.put(row.collection, out, offset);
        System.arraycopy(row.identifier, 0, out, offset, row.identifierLength);
        offset += row.identifierLength;
        LONGS.set(out, offset, row.uuidHigh);
        LONGS.set(out, offset + 8, row.uuidLow);
        offset += 16;
        offset = Varint.put(row.owner, out, offset);
        offset = Varint.put(row.shard, out, offset);
        offset = Varint.put(row.epoch, out, offset);
        offset = Varint.put(Varint.zigzag(row.createdMillis - timeOf(row.uuidHigh)), out, offset);
        offset = Varint.put(Varint.zigzag(row.changedMillis - row.createdMillis), out, offset);
        offset = Varint.put(row.topic, out, offset);
        offset = Varint.put(row.partition, out, offset);
        offset = Varint.put(row.offset, out, offset);
        Puri survivor = row.survivor;
        if (survivor != null) {
            offset = Varint.put(row.survivorCollection, out, offset);
            byte[] text = survivor.identifier().getBytes(StandardCharsets.US_ASCII);
            offset = Identifier.pack(text, 0, text.length, out, offset);
        }
        while (offset % Slab.UNIT_BYTES != 0) {
            out[offset++] = 0;
        }
        out[begin] = (byte) ((offset - begin) / Slab.UNIT_BYTES);
        out[begin + 1] = (byte) flags;
        return offset;
    }

    /**
     * Passes the collection, owner, shard and status of a record to a counter, and the survivor's collection.
     *
     * @param delta 1 for an added record, -1 for a removed record
     */
    static void count(byte[] record, RowCounter counter, int delta) {
        count(record, 0, counter, delta);
    }

    /** Like {@link #count(byte[], RowCounter, int)}, for the record that begins at an offset. */
    static void count(byte[] bytes, int begin, RowCounter counter, int delta) {
        int collectionOffset = collectionOffset(bytes, begin);
        int ownerOffset = Identifier.end(bytes, Varint.end(bytes, collectionOffset)) + 16;
        int shardOffset = Varint.end(bytes, ownerOffset);
        int status = bytes[begin + 1] & STATUS_MASK;
        counter.count(
                (int) Varint.get(bytes, collectionOffset),
                (int) Varint.get(bytes, ownerOffset),
                (int) Varint.get(bytes, shardOffset),
                status,
                delta);
        if (status == MERGED) {
            counter.countSurvivor(
                    (int) Varint.get(bytes, survivorOffset(bytes, Varint.end(bytes, shardOffset))), delta);
        }
    }

    /** Counts rows by the words that they refer to. */
    interface RowCounter {
        /**
         * @param delta the number of rows to add; negative to subtract
         */
        void count(int collection, int owner, int shard, int status, int delta);

        /** Counts merged rows by the collection of their survivor, in addition to {@link #count}. */
        default void countSurvivor(int collection, int delta) {}
    }

    /**
     * Returns whether the status and the kinds of the identifiers exist. They may not exist in a damaged record, which
     * then cannot be decoded.
     */
    static boolean isDecodable(byte[] record) {
        int identifierOffset = Varint.end(record, collectionOffset(record));
        int status = statusOrdinal(record, 0);
        if (status >= STATUSES.length || !Identifier.isOfKnownKind(record, identifierOffset)) {
            return false;
        }
        if (status != MERGED) {
            return true;
        }
        int ownerOffset = Identifier.end(record, identifierOffset) + 16;
        int epochOffset = Varint.end(record, Varint.end(record, ownerOffset));
        return Identifier.isOfKnownKind(record, Varint.end(record, survivorOffset(record, epochOffset)));
    }

    /** Returns the code of the topic in the position of a row. */
    static int topicCode(byte[] record) {
        int ownerOffset = Identifier.end(record, Varint.end(record, collectionOffset(record))) + 16;
        int epochOffset = Varint.end(record, Varint.end(record, ownerOffset));
        return (int) Varint.get(record, topicFieldOffset(record, epochOffset));
    }

    /** Returns the offset of the code of the topic, from the offset of the epoch. */
    static int topicFieldOffset(byte[] bytes, int epochOffset) {
        return Varint.end(bytes, Varint.end(bytes, Varint.end(bytes, epochOffset)));
    }

    /** Returns the offset of the code of the survivor's collection in a merged row, from the offset of the epoch. */
    static int survivorOffset(byte[] bytes, int epochOffset) {
        return Varint.end(bytes, Varint.end(bytes, Varint.end(bytes, topicFieldOffset(bytes, epochOffset))));
    }

    /** Returns whether two records have the same pURI. */
    static boolean haveSamePuri(byte[] a, byte[] b) {
        int startA = collectionOffset(a);
        int startB = collectionOffset(b);
        int endA = Identifier.end(a, Varint.end(a, startA));
        int endB = Identifier.end(b, Varint.end(b, startB));
        return java.util.Arrays.equals(a, startA, endA, b, startB, endB);
    }

    static Puri puri(byte[] record, Dictionaries.Collection collection, int identifierOffset) {
        return Puri.parse(collection.text.concat(Identifier.unpack(record, identifierOffset)));
    }

    /** Decodes a record. The caller must prevent that its words are removed, see {@link Dictionaries#hold}. */
    Identity decode(byte[] record) {
        RecordParts parts = new RecordParts(dictionaries);
        parts.read(record);
        return decode(record, parts, null, null);
    }

    /**
     * Decodes a record.
     *
     * @param parts the parts of this record
     * @param puri the pURI of the record; null if the caller does not know it
     * @param handle the handle of the record; null if the caller does not know it
     */
    Identity decode(byte[] record, RecordParts parts, @Nullable Puri puri, @Nullable Handle handle) {
        Handle rowHandle = handle;
        if (rowHandle == null) {
            HandleKey key = HandleKey.of(record, dictionaries, 0);
            rowHandle = key == null ? null : key.handle();
        }
        Puri rowPuri = puri == null ? puri(record, parts.collection, parts.identifierOffset) : puri;
        long uuidHigh = (long) LONGS.get(record, parts.uuidOffset);
        UUID uuid = new UUID(uuidHigh, (long) LONGS.get(record, parts.uuidOffset + 8));
        int offset = parts.epochOffset;
        long epoch = Varint.get(record, offset);
        offset = Varint.end(record, offset);
        long createdMillis = timeOf(uuidHigh) + Varint.unzigzag(Varint.get(record, offset));
        offset = Varint.end(record, offset);
        long changedMillis = createdMillis + Varint.unzigzag(Varint.get(record, offset));
        offset = Varint.end(record, offset);
        int topic = (int) Varint.get(record, offset);
        offset = Varint.end(record, offset);
        int partition = (int) Varint.get(record, offset);
        offset = Varint.end(record, offset);
        long positionOffset = Varint.get(record, offset);
        Row.Status status = status(record);
        return new Identity(
                rowPuri,
                new Row(
                        uuid,
                        parts.owner.value,
                        parts.shard.value,
                        rowHandle,
                        status,
                        epoch,
                        Instant.ofEpochMilli(createdMillis),
                        Instant.ofEpochMilli(changedMillis),
                        status == Row.Status.MERGED
                                ? puri(record, parts.survivorCollection, parts.survivorIdentifierOffset)
                                : null,
                        new Position(dictionaries.topics.word(topic), partition, positionOffset)));
    }

    /**
     * Returns the time in a uuid of version 7 (RFC 9562), in milliseconds since 1970. Returns {@link #BASE_MILLIS} for
     * other versions.
     */
    static long timeOf(long uuidHigh) {
        return (uuidHigh & 0xF000) == 0x7000 ? uuidHigh >>> 16 : BASE_MILLIS;
    }
}
