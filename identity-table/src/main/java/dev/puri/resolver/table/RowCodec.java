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
 * Encodes a name and its row as one record; RATIONALE.md has the layout as a table.
 *
 * <pre>
 * units · flags · [handle 10 or 12] · collection · identifier · uuid 16 · owner · shard · epoch
 *   · createdAt · changedAt · topic · partition · offset · [survivor's collection · identifier] · zeros
 * </pre>
 */
final class RowCodec {
    static final int HANDLE_AT = 2;
    private static final int HANDLE = 4;
    private static final int WIDE_HANDLE = 8;
    private static final int STATUS = 3;
    private static final int MERGED = Row.Status.MERGED.ordinal();

    /** The origin of {@code createdAt} if the uuid contains no time. */
    private static final long BASE_MILLIS =
            Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final Row.Status[] STATUSES = Row.Status.values();

    private final Words words;

    RowCodec(Words words) {
        this.words = words;
    }

    /** Returns an array that is large enough for any row. */
    static byte[] buffer() {
        return new byte[Slab.MAX_RECORD_UNITS * Slab.UNIT];
    }

    static boolean hasHandle(byte[] record) {
        return hasHandle(record, 0);
    }

    /** The same of a record among others. */
    static boolean hasHandle(byte[] bytes, int begin) {
        return (bytes[begin + 1] & HANDLE) != 0;
    }

    /** The offset of the collection's number. */
    static int nameAt(byte[] record) {
        return nameAt(record, 0);
    }

    static Row.Status status(byte[] record) {
        return STATUSES[record[1] & STATUS];
    }

    private static int nameAt(byte[] bytes, int begin) {
        int flags = bytes[begin + 1];
        return (flags & HANDLE) == 0
                ? begin + HANDLE_AT
                : begin + HANDLE_AT + HandleKey.BYTES + ((flags & WIDE_HANDLE) == 0 ? 0 : HandleKey.PREFIX_BYTES);
    }

    /** Writes a row and returns its length, a multiple of 8. */
    int encode(RawRow row, byte[] out) {
        int flags = row.status;
        int at = HANDLE_AT;
        if (row.hasHandle) {
            at = HandleKey.put(row, words, out, at);
            flags |= at == HANDLE_AT + HandleKey.BYTES ? HANDLE : HANDLE | WIDE_HANDLE;
        }
        at = Varint.put(row.collection, out, at);
        System.arraycopy(row.identifier, 0, out, at, row.identifierLength);
        at += row.identifierLength;
        LONGS.set(out, at, row.uuidHigh);
        LONGS.set(out, at + 8, row.uuidLow);
        at += 16;
        at = Varint.put(row.owner, out, at);
        at = Varint.put(row.shard, out, at);
        at = Varint.put(row.epoch, out, at);
        at = Varint.put(Varint.zigzag(row.createdMillis - timeOf(row.uuidHigh)), out, at);
        at = Varint.put(Varint.zigzag(row.changedMillis - row.createdMillis), out, at);
        at = Varint.put(row.topic, out, at);
        at = Varint.put(row.partition, out, at);
        at = Varint.put(row.offset, out, at);
        Puri survivor = row.survivor;
        if (survivor != null) {
            at = Varint.put(row.survivorCollection, out, at);
            byte[] text = survivor.identifier().getBytes(StandardCharsets.US_ASCII);
            at = Identifier.pack(text, 0, text.length, out, at);
        }
        while (at % Slab.UNIT != 0) {
            out[at++] = 0;
        }
        out[0] = (byte) (at / Slab.UNIT);
        out[1] = (byte) flags;
        return at;
    }

    /**
     * Passes the collection, owner, shard and status of a record to a counter, and the other words that it refers to.
     */
    static void count(byte[] record, RowCounter counter, int more) {
        count(record, 0, counter, more);
    }

    /** The same of a record among others. */
    static void count(byte[] bytes, int begin, RowCounter counter, int more) {
        int collectionAt = nameAt(bytes, begin);
        int ownerAt = Identifier.end(bytes, Varint.end(bytes, collectionAt)) + 16;
        int shardAt = Varint.end(bytes, ownerAt);
        int status = bytes[begin + 1] & STATUS;
        counter.count(
                (int) Varint.get(bytes, collectionAt),
                (int) Varint.get(bytes, ownerAt),
                (int) Varint.get(bytes, shardAt),
                status,
                more);
        if (status == MERGED) {
            counter.countSurvivor((int) Varint.get(bytes, survivorAt(bytes, Varint.end(bytes, shardAt))), more);
        }
    }

    /** Takes counts of rows. */
    interface RowCounter {
        void count(int collection, int owner, int shard, int status, int more);

        /** Counts rows that were merged into a row of this collection; their own collection counts them too. */
        default void countSurvivor(int collection, int more) {}
    }

    /** The number of the topic of a record's position. */
    static int topic(byte[] bytes, int begin) {
        int ownerAt = Identifier.end(bytes, Varint.end(bytes, nameAt(bytes, begin))) + 16;
        int epochAt = Varint.end(bytes, Varint.end(bytes, ownerAt));
        return (int) Varint.get(bytes, topicAt(bytes, epochAt));
    }

    /** The offset of the number of the topic of a record's position. */
    static int topicAt(byte[] bytes, int epochAt) {
        return Varint.end(bytes, Varint.end(bytes, Varint.end(bytes, epochAt)));
    }

    /** The offset of the survivor's collection in a merged row. */
    static int survivorAt(byte[] bytes, int epochAt) {
        return Varint.end(bytes, Varint.end(bytes, Varint.end(bytes, topicAt(bytes, epochAt))));
    }

    /** Whether two records have the same name. */
    static boolean sameName(byte[] a, byte[] b) {
        int atA = nameAt(a);
        int atB = nameAt(b);
        int endA = Identifier.end(a, Varint.end(a, atA));
        int endB = Identifier.end(b, Varint.end(b, atB));
        return java.util.Arrays.equals(a, atA, endA, b, atB, endB);
    }

    static Puri name(byte[] record, Words.Collection collection, int identifierAt) {
        return Puri.parse(collection.text.concat(Identifier.unpack(record, identifierAt)));
    }

    /** Decodes a record that was not freed. */
    Identity decode(byte[] record) {
        RecordParts parts = new RecordParts(words);
        parts.read(record);
        return decode(record, parts, null, null);
    }

    /**
     * @param parts of this record
     * @param puri the record's name; null if not known
     * @param handle the record's handle; null if not known
     */
    Identity decode(byte[] record, RecordParts parts, @Nullable Puri puri, @Nullable Handle handle) {
        Handle borne = handle;
        if (borne == null) {
            HandleKey key = HandleKey.of(record, words, 0);
            borne = key == null ? null : key.handle();
        }
        Puri name = puri == null ? name(record, parts.collection, parts.identifierAt) : puri;
        long high = (long) LONGS.get(record, parts.uuidAt);
        UUID uuid = new UUID(high, (long) LONGS.get(record, parts.uuidAt + 8));
        int at = parts.epochAt;
        long epoch = Varint.get(record, at);
        at = Varint.end(record, at);
        long created = timeOf(high) + Varint.unzigzag(Varint.get(record, at));
        at = Varint.end(record, at);
        long changed = created + Varint.unzigzag(Varint.get(record, at));
        at = Varint.end(record, at);
        int topic = (int) Varint.get(record, at);
        at = Varint.end(record, at);
        int partition = (int) Varint.get(record, at);
        at = Varint.end(record, at);
        long offset = Varint.get(record, at);
        Row.Status status = status(record);
        return new Identity(
                name,
                new Row(
                        uuid,
                        parts.owner.value,
                        parts.shard.value,
                        borne,
                        status,
                        epoch,
                        Instant.ofEpochMilli(created),
                        Instant.ofEpochMilli(changed),
                        status == Row.Status.MERGED
                                ? name(record, parts.survivorCollection, parts.survivorIdentifierAt)
                                : null,
                        new Position(words.topics.word(topic), partition, offset)));
    }

    /** The time in a uuid of version 7 (RFC 9562), in milliseconds; the base for other versions. */
    static long timeOf(long high) {
        return (high & 0xF000) == 0x7000 ? high >>> 16 : BASE_MILLIS;
    }
}
