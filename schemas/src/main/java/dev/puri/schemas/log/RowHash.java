package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Computes 64-bit hashes of rows and documents, which {@link PartitionDigest} adds up. The registrar, resolvers and
 * indexers compute the hashes independently and compare the sums, so the hash of a row is part of the contract between
 * releases. It covers the pURI and each field of the row except the position. Positions differ between copies, because
 * some servers also store the position of an event that changed nothing.
 *
 * <p>The hash detects faults, not attacks: it has no key. Like wyhash it multiplies two numbers to 128 bits and folds
 * the halves. The methods that take numbers create no objects, so a table calls them with the fields of its packed
 * records.
 */
public final class RowHash {
    /** The hash of an absent handle or survivor. */
    public static final long NONE = 0;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle BIG_ENDIAN_LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final long A = 0xa0761d6478bd642fL;
    private static final long B = 0xe7037ed1a0b428dbL;
    private static final long C = 0x8ebc6af09c88c6e3L;
    private static final long D = 0x589965cc75374cc3L;
    private static final int PREFIX_CHARACTERS = 3;
    private static final int HIGH_CHARACTERS = 12;

    private RowHash() {}

    /** Returns the hash of a row or document. */
    public static long of(Puri puri, Entry entry) {
        return entry instanceof Row row ? of(puri, row) : of(puri, (Document) entry);
    }

    /** Returns the hash of a row. */
    public static long of(Puri puri, Row row) {
        UUID uuid = row.uuid();
        Puri survivor = row.mergedInto();
        return of(
                ofText(puri.toBytes()),
                uuid.getMostSignificantBits(),
                uuid.getLeastSignificantBits(),
                ofText(row.owner().text()),
                ofText(row.shard().text()),
                ofHandle(row.handle()),
                row.status().ordinal(),
                row.epoch(),
                row.createdAt().toEpochMilli(),
                row.changedAt().toEpochMilli(),
                survivor == null ? NONE : ofText(survivor.toBytes()));
    }

    /**
     * Returns the hash of a row from its fields.
     *
     * @param puri {@link #ofText} of the canonical pURI
     * @param owner {@link #ofText} of the owner
     * @param shard {@link #ofText} of the shard
     * @param handle {@link #ofHandle}; {@link #NONE} without a handle
     * @param status the ordinal of {@link Row.Status}
     * @param createdMillis time of the creation, in milliseconds since 1970
     * @param changedMillis time of the last change, in milliseconds since 1970
     * @param survivor {@link #ofText} of the canonical {@code mergedInto}; {@link #NONE} without one
     */
    public static long of(
            long puri,
            long uuidHigh,
            long uuidLow,
            long owner,
            long shard,
            long handle,
            int status,
            long epoch,
            long createdMillis,
            long changedMillis,
            long survivor) {
        // Independent products, so that the processor computes them in parallel.
        long uuid = fold(uuidHigh ^ A, uuidLow ^ B);
        long place = fold(owner ^ B, shard ^ C);
        long times = fold(createdMillis ^ C, changedMillis ^ D);
        long state = fold(epoch << 2 | status, A) ^ survivor;
        return fold(fold(puri ^ A, uuid ^ B) ^ fold(place ^ C, times ^ D), fold(handle ^ D, state ^ A) ^ B);
    }

    /** Returns the hash of a document, which does not cover the position. */
    public static long of(Puri puri, Document document) {
        long hash = fold(ofText(puri.toBytes()) ^ A, ofText(document.owner().text()) ^ B);
        hash = fold(hash ^ ofText(document.shard().text()), ofHandle(document.handle()) ^ C);
        Puri survivor = document.mergedInto();
        hash = fold(hash ^ document.status().ordinal(), (survivor == null ? NONE : ofText(survivor.toBytes())) ^ D);
        long attributes = 0;
        for (Map.Entry<String, String> attribute : new TreeMap<>(document.attributes()).entrySet()) {
            attributes = fold(attributes ^ ofText(attribute.getKey()), ofText(attribute.getValue()) ^ B);
        }
        return fold(hash ^ C, attributes ^ D);
    }

    /** Returns the hash of the UTF-8 bytes of a text. */
    public static long ofText(String text) {
        return ofText(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the hash of a text in UTF-8. */
    public static long ofText(byte[] text) {
        return ofText(text, 0, text.length);
    }

    /** Returns the hash of the text from {@code from} to {@code to}, exclusive. */
    public static long ofText(byte[] text, int from, int to) {
        int length = to - from;
        long hash = B + length;
        int i = from;
        for (; i + 2 * Long.BYTES < to; i += 2 * Long.BYTES) {
            hash = fold((long) LONGS.get(text, i) ^ D, (long) LONGS.get(text, i + Long.BYTES) ^ hash);
        }
        // The last two numbers overlap other ones if the length is not a multiple of theirs. This is faster than a loop
        // over the rest, and has no effect on what the hash detects, because it covers the length.
        if (length < Long.BYTES) {
            return fold(fewBytes(text, from, to) ^ C, hash);
        }
        long last = (long) LONGS.get(text, to - Long.BYTES);
        long previous = (long) LONGS.get(text, Math.max(from, to - 2 * Long.BYTES));
        return fold(previous ^ C, last ^ hash);
    }

    /** Returns fewer than eight bytes as a number, the first one in the highest bits. */
    private static long fewBytes(byte[] text, int from, int to) {
        if (from == to) {
            return 0;
        }
        if (to >= Long.BYTES) {
            // One read of the bytes before, too, which the mask removes, is faster than a loop.
            long last = (long) BIG_ENDIAN_LONGS.get(text, to - Long.BYTES);
            return last & (-1L >>> Byte.SIZE * (Long.BYTES - (to - from)));
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            number = number << 8 | text[i] & 0xFF;
        }
        return number;
    }

    /** Returns the hash of a handle; {@link #NONE} for null. */
    public static long ofHandle(@Nullable Handle handle) {
        if (handle == null) {
            return NONE;
        }
        String text = handle.text();
        int prefix = 0;
        for (int i = 0; i < PREFIX_CHARACTERS; i++) {
            prefix = 26 * prefix + text.charAt(i) - 'a';
        }
        int first = PREFIX_CHARACTERS + 1;
        return ofHandle(
                characters(text, first, first + HIGH_CHARACTERS),
                (int) characters(text, first + HIGH_CHARACTERS, Handle.LENGTH),
                prefix);
    }

    /**
     * Returns the hash of a handle in packed form: each random character is its index in {@link Handle#ALPHABET}, in 5
     * bits.
     *
     * @param high the first 12 random characters, the first one in the highest bits
     * @param low the last 3 random characters
     * @param prefix the letters of the prefix as a number of base 26, {@code a} being 0
     */
    public static long ofHandle(long high, int low, int prefix) {
        return fold(high ^ C, ((long) low << 15 | prefix) ^ D);
    }

    private static long characters(String text, int from, int to) {
        long value = 0;
        for (int i = from; i < to; i++) {
            value = value << 5 | Handle.ALPHABET.indexOf(text.charAt(i));
        }
        return value;
    }

    /** Multiplies as signed numbers, which takes fewer instructions than the unsigned product and mixes as well. */
    private static long fold(long a, long b) {
        return a * b ^ Math.multiplyHigh(a, b);
    }
}
