package dev.puri.resolver.feed;

import dev.puri.schemas.log.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Distinguishes the records of {@code puri.identities.v1} that change a row. */
public final class ChangeRecords {
    private static final byte[] APPLIED = Outcome.APPLIED.toString().getBytes(StandardCharsets.US_ASCII);

    private ChangeRecords() {}

    /**
     * Whether a record changes its row. A record that answers a refused or repeated event has the row as it was before.
     */
    public static boolean isChange(Headers headers) {
        Header last = null;
        for (Header header : headers) {
            last = header;
        }
        // The registry writes the outcome as the last header, so its name need not be decoded.
        if (last == null || Arrays.equals(last.value(), APPLIED)) {
            return true;
        }
        Header outcome = headers.lastHeader(Outcome.HEADER);
        return outcome == null || Arrays.equals(outcome.value(), APPLIED);
    }
}
