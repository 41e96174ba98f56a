package dev.puri.registry;

import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * The record of an event, not decoded. Of a value longer than {@value #MAX_BYTES} bytes it contains only the first
 * {@value #KEPT_BYTES}.
 *
 * @param position the record's topic, partition and offset
 * @param key the record's key; null if it has none or one of more than {@value #MAX_KEY_BYTES} bytes
 * @param head the value or its beginning; empty if there is no value
 * @param length bytes of the whole value; -1 if there is no value
 * @param sha256 of the whole value; null unless the value is longer than {@value #MAX_BYTES} bytes
 */
record RawEvent(
        Position position,
        byte @Nullable [] key,
        byte[] head,
        long length,
        @Nullable ByteBuffer sha256) {
    /** The longest valid event. An envelope around one, such as a rejection, still fits into a record. */
    static final int MAX_BYTES = 128 * 1024;

    /** The longest part of a value that a rejection contains. */
    static final int KEPT_BYTES = 64 * 1024;

    /** Longer keys cannot be pURIs and are dropped. */
    static final int MAX_KEY_BYTES = 1024;

    private static final String LENGTH_HEADER = "length";
    private static final String SHA256_HEADER = "sha256";

    static RawEvent of(Position position, byte @Nullable [] key, byte @Nullable [] value) {
        byte[] shortKey = key == null || key.length > MAX_KEY_BYTES ? null : key;
        if (value == null) {
            return new RawEvent(position, shortKey, TextCodec.EMPTY, -1, null);
        }
        if (value.length <= MAX_BYTES) {
            return new RawEvent(position, shortKey, value, value.length, null);
        }
        return new RawEvent(position, shortKey, Arrays.copyOf(value, KEPT_BYTES), value.length, Sha256.of(value));
    }

    /** Whether there is a value and {@link #head} is the whole of it. */
    boolean isComplete() {
        return length >= 0 && length <= MAX_BYTES;
    }

    /** The SHA-256 of the whole value. */
    ByteBuffer digest() {
        return sha256 == null ? Sha256.of(head) : sha256.duplicate();
    }

    /** The beginning of the value, as rejections contain it. */
    byte[] excerpt() {
        return head.length <= KEPT_BYTES ? head : Arrays.copyOf(head, KEPT_BYTES);
    }

    /** The headers in the intake topic. */
    Headers toHeaders() {
        Headers headers = new RecordHeaders();
        headers.add(Position.HEADER, TextCodec.utf8(position.toString()));
        headers.add(LENGTH_HEADER, TextCodec.utf8(Long.toString(length)));
        if (sha256 != null) {
            headers.add(SHA256_HEADER, sha256.array());
        }
        return headers;
    }

    /**
     * Reads a record of the intake topic.
     *
     * @throws IllegalArgumentException if a header is missing or invalid, or contradicts the key or the value
     */
    static RawEvent fromIntake(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        Position position = Position.parse(new String(header(headers, Position.HEADER), StandardCharsets.UTF_8));
        long length = Long.parseLong(new String(header(headers, LENGTH_HEADER), StandardCharsets.UTF_8));
        byte[] head = value == null ? TextCodec.EMPTY : value;
        if (key != null && key.length > MAX_KEY_BYTES) {
            throw new IllegalArgumentException("the intake topic has no keys of " + key.length + " bytes");
        }
        boolean isComplete = length <= MAX_BYTES;
        if (length < -1 || head.length != (isComplete ? Math.max(0, length) : KEPT_BYTES)) {
            throw new IllegalArgumentException(
                    "a value of " + head.length + " bytes does not fit the length " + length);
        }
        return new RawEvent(position, key, head, length, isComplete ? null : digest(headers));
    }

    private static ByteBuffer digest(Headers headers) {
        byte[] digest = header(headers, SHA256_HEADER);
        if (digest.length != Sha256.BYTES) {
            throw new IllegalArgumentException("a SHA-256 has " + Sha256.BYTES + " bytes, not " + digest.length);
        }
        return ByteBuffer.wrap(digest);
    }

    private static byte[] header(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("a record of the intake topic must have the header " + name);
        }
        return header.value();
    }

    /**
     * Encodes the value of the parked store: pURI, {@code parkedAt}, length, size of the digest, digest, position,
     * head.
     */
    byte[] toBytes(byte[] puri, long parkedAt) {
        byte[] source = TextCodec.utf8(position.toString());
        int digest = sha256 == null ? 0 : sha256.remaining();
        ByteBuffer bytes =
                ByteBuffer.allocate(2 * Long.BYTES + 1 + digest + TextCodec.size(puri, source) + head.length);
        TextCodec.put(bytes, puri);
        bytes.putLong(parkedAt).putLong(length).put((byte) digest);
        if (sha256 != null) {
            bytes.put(sha256.duplicate());
        }
        TextCodec.put(bytes, source);
        return bytes.put(head).array();
    }

    /** Decodes the part of a {@link #toBytes} value that follows {@code parkedAt}. */
    static RawEvent read(byte[] key, ByteBuffer bytes) {
        long length = bytes.getLong();
        byte[] digest = new byte[bytes.get()];
        bytes.get(digest);
        Position position = Position.parse(TextCodec.get(bytes));
        byte[] head = new byte[bytes.remaining()];
        bytes.get(head);
        return new RawEvent(position, key, head, length, digest.length == 0 ? null : ByteBuffer.wrap(digest));
    }
}
