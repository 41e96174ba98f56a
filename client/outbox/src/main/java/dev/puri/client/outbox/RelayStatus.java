package dev.puri.client.outbox;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The state of an outbox and of its relay, for health checks and metrics.
 *
 * @param leads whether this relay is the leader, which publishes; other relays are on standby
 * @param waiting number of rows that are not published yet, without the blocked rows. Counted up to 10,000
 * @param oldestWaiting time at which the first waiting row was added; null if no row waits
 * @param blockedRows number of rows that could not be published, and of later rows of the same pURIs. Counted up to
 *     10,000
 * @param oldestBlocked time at which the first blocked row was added; null if no row is blocked
 * @param blocked the failed rows, which block their pURIs; the first 100 in the order of the outbox
 * @param problem why the relay cannot publish, or why its {@link Feed} has failed; null if there is no problem
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
     * A row that could not be published and blocks the later rows of its pURI.
     *
     * @param puri the canonical pURI
     * @param eventId argument for {@link OutboxRelay#retry} and {@link OutboxRelay#skip}
     * @param seq number of the row in the outbox
     * @param addedAt time at which the service added the row
     * @param attempts number of attempts to publish the row
     * @param reason the last error
     */
    public record BlockedPuri(String puri, UUID eventId, long seq, Instant addedAt, int attempts, String reason) {}
}
