package dev.puri.cli.verify;

import dev.puri.client.IdentityMinter;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
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
    /** The source of the events of {@code puri verify}. */
    public static final String SOURCE = "puri-verify";

    /** A repair may delete so many rows. More of them are hardly the work of a foreign producer. */
    private static final int MAX_UNKNOWN_ROWS = 10;

    private static final Shard ANY_SHARD = new Shard("none");

    private final String source;
    private final IdentityMinter minter = new IdentityMinter();

    /**
     * @param source the source of the events
     */
    public Repairs(String source) {
        this.source = source;
    }

    /** Creates the event that makes the registrar write the row of a pURI again. */
    public Event event(Puri puri, Instant now) {
        return new Event(minter.uuid(), puri, now, source, minter.uuid(), 0L, new Change.Moved(null, ANY_SHARD));
    }

    /**
     * Returns why nothing must be repaired, because the registrar seems to have lost registrations or changes of them;
     * null if it has not. It would write a tombstone for each row that it does not know, and its old row over each
     * newer one, and over the tombstone of each identity that was erased since.
     */
    public static @Nullable String objection(VerifyFolder folder, RegistryReader registry) throws IOException {
        int partitions = registry.partitions();
        String objection = objection(folder, partitions);
        return objection != null
                ? objection
                : objectionToLosses(new UnknownRows(registry).losses(unknownRows(folder, partitions)));
    }

    /**
     * Returns the objection that follows from the differences.
     *
     * @param partitions number of partitions of the topic
     */
    static @Nullable String objection(VerifyFolder folder, int partitions) throws IOException {
        long[] unknownRows = {0};
        long[] newerRows = {0};
        folder.forEachDifference(difference -> {
            if (isOfRows(difference)) {
                unknownRows[0] += isDeletion(difference) && obstacle(difference, partitions) == null ? 1 : 0;
                newerRows[0] += isNewer(difference) ? 1 : 0;
            }
        });
        if (unknownRows[0] > MAX_UNKNOWN_ROWS) {
            return "the registrar does not know " + unknownRows[0] + " rows of " + Topics.IDENTITIES
                    + ", so its state is probably lost; a repair would delete these rows";
        }
        if (newerRows[0] > 0) {
            return Topics.IDENTITIES + " has newer rows or tombstones of " + newerRows[0] + " pURIs than the"
                    + " registrar, so the registrar's state is probably old; a repair would overwrite them";
        }
        return null;
    }

    /** Returns the pURIs of the rows that a repair would delete, at most {@value #MAX_UNKNOWN_ROWS}. */
    private static List<Puri> unknownRows(VerifyFolder folder, int partitions) throws IOException {
        List<Puri> puris = new ArrayList<>();
        folder.forEachDifference(difference -> {
            if (isDeletion(difference) && obstacle(difference, partitions) == null) {
                puris.add(Puri.parse(String.valueOf(difference.puri())));
            }
        });
        return puris;
    }

    private static @Nullable String objectionToLosses(Map<Puri, String> losses) {
        if (losses.isEmpty()) {
            return null;
        }
        List<String> rows = new ArrayList<>();
        losses.forEach((puri, why) -> rows.add(puri + " (" + why + ")"));
        return "the registrar has probably lost registrations, and a repair would delete their rows: "
                + String.join(", ", rows)
                + ". To register such a row again, publish created with its values, or follow docs/disasters.md,"
                + " \"Changelogs lost\". If it is not a row of the registry, publish any other event of the pURI, and the"
                + " registrar deletes it";
    }

    private static boolean isOfRows(Difference difference) {
        return difference.part().equals(RegistryReader.REGISTRAR)
                && difference.copy().equals(Topics.IDENTITIES);
    }

    /** Whether the registrar does not have the row of a difference, so that a repair would delete it. */
    public static boolean isDeletion(Difference difference) {
        return isOfRows(difference) && difference.kind() == Difference.Kind.EXTRA;
    }

    /** Whether the topic has a newer row or tombstone than the registrar. */
    private static boolean isNewer(Difference difference) {
        return isGreater(difference, "epoch", (expected, found) -> Long.parseLong(found) > Long.parseLong(expected))
                || isGreater(
                        difference,
                        RowFields.POSITION,
                        (expected, found) -> isLaterEvent(difference, Position.parse(expected), Position.parse(found)));
    }

    /**
     * Whether the row or tombstone of the topic has a later event than the registrar. Events of different topics have
     * no order, so the times of the rows decide. A tombstone has no time, but only the registrar writes one that names
     * an event, so it counts as later.
     */
    private static boolean isLaterEvent(Difference difference, Position expected, Position found) {
        if (found.topic().equals(expected.topic())) {
            return UnknownRows.isLater(expected, found);
        }
        return difference.kind() == Difference.Kind.MISSING
                || isGreater(
                        difference,
                        RowFields.CHANGED_AT,
                        (ofRegistrar, ofTopic) -> Instant.parse(ofTopic).isAfter(Instant.parse(ofRegistrar)));
    }

    private static boolean isGreater(Difference difference, String name, BiPredicate<String, String> order) {
        Difference.Field field = difference.fields().get(name);
        String expected = field == null ? null : field.expected();
        String found = field == null ? null : field.found();
        return expected != null && found != null && order.test(expected, found);
    }

    /**
     * Returns why an event cannot repair a difference; null if it can.
     *
     * @param partitions number of partitions of the topic
     */
    public static @Nullable String obstacle(Difference difference, int partitions) {
        if (!difference.part().equals(RegistryReader.REGISTRAR)) {
            return difference.part().equals("index")
                    ? "rebuild the index: puri rebuild index"
                    : "rebuild the table: puri rebuild table";
        }
        boolean isDocument = difference.copy().equals(Topics.DOCUMENTS);
        if (!isDocument && !difference.copy().equals(Topics.IDENTITIES)) {
            return "the registrar's state differs from the event log; it is not changed";
        }
        if (difference.puri() == null) {
            return "the pURI is not known; any event of it repairs it";
        }
        Puri puri = canonical(difference.puri());
        if (puri == null) {
            return "no event can have this key";
        }
        int partition = Tokens.partition(puri, partitions);
        if (difference.partition() != null && difference.partition() != partition) {
            return "another producer wrote this record: the registrar writes the pURI to partition " + partition
                    + ". A tombstone in partition " + difference.partition()
                    + " deletes it, see docs/operations.md, \"Verify and repair\"";
        }
        return isDocument
                ? "only an event that changes the document writes it again: publish described with its attributes"
                : null;
    }

    private static @Nullable Puri canonical(String text) {
        try {
            Puri puri = Puri.parse(text);
            return puri.toString().equals(text) ? puri : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
