package dev.puri.schemas.log;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * The number of rows of a partition, and the sum of their {@link RowHash hashes}. The order of the rows does not
 * matter, so two copies that have read the partition to the same offset have the same digest. A copy updates its digest
 * with each record: it subtracts the hash of the old row and adds the hash of the new row.
 *
 * <p>The registrar publishes its digest as a tombstone of the partition's marker ({@link Topics#MARKER}) with the
 * header {@value #HEADER}. The digest covers all records before the tombstone.
 *
 * @param rows the number of rows, merged and deleted ones included
 * @param sum the sum of the hashes, modulo 2⁶⁴
 */
public record PartitionDigest(long rows, long sum) {
    /** The digest of an empty partition. */
    public static final PartitionDigest EMPTY = new PartitionDigest(0, 0);

    /** The header with the text of a digest. */
    public static final String HEADER = "digest";

    private static final HexFormat HEX = HexFormat.of();

    /** Returns the digest with one more row. */
    public PartitionDigest plus(long hash) {
        return new PartitionDigest(rows + 1, sum + hash);
    }

    /** Returns the digest without a row. */
    public PartitionDigest minus(long hash) {
        return new PartitionDigest(rows - 1, sum - hash);
    }

    /** Returns the digest of the rows of both digests. */
    public PartitionDigest plus(PartitionDigest other) {
        return new PartitionDigest(rows + other.rows, sum + other.sum);
    }

    /**
     * Parses {@link #toString}.
     *
     * @throws IllegalArgumentException if the text is not a digest
     */
    public static PartitionDigest parse(String text) {
        int colon = text.indexOf(':');
        try {
            if (colon > 0 && text.length() == colon + 1 + 2 * Long.BYTES) {
                long rows = Long.parseLong(text.substring(0, colon));
                return new PartitionDigest(rows, HexFormat.fromHexDigitsToLong(text, colon + 1, text.length()));
            }
        } catch (NumberFormatException e) {
            throw notADigest(text, e);
        }
        throw notADigest(text, null);
    }

    private static IllegalArgumentException notADigest(String text, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "a digest is the number of rows, a colon and 16 hexadecimal digits, not: " + text, cause);
    }

    /**
     * Returns the digest in the headers of a record; null if there is none.
     *
     * @throws IllegalArgumentException if the header is malformed
     */
    public static @Nullable PartitionDigest of(Headers headers) {
        Header header = headers.lastHeader(HEADER);
        return header == null || header.value() == null
                ? null
                : parse(new String(header.value(), StandardCharsets.US_ASCII));
    }

    /** Returns the header of a record that publishes this digest. */
    public Header toHeader() {
        return new RecordHeader(HEADER, toString().getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns the number of rows in decimal, a colon, and the sum as 16 hexadecimal digits: {@code 3:00c5…}. */
    @Override
    public String toString() {
        return rows + ":" + HEX.toHexDigits(sum);
    }
}
