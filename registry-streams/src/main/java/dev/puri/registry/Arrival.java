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
 * An event as it came from its topic, before anything is known of it.
 *
 * @param position where it stands
 * @param key the record's key; null when it has none
 * @param head the value; only its first {@value #KEPT_BYTES} bytes when it is over {@value
 *     #MAX_BYTES}, empty when there is none
 * @param length bytes of the whole value; -1 when there is none
 * @param sha256 of the whole value
 */
record Arrival(
        Position position,
        byte @Nullable [] key,
        byte[] head,
        long length,
        @Nullable ByteBuffer sha256) {
    /** No event is longer; it leaves room for everything that is ever put around one. */
    static final int MAX_BYTES = 128 * 1024;

    /** What a rejection keeps of a value. */
    static final int KEPT_BYTES = 64 * 1024;

    /** Longer keys cannot be pURIs and are not carried on. */
    static final int MAX_KEY_BYTES = 1024;

    private static final String LENGTH_HEADER = "length";
    private static final String SHA256_HEADER = "sha256";

    static Arrival of(Position position, byte @Nullable [] key, byte @Nullable [] value) {
        byte[] shortKey = key == null || key.length > MAX_KEY_BYTES ? null : key;
        if (value == null) {
            return new Arrival(position, shortKey, Texts.EMPTY, -1, null);
        }
        if (value.length <= MAX_BYTES) {
            return new Arrival(position, shortKey, value, value.length, null);
        }
        return new Arrival(position, shortKey, Arrays.copyOf(value, KEPT_BYTES), value.length, Sha256.of(value));
    }

    /** Whether the value is there, whole and short enough to be read. */
    boolean isReadable() {
        return length >= 0 && length <= MAX_BYTES;
    }

    ByteBuffer digest() {
        return sha256 == null ? Sha256.of(head) : sha256.duplicate();
    }

    byte[] kept() {
        return head.length <= KEPT_BYTES ? head : Arrays.copyOf(head, KEPT_BYTES);
    }

    /** What the intake topic carries beside key and value. */
    Headers toHeaders() {
        Headers headers = new RecordHeaders();
        headers.add(Position.HEADER, Texts.utf8(position.toString()));
        headers.add(LENGTH_HEADER, Texts.utf8(Long.toString(length)));
        if (sha256 != null) {
            headers.add(SHA256_HEADER, sha256.array());
        }
        return headers;
    }

    /**
     * Reads what the intake stage wrote.
     *
     * @throws IllegalArgumentException when a header is missing or wrong, or key and value do not agree with them
     */
    static Arrival fromIntake(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        Position position = Position.parse(new String(header(headers, Position.HEADER), StandardCharsets.UTF_8));
        long length = Long.parseLong(new String(header(headers, LENGTH_HEADER), StandardCharsets.UTF_8));
        byte[] head = value == null ? Texts.EMPTY : value;
        if (key != null && key.length > MAX_KEY_BYTES) {
            throw new IllegalArgumentException("the intake carries no key of " + key.length + " bytes");
        }
        boolean isWhole = length <= MAX_BYTES;
        if (length < -1 || head.length != (isWhole ? Math.max(0, length) : KEPT_BYTES)) {
            throw new IllegalArgumentException(
                    "a value of " + head.length + " bytes does not fit the length " + length);
        }
        return new Arrival(position, key, head, length, isWhole ? null : digest(headers));
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
            throw new IllegalArgumentException("a record of the intake has the header " + name);
        }
        return header.value();
    }

    /** The pURI, {@code parkedAt}, length, digest flag and bytes, position, head: the value of the parked store. */
    byte[] toBytes(byte[] puri, long parkedAt) {
        byte[] place = Texts.utf8(position.toString());
        int digest = sha256 == null ? 0 : sha256.remaining();
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES + 1 + digest + Texts.size(puri, place) + head.length);
        Texts.put(bytes, puri);
        bytes.putLong(parkedAt).putLong(length).put((byte) digest);
        if (sha256 != null) {
            bytes.put(sha256.duplicate());
        }
        Texts.put(bytes, place);
        return bytes.put(head).array();
    }

    /** Reads what {@link #toBytes} wrote behind {@code parkedAt}. */
    static Arrival read(byte[] key, ByteBuffer bytes) {
        long length = bytes.getLong();
        byte[] digest = new byte[bytes.get()];
        bytes.get(digest);
        Position position = Position.parse(Texts.get(bytes));
        byte[] head = new byte[bytes.remaining()];
        bytes.get(head);
        return new Arrival(position, key, head, length, digest.length == 0 ? null : ByteBuffer.wrap(digest));
    }
}
