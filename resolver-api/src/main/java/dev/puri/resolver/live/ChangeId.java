package dev.puri.resolver.live;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.Uuid;

/**
 * The position of a subscriber: by partition of {@code puri.identities.v1}, the offset before which it has every
 * change. Its text is opaque to callers and valid on every instance.
 *
 * <p>The text is base64url, without padding, of: the topic's id folded to 4 bytes, the second (since 1970) at which the
 * subscriber had every change, and the offsets in the order of the partitions; seconds and offsets are varints of 7
 * bits, the lowest first.
 */
public final class ChangeId {
    /** Enough for more than a thousand partitions. */
    static final int MAX_LENGTH = 8192;

    private static final int TOPIC_BYTES = 4;
    private static final int MAX_VARINT_BYTES = 9;
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();
    private static final Base64.Decoder DECODER = Base64.getUrlDecoder();

    private final int topic;
    private final long seconds;
    private final long[] next;
    private final String text;

    private ChangeId(int topic, long seconds, long[] next) {
        this.topic = topic;
        this.seconds = seconds;
        this.next = next;
        this.text = encode(topic, seconds, next);
    }

    /**
     * @param topic as {@link #fold} has it
     * @param seconds since 1970
     * @param next by partition; copied
     */
    static ChangeId of(int topic, long seconds, long[] next) {
        return new ChangeId(topic, seconds, next.clone());
    }

    /** Folds a topic's random id; the rest is enough to recognise a topic that was created again. */
    static int fold(Uuid topicId) {
        long folded = topicId.getMostSignificantBits() ^ topicId.getLeastSignificantBits();
        return (int) (folded ^ (folded >>> 32));
    }

    /**
     * Reads the text.
     *
     * @throws IllegalArgumentException when no server can have issued it
     */
    public static ChangeId parse(String text) {
        if (text.length() <= MAX_LENGTH) {
            try {
                ByteBuffer bytes = ByteBuffer.wrap(DECODER.decode(text));
                if (bytes.remaining() > TOPIC_BYTES) {
                    int topic = bytes.getInt();
                    long seconds = varint(bytes);
                    long[] next = new long[bytes.remaining()];
                    int partitions = 0;
                    while (bytes.hasRemaining()) {
                        next[partitions++] = varint(bytes);
                    }
                    ChangeId id = new ChangeId(topic, seconds, Arrays.copyOf(next, partitions));
                    if (id.text.equals(text)) {
                        return id;
                    }
                }
            } catch (IllegalArgumentException e) {
                // Said below, as of every text that is not written as we write it.
            }
        }
        throw new IllegalArgumentException(
                "not the id of an event that was sent: it is " + text.length() + " characters that mean nothing");
    }

    int topic() {
        return topic;
    }

    long seconds() {
        return seconds;
    }

    long[] next() {
        return next.clone();
    }

    boolean isOf(int topic, long seconds, long[] next) {
        return this.topic == topic && this.seconds == seconds && Arrays.equals(this.next, next);
    }

    private static String encode(int topic, long seconds, long[] next) {
        ByteBuffer bytes = ByteBuffer.allocate(TOPIC_BYTES + (1 + next.length) * MAX_VARINT_BYTES);
        bytes.putInt(topic);
        putVarint(bytes, seconds);
        for (long offset : next) {
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
        throw new IllegalArgumentException("no number ends here");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChangeId that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        return text;
    }
}
