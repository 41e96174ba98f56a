package dev.puri.client.outbox;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state of an outbox and of its relay, for health checks and metrics.
 *
 * @param leads whether this relay is the one that publishes; the others stand by
 * @param waiting rows that are not published yet, without blocked ones; 10,000 means 10,000 or more
 * @param oldestWaiting when the first waiting row was added; null if there is none
 * @param blockedRows rows that could not be published, and the rows behind them; 10,000 means 10,000 or more
 * @param oldestBlocked when the oldest blocked row was added; null if there is none
 * @param blocked the rows that block their pURIs, the first 100 in the order of the outbox
 * @param problem why nothing is published, or why the relay's feed does not run; null if there is no problem
 */
public record RelayStatus(
        boolean leads,
        long waiting,
        @Nullable Instant oldestWaiting,
        long blockedRows,
        @Nullable Instant oldestBlocked,
        List<BlockedPuri> blocked,
        @Nullable String problem) {
    public RelayStatus {
        blocked = List.copyOf(blocked);
    }

    /**
     * A row that blocks its pURI.
     *
     * @param puri the canonical pURI
     * @param eventId to {@link OutboxRelay#retry} or {@link OutboxRelay#skip}
     * @param seq the row's number in the outbox
     * @param addedAt when the service added it
     * @param attempts number of attempts to publish it
     * @param reason the last error
     */
    public record BlockedPuri(String puri, UUID eventId, long seq, Instant addedAt, int attempts, String reason) {}

    static Instant time(long millis) {
        return Instant.ofEpochMilli(millis);
    }
}
