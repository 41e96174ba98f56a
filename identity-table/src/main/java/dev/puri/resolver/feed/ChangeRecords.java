package dev.puri.resolver.feed;

import dev.puri.schemas.log.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Which records of {@code puri.identities.v1} say that a row changed. */
public final class ChangeRecords {
    private static final byte[] APPLIED = Outcome.APPLIED.toString().getBytes(StandardCharsets.US_ASCII);

    private ChangeRecords() {}

    /** What only answers a refusal or a repetition has the row as it was before, and is none. */
    public static boolean isChange(Headers headers) {
        Header last = null;
        for (Header header : headers) {
            last = header;
        }
        // The registry writes the outcome last, and says so nowhere else: of its name no text need be made.
        if (last == null || Arrays.equals(last.value(), APPLIED)) {
            return true;
        }
        Header outcome = headers.lastHeader(Outcome.HEADER);
        return outcome == null || Arrays.equals(outcome.value(), APPLIED);
    }
}
