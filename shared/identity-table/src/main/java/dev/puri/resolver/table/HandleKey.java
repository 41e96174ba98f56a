package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The key of a handle in the index of handles: the handle as numbers, its hash, and the dictionaries with which it
 * reads the handle of a record. A handle has 15 characters of 5 bits each, and one of 26³ prefixes. In a packed record
 * a handle takes 10 bytes: 75 bits for the characters and 5 bits for the code of the prefix in {@link Dictionaries}. A
 * prefix without a code takes 2 more bytes.
 *
 * @param high the first 12 characters, 60 bits
 * @param low the last 3 characters, 15 bits
 * @param prefix the index of the prefix among the 26³ possible prefixes
 * @param hash the hash of the handle with the seed of the table
 * @param dictionaries the dictionaries of the table
 */
record HandleKey(long high, int low, int prefix, long hash, Dictionaries dictionaries) implements Index.RecordMatcher {
    static final int PACKED_BYTES = 10;

    /** The additional bytes of a prefix without a code. */
    static final int PACKED_PREFIX_BYTES = 2;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final byte[] CHARACTERS = Handle.ALPHABET.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUES = new byte[128];

    /** The offset of the first character after the prefix and the underscore. */
    private static final int FIRST_CHARACTER = 4;

    static {
        Arrays.fill(VALUES, (byte) -1);
        for (int i = 0; i < CHARACTERS.length; i++) {
            VALUES[CHARACTERS[i]] = (byte) i;
        }
    }

    static HandleKey of(Handle handle, Dictionaries dictionaries, long seed) {
        String text = handle.text();
        long high = 0;
        for (int i = FIRST_CHARACTER; i < FIRST_CHARACTER + 12; i++) {
            high = high << 5 | VALUES[text.charAt(i)];
        }
        int low = 0;
        for (int i = FIRST_CHARACTER + 12; i < Handle.LENGTH; i++) {
            low = low << 5 | VALUES[text.charAt(i)];
        }
        int prefix = ((text.charAt(0) - 'a') * 26 + text.charAt(1) - 'a') * 26 + text.charAt(2) - 'a';
        return new HandleKey(high, low, prefix, hash(high, low, prefix, seed), dictionaries);
    }

    static long hash(long high, int low, int prefix, long seed) {
        return Hash.of(high, low << 15 | prefix, seed);
    }

    /** Returns the handle of a record, or null if it has none. */
    static @Nullable HandleKey of(byte[] record, Dictionaries dictionaries, long seed) {
        return RowCodec.hasHandle(record) ? unpack(record, RowCodec.HANDLE_OFFSET, dictionaries, seed) : null;
    }

    /** Returns the packed handle at an offset. */
    static HandleKey unpack(byte[] bytes, int offset, Dictionaries dictionaries, long seed) {
        long firstBits = (long) LONGS.get(bytes, offset);
        int lastBits = (short) SHORTS.get(bytes, offset + 8) & 0xFFFF;
        long high = firstBits >>> 4;
        int low = (int) (firstBits & 0xF) << 11 | lastBits >>> 5;
        int code = lastBits & 0x1F;
        int prefix = code == Dictionaries.OTHER_PREFIX
                ? (short) SHORTS.get(bytes, offset + PACKED_BYTES) & 0xFFFF
                : dictionaries.prefix(code);
        return new HandleKey(high, low, prefix, hash(high, low, prefix, seed), dictionaries);
    }

    /** Returns the hash of the packed handle at an offset. */
    static long hashAt(byte[] bytes, int offset, Dictionaries dictionaries, long seed) {
        return unpack(bytes, offset, dictionaries, seed).hash;
    }

    /**
     * Parses the {@link Handle#LENGTH} bytes at {@code from} as a handle and sets it in a row. Returns false if they
     * are not a handle in lower case.
     */
    static boolean parse(byte[] text, int from, RawRow row) {
        int prefix = parsePrefix(text, from);
        long high = parseCharacters(text, from + FIRST_CHARACTER, 12);
        long low = parseCharacters(text, from + FIRST_CHARACTER + 12, 3);
        if ((prefix | high | low) < 0) {
            return false;
        }
        row.setHandle(high, (int) low, prefix);
        return true;
    }

    /** Parses text[from..to). Returns null if it is not a handle in lower case. */
    static @Nullable HandleKey parse(byte[] text, int from, int to, Dictionaries dictionaries, long seed) {
        if (to - from != Handle.LENGTH) {
            return null;
        }
        int prefix = parsePrefix(text, from);
        long high = parseCharacters(text, from + FIRST_CHARACTER, 12);
        long low = parseCharacters(text, from + FIRST_CHARACTER + 12, 3);
        return (prefix | high | low) < 0
                ? null
                : new HandleKey(high, (int) low, prefix, hash(high, (int) low, prefix, seed), dictionaries);
    }

    /** Parses a prefix and its underscore. Returns the index of the prefix, or a negative number if it is invalid. */
    private static int parsePrefix(byte[] text, int from) {
        int prefix = 0;
        for (int i = from; i < from + FIRST_CHARACTER - 1; i++) {
            int letter = text[i] - 'a';
            if (letter < 0 || letter >= 26) {
                return -1;
            }
            prefix = 26 * prefix + letter;
        }
        return text[from + FIRST_CHARACTER - 1] == '_' ? prefix : -1;
    }

    /** Parses characters of 5 bits each. Returns a negative number if a character is invalid. */
    private static long parseCharacters(byte[] text, int from, int count) {
        long value = 0;
        // Becomes negative if a character is invalid: VALUES has -1 for it, or it is not ASCII and its byte is
        // negative.
        int signs = 0;
        for (int i = from; i < from + count; i++) {
            signs |= VALUES[text[i] & 0x7F] | text[i];
            value = value << 5 | VALUES[text[i] & 0x7F];
        }
        return signs < 0 ? -1 : value;
    }

    /** Writes the packed handle of a row and returns the offset after it. */
    static int put(RawRow row, Dictionaries dictionaries, byte[] out, int offset) {
        int code = dictionaries.intern(row.prefix);
        LONGS.set(out, offset, row.handleHigh << 4 | row.handleLow >>> 11);
        SHORTS.set(out, offset + 8, (short) ((row.handleLow & 0x7FF) << 5 | code));
        if (code != Dictionaries.OTHER_PREFIX) {
            return offset + PACKED_BYTES;
        }
        SHORTS.set(out, offset + PACKED_BYTES, (short) row.prefix);
        return offset + PACKED_BYTES + PACKED_PREFIX_BYTES;
    }

    private boolean isSame(HandleKey other) {
        return high == other.high && low == other.low && prefix == other.prefix;
    }

    @Override
    public boolean matches(byte[] record) {
        if (!RowCodec.hasHandle(record)
                || (long) LONGS.get(record, RowCodec.HANDLE_OFFSET) != (high << 4 | low >>> 11)) {
            return false;
        }
        HandleKey recordHandle = of(record, dictionaries, 0);
        return recordHandle != null && isSame(recordHandle);
    }

    Handle handle() {
        byte[] text = new byte[Handle.LENGTH];
        putText(text, 0);
        return new Handle(new String(text, StandardCharsets.ISO_8859_1));
    }

    /** Writes the text of the handle and returns the offset after it. */
    int putText(byte[] out, int offset) {
        out[offset] = (byte) ('a' + prefix / (26 * 26));
        out[offset + 1] = (byte) ('a' + prefix / 26 % 26);
        out[offset + 2] = (byte) ('a' + prefix % 26);
        out[offset + 3] = '_';
        for (int i = 0; i < 12; i++) {
            out[offset + FIRST_CHARACTER + i] = CHARACTERS[(int) (high >>> 5 * (11 - i)) & 0x1F];
        }
        for (int i = 0; i < 3; i++) {
            out[offset + FIRST_CHARACTER + 12 + i] = CHARACTERS[low >>> 5 * (2 - i) & 0x1F];
        }
        return offset + Handle.LENGTH;
    }
}
