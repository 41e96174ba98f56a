package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A handle as numbers: 15 characters of 5 bits and the prefix, of which there are 26³. In a record it
 * takes 10 bytes, 75 bits of characters and 5 that number the prefix; from the 32nd prefix on, 2 more.
 *
 * @param high the first 12 characters, 60 bits
 * @param low the last 3, 15 bits
 * @param prefix the prefix's place among all
 * @param hash by the table's seed
 * @param words the table's
 */
record HandleKey(long high, int low, int prefix, long hash, Words words) implements Index.Match {
    static final int BYTES = 10;
    static final int PREFIX_BYTES = 2;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final byte[] CHARACTERS = Handle.ALPHABET.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUES = new byte[128];

    /** Where the characters after prefix and underscore begin. */
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

    /** The handle of a record, or null. */
    static @Nullable HandleKey of(byte[] record, Words words, long seed) {
        return RowCodec.hasHandle(record) ? at(record, RowCodec.HANDLE_AT, words, seed) : null;
    }

    /** The handle that stands at this place. */
    private static HandleKey at(byte[] bytes, int at, Words words, long seed) {
        long first = (long) LONGS.get(bytes, at);
        int last = (short) SHORTS.get(bytes, at + 8) & 0xFFFF;
        long high = first >>> 4;
        int low = (int) (first & 0xF) << 11 | last >>> 5;
        int number = last & 0x1F;
        int prefix =
                number == Words.OTHER_PREFIX ? (short) SHORTS.get(bytes, at + BYTES) & 0xFFFF : words.prefix(number);
        return new HandleKey(high, low, prefix, hash(high, low, prefix, seed), words);
    }

    /** The hash of the handle that stands at this place. */
    static long hashAt(byte[] bytes, int at, Words words, long seed) {
        return at(bytes, at, words, seed).hash;
    }

    /** Reads a handle's text into a row; false when it is none. */
    static boolean parse(byte[] text, int from, RawRow row) {
        int prefix = 0;
        for (int i = from; i < from + FIRST - 1; i++) {
            int letter = text[i] - 'a';
            if (letter < 0 || letter >= 26) {
                return false;
            }
            prefix = 26 * prefix + letter;
        }
        long high = 0;
        long low = 0;
        // Any value that is none is negative and leaves the sign in here.
        int signs = 0;
        for (int i = from + FIRST; i < from + FIRST + 12; i++) {
            signs |= VALUES[text[i] & 0x7F] | text[i];
            high = high << 5 | VALUES[text[i] & 0x7F];
        }
        for (int i = from + FIRST + 12; i < from + Handle.LENGTH; i++) {
            signs |= VALUES[text[i] & 0x7F] | text[i];
            low = low << 5 | VALUES[text[i] & 0x7F];
        }
        if (signs < 0 || text[from + FIRST - 1] != '_') {
            return false;
        }
        row.setHandle(high, (int) low, prefix);
        return true;
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
        text[0] = (byte) ('a' + prefix / (26 * 26));
        text[1] = (byte) ('a' + prefix / 26 % 26);
        text[2] = (byte) ('a' + prefix % 26);
        text[3] = '_';
        for (int i = 0; i < 12; i++) {
            text[FIRST + i] = CHARACTERS[(int) (high >>> 5 * (11 - i)) & 0x1F];
        }
        for (int i = 0; i < 3; i++) {
            text[FIRST + 12 + i] = CHARACTERS[low >>> 5 * (2 - i) & 0x1F];
        }
        return new Handle(new String(text, StandardCharsets.ISO_8859_1));
    }
}
