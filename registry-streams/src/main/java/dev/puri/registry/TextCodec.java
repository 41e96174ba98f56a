package dev.puri.registry;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Encodes short texts for the codecs of this package: the length in two bytes, then the text in UTF-8. */
final class TextCodec {
    static final byte[] EMPTY = {};

    /**
     * A refusal's detail is truncated at its end; this limit of a quoted text keeps the explanation after the quote.
     */
    private static final int MAX_QUOTED_CHARACTERS = 80;

    private TextCodec() {}

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Quotes untrusted text for a message: truncates it, and escapes all characters except printable ASCII. */
    static String quoted(byte[] utf8) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : new String(utf8, StandardCharsets.UTF_8).toCharArray()) {
            if (quoted.length() > MAX_QUOTED_CHARACTERS) {
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

    /** Returns the number of bytes that {@link #put} writes for the texts. */
    static int size(byte[]... texts) {
        int size = 0;
        for (byte[] text : texts) {
            size += Short.BYTES + text.length;
        }
        return size;
    }

    static void put(ByteBuffer target, byte[] text) {
        if (text.length > Short.MAX_VALUE) {
            throw new IllegalStateException("a text of " + text.length + " bytes is too long");
        }
        target.putShort((short) text.length).put(text);
    }

    /**
     * @throws IllegalArgumentException if the encoded length is negative or exceeds the remaining bytes
     */
    static String get(ByteBuffer source) {
        int length = source.getShort();
        if (length < 0 || length > source.remaining()) {
            throw new IllegalArgumentException(
                    "the length of a text is " + length + ", but " + source.remaining() + " bytes remain");
        }
        String text =
                new String(source.array(), source.arrayOffset() + source.position(), length, StandardCharsets.UTF_8);
        source.position(source.position() + length);
        return text;
    }
}
