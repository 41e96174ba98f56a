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
     * Reads what {@link #toHeaders} wrote.
     *
     * @throws IllegalStateException when a header is missing: only the intake stage writes there
     */
    static Arrival fromIntake(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        Header sha256 = headers.lastHeader(SHA256_HEADER);
        return new Arrival(
                Position.parse(text(headers, Position.HEADER)),
                key,
                value == null ? Texts.EMPTY : value,
                Long.parseLong(text(headers, LENGTH_HEADER)),
                sha256 == null ? null : ByteBuffer.wrap(sha256.value()));
    }

    private static String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        if (header == null) {
            throw new IllegalStateException("the intake topic holds a record without the header " + name);
        }
        return new String(header.value(), StandardCharsets.UTF_8);
    }

    /** {@code parkedAt}, length, digest flag and bytes, position, head: the value of the parked store. */
    byte[] toBytes(long parkedAt) {
        byte[] place = Texts.utf8(position.toString());
        int digest = sha256 == null ? 0 : sha256.remaining();
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES + 1 + digest + Texts.size(place) + head.length)
                .putLong(parkedAt)
                .putLong(length)
                .put((byte) digest);
        if (sha256 != null) {
            bytes.put(sha256.duplicate());
        }
        Texts.put(bytes, place);
        return bytes.put(head).array();
    }

    static Arrival fromBytes(byte[] key, byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value, Long.BYTES, value.length - Long.BYTES);
        long length = bytes.getLong();
        byte[] digest = new byte[bytes.get()];
        bytes.get(digest);
        Position position = Position.parse(Texts.get(bytes));
        byte[] head = new byte[bytes.remaining()];
        bytes.get(head);
        return new Arrival(position, key, head, length, digest.length == 0 ? null : ByteBuffer.wrap(digest));
    }

    static long parkedAt(byte[] value) {
        return ByteBuffer.wrap(value).getLong();
    }
}
