package dev.puri.cli.verify;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Repairs rows of {@code puri.identities.v1}. The registrar writes one record to this topic for each event of a pURI,
 * also for a refused one: the row that it has, or a tombstone if it has none. So an event that is always refused makes
 * it write its row again.
 *
 * <p>The event is {@code Moved} with two guards that no row satisfies: a uuid that was minted for this event, and epoch
 * 0, although epochs begin at 1. The registrar refuses it as {@code UNKNOWN_PURI} if it has no row, else as {@code
 * OTHER_INCARNATION}, whatever the status of the row and the mode of its collection. So no event of a service can come
 * between the decision to repair and the repair.
 */
public final class Repairs {
    /** The source of the events. */
    public static final String SOURCE = "puri-verify";

    /** So many rows of a partition may be deleted, however few rows it has. */
    private static final int MAX_UNKNOWN_ROWS = 10;

    private static final Shard ANY_SHARD = new Shard("none");

    private final IdentityMinter minter = new IdentityMinter();

    /** Creates the event that makes the registrar write the row of a pURI again. */
    public Event event(Puri puri, Instant now) {
        return new Event(minter.uuid(), puri, now, SOURCE, minter.uuid(), 0L, new Change.Moved(null, ANY_SHARD));
    }

    /**
     * Returns why nothing must be repaired, because the registrar seems to have lost registrations; null if it has not.
     * It would write a tombstone for each row that it does not know.
     */
    public static @Nullable String objection(VerifyFolder folder) throws IOException {
        Map<Integer, Long> unknownRows = new TreeMap<>();
        folder.forEachDifference(difference -> {
            Integer partition = difference.partition();
            if (partition != null
                    && difference.part().equals(Registry.REGISTRAR)
                    && difference.copy().equals(Topics.IDENTITIES)
                    && difference.kind() == Difference.Kind.EXTRA) {
                unknownRows.merge(partition, 1L, Long::sum);
            }
        });
        VerifyFolder.State state = folder.readState();
        for (Map.Entry<Integer, Long> unknown : unknownRows.entrySet()) {
            String check = Registry.REGISTRAR + ' ' + Topics.IDENTITIES + '-' + unknown.getKey();
            long known = state == null
                    ? 0
                    : state.checks().stream()
                            .filter(each -> each.name().equals(check))
                            .mapToLong(VerifyFolder.Completed::expectedRows)
                            .sum();
            if (unknown.getValue() > MAX_UNKNOWN_ROWS && unknown.getValue() > known / 10) {
                return "the registrar does not know " + unknown.getValue() + " rows of " + Topics.IDENTITIES + "-"
                        + unknown.getKey() + " and knows only " + known + ", so its state is probably lost; a repair"
                        + " would delete these rows";
            }
        }
        return null;
    }

    /** Returns why an event cannot repair a difference; null if it can. */
    public static @Nullable String obstacle(Difference difference) {
        if (!difference.part().equals(Registry.REGISTRAR)) {
            return difference.part().equals("index")
                    ? "rebuild the index: puri rebuild index"
                    : "rebuild the table: puri rebuild table";
        }
        if (difference.copy().equals(Topics.DOCUMENTS)) {
            return "only an event that changes the document writes it again: publish described with its attributes";
        }
        if (!difference.copy().equals(Topics.IDENTITIES)) {
            return "the registrar's state differs from the event log; it is not changed";
        }
        String puri = difference.puri();
        if (puri == null) {
            return "the pURI is not known; any event of it repairs it";
        }
        try {
            return Puri.parse(puri).toString().equals(puri) ? null : "no event can have this key";
        } catch (IllegalArgumentException e) {
            return "no event can have this key";
        }
    }
}
