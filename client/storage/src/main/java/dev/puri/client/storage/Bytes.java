package dev.puri.client.storage;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Encodes uuids and handles as bytes. The order of the bytes, compared as unsigned, is the order of the texts.
 *
 * <pre>
 * uuid    16 bytes, big-endian
 * handle  2 bytes   the prefix as a number in base 26; omitted if the mapping has a fixed prefix
 *         10 bytes  15 random characters of 5 bits each, then 5 bits that are 0
 * </pre>
 */
final class Bytes {
    static final int UUID_BYTES = 16;
    static final int RANDOM_BYTES = 10;
    static final int PREFIX_BYTES = 2;

    private static final int PREFIX_COUNT = 26 * 26 * 26;
    private static final int RANDOM_PART_INDEX = Handle.LENGTH - Handle.RANDOM_LENGTH;

    private Bytes() {}

    static byte[] ofUuid(UUID uuid) {
        return ByteBuffer.allocate(UUID_BYTES)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    static UUID uuid(byte[] bytes) {
        ByteBuffer buffer = buffer(bytes, UUID_BYTES);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    static byte[] ofHandle(Handle handle) {
        String text = handle.text();
        int prefix = 0;
        for (int i = 0; i < RANDOM_PART_INDEX - 1; i++) {
            prefix = 26 * prefix + text.charAt(i) - 'a';
        }
        ByteBuffer buffer = ByteBuffer.allocate(PREFIX_BYTES + RANDOM_BYTES).putShort((short) prefix);
        putRandom(text, buffer);
        return buffer.array();
    }

    static byte[] ofRandom(Handle handle) {
        ByteBuffer buffer = ByteBuffer.allocate(RANDOM_BYTES);
        putRandom(handle.text(), buffer);
        return buffer.array();
    }

    /** Appends the 75 bits of the random part: 64 bits as a long, then 11 bits in the upper bits of a short. */
    private static void putRandom(String text, ByteBuffer buffer) {
        long first12 = bits(text, RANDOM_PART_INDEX, RANDOM_PART_INDEX + 12);
        long last3 = bits(text, RANDOM_PART_INDEX + 12, Handle.LENGTH);
        buffer.putLong(first12 << 4 | last3 >>> 11).putShort((short) (last3 << 5));
    }

    private static long bits(String text, int from, int to) {
        long bits = 0;
        for (int i = from; i < to; i++) {
            bits = bits << 5 | Handle.ALPHABET.indexOf(text.charAt(i));
        }
        return bits;
    }

    static Handle handle(byte[] bytes) {
        ByteBuffer buffer = buffer(bytes, PREFIX_BYTES + RANDOM_BYTES);
        int prefix = buffer.getShort() & 0xFFFF;
        if (prefix >= PREFIX_COUNT) {
            throw new IllegalArgumentException("its first two bytes, " + prefix + ", are not a valid prefix");
        }
        char[] letters = {(char) ('a' + prefix / (26 * 26)), (char) ('a' + prefix / 26 % 26), (char) ('a' + prefix % 26)
        };
        return Handle.of(new Prefix(new String(letters)), random(buffer));
    }

    static Handle handleOf(Prefix prefix, byte[] bytes) {
        return Handle.of(prefix, random(buffer(bytes, RANDOM_BYTES)));
    }

    private static String random(ByteBuffer buffer) {
        long upperBits = buffer.getLong();
        int lowerBits = buffer.getShort() & 0xFFFF;
        if ((lowerBits & 0x1F) != 0) {
            throw new IllegalArgumentException("its last 5 bits are not 0");
        }
        long last3 = (upperBits & 0xF) << 11 | lowerBits >>> 5;
        StringBuilder text = new StringBuilder(Handle.RANDOM_LENGTH);
        for (int shift = 59; shift >= 4; shift -= 5) {
            text.append(Handle.ALPHABET.charAt((int) (upperBits >>> shift) & 0x1F));
        }
        for (int shift = 10; shift >= 0; shift -= 5) {
            text.append(Handle.ALPHABET.charAt((int) (last3 >>> shift) & 0x1F));
        }
        return text.toString();
    }

    private static ByteBuffer buffer(byte[] bytes, int length) {
        if (bytes.length != length) {
            throw new IllegalArgumentException("it has " + bytes.length + " bytes, not " + length);
        }
        return ByteBuffer.wrap(bytes);
    }
}
