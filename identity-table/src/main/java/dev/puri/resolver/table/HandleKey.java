package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A handle as numbers: 15 characters of 5 bits, and one of 26³ prefixes. In a record it takes 10 bytes: 75 bits for the
 * characters and 5 for the number of the prefix; from the 32nd prefix on, 2 more bytes.
 *
 * @param high the first 12 characters, 60 bits
 * @param low the last 3, 15 bits
 * @param prefix the index of the prefix among all possible ones
 * @param hash with the table's seed
 * @param words of the table
 */
record HandleKey(long high, int low, int prefix, long hash, Words words) implements Index.Match {
    static final int BYTES = 10;
    static final int PREFIX_BYTES = 2;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final byte[] CHARACTERS = Handle.ALPHABET.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUES = new byte[128];

    /** The offset of the characters after prefix and underscore. */
    private static final int FIRST = 4;

    static {
        Arrays.fill(VALUES, (byte) -1);
        for (int i = 0; i < CHARACTERS.length; i++) {
            VALUES[CHARACTERS[i]] = (byte) i;
        }
    }

    static HandleKey of(Handle handle, Words words, long seed) {
        String text = handle.text();
        long high = 0;
        for (int i = FIRST; i < FIRST + 12; i++) {
            high = high << 5 | VALUES[text.charAt(i)];
        }
        int low = 0;
        for (int i = FIRST + 12; i < Handle.LENGTH; i++) {
            low = low << 5 | VALUES[text.charAt(i)];
        }
        int prefix = ((text.charAt(0) - 'a') * 26 + text.charAt(1) - 'a') * 26 + text.charAt(2) - 'a';
        return new HandleKey(high, low, prefix, hash(high, low, prefix, seed), words);
    }

    static long hash(long high, int low, int prefix, long seed) {
        return Hash.of(high, low << 15 | prefix, seed);
    }

    /** Returns the handle of a record, or null. */
    static @Nullable HandleKey of(byte[] record, Words words, long seed) {
        return RowCodec.hasHandle(record) ? at(record, RowCodec.HANDLE_AT, words, seed) : null;
    }

    /** Returns the handle at this offset. */
    static HandleKey at(byte[] bytes, int at, Words words, long seed) {
        long first = (long) LONGS.get(bytes, at);
        int last = (short) SHORTS.get(bytes, at + 8) & 0xFFFF;
        long high = first >>> 4;
        int low = (int) (first & 0xF) << 11 | last >>> 5;
        int number = last & 0x1F;
        int prefix =
                number == Words.OTHER_PREFIX ? (short) SHORTS.get(bytes, at + BYTES) & 0xFFFF : words.prefix(number);
        return new HandleKey(high, low, prefix, hash(high, low, prefix, seed), words);
    }

    /** Returns the hash of the handle at this offset. */
    static long hashAt(byte[] bytes, int at, Words words, long seed) {
        return at(bytes, at, words, seed).hash;
    }

    /** Parses a handle into a row; returns false if the text is no handle. */
    static boolean parse(byte[] text, int from, RawRow row) {
        int prefix = prefix(text, from);
        long high = characters(text, from + FIRST, 12);
        long low = characters(text, from + FIRST + 12, 3);
        if ((prefix | high | low) < 0) {
            return false;
        }
        row.setHandle(high, (int) low, prefix);
        return true;
    }

    /** Parses text[from..to), in lower case; returns null if it is no handle. */
    static @Nullable HandleKey parse(byte[] text, int from, int to, Words words, long seed) {
        if (to - from != Handle.LENGTH) {
            return null;
        }
        int prefix = prefix(text, from);
        long high = characters(text, from + FIRST, 12);
        long low = characters(text, from + FIRST + 12, 3);
        return (prefix | high | low) < 0
                ? null
                : new HandleKey(high, (int) low, prefix, hash(high, (int) low, prefix, seed), words);
    }

    /** Returns the index of the prefix that begins here, underscore included; negative if there is none. */
    private static int prefix(byte[] text, int from) {
        int prefix = 0;
        for (int i = from; i < from + FIRST - 1; i++) {
            int letter = text[i] - 'a';
            if (letter < 0 || letter >= 26) {
                return -1;
            }
            prefix = 26 * prefix + letter;
        }
        return text[from + FIRST - 1] == '_' ? prefix : -1;
    }

    /** Parses this many characters, 5 bits each; negative if one of them is invalid. */
    private static long characters(byte[] text, int from, int count) {
        long value = 0;
        // An invalid character is -1 and sets the sign.
        int signs = 0;
        for (int i = from; i < from + count; i++) {
            signs |= VALUES[text[i] & 0x7F] | text[i];
            value = value << 5 | VALUES[text[i] & 0x7F];
        }
        return signs < 0 ? -1 : value;
    }

    static int put(RawRow row, Words words, byte[] out, int at) {
        int number = words.intern(row.prefix);
        LONGS.set(out, at, row.handleHigh << 4 | row.handleLow >>> 11);
        SHORTS.set(out, at + 8, (short) ((row.handleLow & 0x7FF) << 5 | number));
        if (number != Words.OTHER_PREFIX) {
            return at + BYTES;
        }
        SHORTS.set(out, at + BYTES, (short) row.prefix);
        return at + BYTES + PREFIX_BYTES;
    }

    private boolean isSame(HandleKey other) {
        return high == other.high && low == other.low && prefix == other.prefix;
    }

    @Override
    public boolean in(byte[] record) {
        if (!RowCodec.hasHandle(record) || (long) LONGS.get(record, RowCodec.HANDLE_AT) != (high << 4 | low >>> 11)) {
            return false;
        }
        HandleKey there = of(record, words, 0);
        return there != null && isSame(there);
    }

    Handle handle() {
        byte[] text = new byte[Handle.LENGTH];
        putText(text, 0);
        return new Handle(new String(text, StandardCharsets.ISO_8859_1));
    }

    /** Writes the text and returns the offset after it. */
    int putText(byte[] out, int at) {
        out[at] = (byte) ('a' + prefix / (26 * 26));
        out[at + 1] = (byte) ('a' + prefix / 26 % 26);
        out[at + 2] = (byte) ('a' + prefix % 26);
        out[at + 3] = '_';
        for (int i = 0; i < 12; i++) {
            out[at + FIRST + i] = CHARACTERS[(int) (high >>> 5 * (11 - i)) & 0x1F];
        }
        for (int i = 0; i < 3; i++) {
            out[at + FIRST + 12 + i] = CHARACTERS[low >>> 5 * (2 - i) & 0x1F];
        }
        return at + Handle.LENGTH;
    }
}
