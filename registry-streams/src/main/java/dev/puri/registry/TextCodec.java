package dev.puri.registry;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Encodes short texts for the codecs of this package: two bytes of length, then UTF-8. */
final class TextCodec {
    static final byte[] EMPTY = {};

    /** In characters; a refusal is truncated too, and must still say what is wrong with the text. */
    private static final int MAX_QUOTED = 80;

    private TextCodec() {}

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Quotes untrusted text for a message: truncated, with escapes for everything but printable ASCII. */
    static String quoted(byte[] utf8) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : new String(utf8, StandardCharsets.UTF_8).toCharArray()) {
            if (quoted.length() > MAX_QUOTED) {
                return quoted.append("…\"").toString();
            }
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= ' ' && c < 0x7F) {
                quoted.append(c);
            } else {
                quoted.append("\\u%04X".formatted((int) c));
            }
        }
        return quoted.append('"').toString();
    }

    static int size(byte[]... texts) {
        int size = 0;
        for (byte[] text : texts) {
            size += Short.BYTES + text.length;
        }
        return size;
    }

    static void put(ByteBuffer to, byte[] text) {
        if (text.length > Short.MAX_VALUE) {
            throw new IllegalStateException("a text of " + text.length + " bytes is too long");
        }
        to.putShort((short) text.length).put(text);
    }

    /**
     * @throws IllegalArgumentException if {@link #put} did not write the length
     */
    static String get(ByteBuffer from) {
        int length = from.getShort();
        if (length < 0 || length > from.remaining()) {
            throw new IllegalArgumentException("a text of " + length + " bytes in " + from.remaining());
        }
        String text = new String(from.array(), from.arrayOffset() + from.position(), length, StandardCharsets.UTF_8);
        from.position(from.position() + length);
        return text;
    }
}
