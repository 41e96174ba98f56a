package dev.puri.resolver.live;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.Uuid;

/**
 * The position of a subscriber of {@code /v1/changes}, sent as the id of events. It has, for each partition of
 * {@code puri.identities.v1}, the offset before which the subscriber has every change. The text of an id is opaque to
 * clients and valid on every instance.
 *
 * <p>The text is base64url, without padding, of: a hash of the topic's id in 4 bytes; the last time at which the
 * subscriber had every change, in seconds since 1970; and the offsets in the order of the partitions. The time and the
 * offsets are varints with 7 bits a byte, the lowest bits first.
 */
public final class ChangeId {
    /** Maximum number of characters; enough for more than a thousand partitions. */
    static final int MAX_LENGTH = 8192;

    private static final int TOPIC_BYTES = 4;
    private static final int MAX_VARINT_BYTES = 9;
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();
    private static final Base64.Decoder DECODER = Base64.getUrlDecoder();

    private final int topicHash;
    private final long seconds;
    private final long[] nextOffsets;
    private final String text;

    private ChangeId(int topicHash, long seconds, long[] nextOffsets) {
        this.topicHash = topicHash;
        this.seconds = seconds;
        this.nextOffsets = nextOffsets;
        this.text = encode(topicHash, seconds, nextOffsets);
    }

    /**
     * @param topicHash see {@link #topicHash(Uuid)}
     * @param seconds the last time at which the subscriber had every change, in seconds since 1970
     * @param nextOffsets by partition; copied
     */
    static ChangeId of(int topicHash, long seconds, long[] nextOffsets) {
        return new ChangeId(topicHash, seconds, nextOffsets.clone());
    }

    /** Hashes the random id of a topic; 4 bytes are enough to recognise a topic that was created again. */
    static int topicHash(Uuid topicId) {
        long hash = topicId.getMostSignificantBits() ^ topicId.getLeastSignificantBits();
        return (int) (hash ^ (hash >>> 32));
    }

    /**
     * Parses the text of an id.
     *
     * @throws IllegalArgumentException if no server can have issued it
     */
    public static ChangeId parse(String text) {
        if (text.length() <= MAX_LENGTH) {
            try {
                ByteBuffer bytes = ByteBuffer.wrap(DECODER.decode(text));
                if (bytes.remaining() > TOPIC_BYTES) {
                    int topicHash = bytes.getInt();
                    long seconds = varint(bytes);
                    long[] nextOffsets = new long[bytes.remaining()];
                    int partitionCount = 0;
                    while (bytes.hasRemaining()) {
                        nextOffsets[partitionCount++] = varint(bytes);
                    }
                    ChangeId id = new ChangeId(topicHash, seconds, Arrays.copyOf(nextOffsets, partitionCount));
                    if (id.text.equals(text)) {
                        return id;
                    }
                }
            } catch (IllegalArgumentException e) {
                // The exception below also covers text that is not base64url.
            }
        }
        throw new IllegalArgumentException(
                "not the id of an event: no server can have issued this text of " + text.length() + " characters");
    }

    int topicHash() {
        return topicHash;
    }

    long seconds() {
        return seconds;
    }

    /** Returns, by partition, the offset before which the subscriber has every change. */
    public long[] nextOffsets() {
        return nextOffsets.clone();
    }

    boolean matches(int topicHash, long seconds, long[] nextOffsets) {
        return this.topicHash == topicHash && this.seconds == seconds && Arrays.equals(this.nextOffsets, nextOffsets);
    }

    private static String encode(int topicHash, long seconds, long[] nextOffsets) {
        ByteBuffer bytes = ByteBuffer.allocate(TOPIC_BYTES + (1 + nextOffsets.length) * MAX_VARINT_BYTES);
        bytes.putInt(topicHash);
        putVarint(bytes, seconds);
        for (long offset : nextOffsets) {
            putVarint(bytes, offset);
        }
        return ENCODER.encodeToString(Arrays.copyOf(bytes.array(), bytes.position()));
    }

    private static void putVarint(ByteBuffer bytes, long value) {
        long rest = value;
        while (rest > 0x7f) {
            bytes.put((byte) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.put((byte) rest);
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int i = 0; i < MAX_VARINT_BYTES && bytes.hasRemaining(); i++) {
            byte b = bytes.get();
            value |= (long) (b & 0x7f) << (7 * i);
            if (b >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("a number does not end");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChangeId that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return text;
    }
}
