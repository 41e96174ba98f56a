package dev.puri.resolver.feed;

import dev.puri.schemas.log.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Tells which records of {@code puri.identities.v1} change a row. */
public final class ChangeRecords {
    private static final byte[] APPLIED = Outcome.APPLIED.toString().getBytes(StandardCharsets.US_ASCII);

    private ChangeRecords() {}

    /**
     * Returns whether a record changes its row. The topic also has a record for each event that was refused or changed
     * nothing; such a record repeats the unchanged row.
     */
    public static boolean isChange(Headers headers) {
        Header last = null;
        for (Header header : headers) {
            last = header;
        }
        // Fast path: the registry writes the outcome as the last header, so the header's key need not be decoded.
        if (last == null || Arrays.equals(last.value(), APPLIED)) {
            return true;
        }
        Header outcome = headers.lastHeader(Outcome.HEADER);
        return outcome == null || Arrays.equals(outcome.value(), APPLIED);
    }
}
