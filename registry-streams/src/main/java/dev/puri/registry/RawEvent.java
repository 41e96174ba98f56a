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
 * An event record that is not decoded. If the value has more than {@value #MAX_BYTES} bytes, only its first {@value
 * #KEPT_BYTES} bytes are kept.
 *
 * @param position the record's topic, partition and offset
 * @param key the record's key; null if the record has no key or a key of more than {@value #MAX_KEY_BYTES} bytes
 * @param valueHead the whole value, or its kept first bytes; empty if there is no value
 * @param valueLength number of bytes of the whole value; -1 if there is no value
 * @param sha256 SHA-256 of the whole value; null if the value has at most {@value #MAX_BYTES} bytes
 */
record RawEvent(
        Position position,
        byte @Nullable [] key,
        byte[] valueHead,
        long valueLength,
        @Nullable ByteBuffer sha256) {
    /**
     * Maximum size of a valid event. With it, each record that contains a whole event, such as that of a parked event,
     * is smaller than the brokers' limits.
     */
    static final int MAX_BYTES = 128 * 1024;

    /** How many bytes of a value a rejection contains at most. */
    static final int KEPT_BYTES = 64 * 1024;

    /** Maximum size of a key that is kept. No pURI is longer. */
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

    /** Whether there is a value and {@link #valueHead} contains all of it. */
    boolean hasCompleteValue() {
        return valueLength >= 0 && valueLength <= MAX_BYTES;
    }

    /** Returns the SHA-256 of the whole value. */
    ByteBuffer digest() {
        return sha256 == null ? Sha256.of(valueHead) : sha256.duplicate();
    }

    /** Returns the part of the value that a rejection contains. */
    byte[] excerpt() {
        return valueHead.length <= KEPT_BYTES ? valueHead : Arrays.copyOf(valueHead, KEPT_BYTES);
    }

    /** Returns the headers of the record in the repartition topic of events. */
    Headers toRepartitionHeaders() {
        Headers headers = new RecordHeaders();
        headers.add(Position.HEADER, TextCodec.utf8(position.toString()));
        headers.add(LENGTH_HEADER, TextCodec.utf8(Long.toString(valueLength)));
        if (sha256 != null) {
            headers.add(SHA256_HEADER, sha256.array());
        }
        return headers;
    }

    /**
     * Reads a record of the repartition topic of events.
     *
     * @throws IllegalArgumentException if a header is missing or invalid, or contradicts the key or the value
     */
    static RawEvent fromRepartition(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        Position position = Position.parse(new String(header(headers, Position.HEADER), StandardCharsets.UTF_8));
        long valueLength = Long.parseLong(new String(header(headers, LENGTH_HEADER), StandardCharsets.UTF_8));
        byte[] valueHead = value == null ? TextCodec.EMPTY : value;
        if (key != null && key.length > MAX_KEY_BYTES) {
            throw new IllegalArgumentException("the key has " + key.length + " bytes; the maximum is " + MAX_KEY_BYTES);
        }
        boolean isComplete = valueLength <= MAX_BYTES;
        if (valueLength < -1 || valueHead.length != (isComplete ? Math.max(0, valueLength) : KEPT_BYTES)) {
            throw new IllegalArgumentException("the value has " + valueHead.length
                    + " bytes, which contradicts the header " + LENGTH_HEADER + ": " + valueLength);
        }
        return new RawEvent(position, key, valueHead, valueLength, isComplete ? null : digest(headers));
    }

    private static ByteBuffer digest(Headers headers) {
        byte[] digest = header(headers, SHA256_HEADER);
        if (digest.length != Sha256.BYTES) {
            throw new IllegalArgumentException(
                    "the header " + SHA256_HEADER + " must have " + Sha256.BYTES + " bytes and has " + digest.length);
        }
        return ByteBuffer.wrap(digest);
    }

    private static byte[] header(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("the header " + name + " is missing");
        }
        return header.value();
    }

    /**
     * Encodes this event as a value of the store of parked events: pURI, {@code receivedAt}, value length, size of the
     * digest, digest, position, value head.
     */
    byte[] toBytes(byte[] puri, long receivedAt) {
        byte[] positionText = TextCodec.utf8(position.toString());
        int digestSize = sha256 == null ? 0 : sha256.remaining();
        ByteBuffer bytes = ByteBuffer.allocate(
                2 * Long.BYTES + 1 + digestSize + TextCodec.size(puri, positionText) + valueHead.length);
        TextCodec.put(bytes, puri);
        bytes.putLong(receivedAt).putLong(valueLength).put((byte) digestSize);
        if (sha256 != null) {
            bytes.put(sha256.duplicate());
        }
        TextCodec.put(bytes, positionText);
        return bytes.put(valueHead).array();
    }

    /** Decodes the part of a {@link #toBytes} value that follows {@code receivedAt}. */
    static RawEvent read(byte[] key, ByteBuffer bytes) {
        long valueLength = bytes.getLong();
        byte[] digest = new byte[bytes.get()];
        bytes.get(digest);
        Position position = Position.parse(TextCodec.get(bytes));
        byte[] valueHead = new byte[bytes.remaining()];
        bytes.get(valueHead);
        return new RawEvent(position, key, valueHead, valueLength, digest.length == 0 ? null : ByteBuffer.wrap(digest));
    }
}
