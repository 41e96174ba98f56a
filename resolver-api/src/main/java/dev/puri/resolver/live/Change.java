package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import org.jspecify.annotations.Nullable;

/** One change of a row, with what is made of it for all who hear of it. Used by one thread at a time. */
final class Change {
    static final String CHANGED = "changed";
    static final String ERASED = "erased";

    /** What the registry keeps for itself: it has written there so that the log is cleaned, and changed nothing. */
    private static final String RESERVED = "puri:marker:";

    private final int partition;
    private final long offset;
    private final Puri puri;
    private final String type;

    /** Null when there is no row any more, and once there is JSON of it. */
    private @Nullable Row row;

    private @Nullable String collection;
    private @Nullable String json;
    private @Nullable ChangeId id;
    private @Nullable ServerSentEvent event;

    Change(int partition, long offset, Puri puri, @Nullable Row row) {
        this.partition = partition;
        this.offset = offset;
        this.puri = puri;
        this.row = row;
        this.type = row == null ? ERASED : CHANGED;
    }

    static boolean isReserved(Puri puri) {
        return puri.toString().startsWith(RESERVED);
    }

    int partition() {
        return partition;
    }

    long offset() {
        return offset;
    }

    Puri puri() {
        return puri;
    }

    String collection() {
        String known = collection;
        if (known == null) {
            known = puri.qualifiedCollection();
            collection = known;
        }
        return known;
    }

    private String json() {
        String known = json;
        if (known == null) {
            Row written = row;
            known = written == null ? ChangeJson.erased(puri) : ChangeJson.changed(puri, written);
            json = known;
            row = null;
        }
        return known;
    }

    /** The id of one who has been told just so far: as a rule the same for all who hear of it. */
    ChangeId id(int topic, long seconds, long[] next) {
        ChangeId known = id;
        if (known == null || !known.isOf(topic, seconds, next)) {
            known = ChangeId.of(topic, seconds, next);
            id = known;
            event = null;
        }
        return known;
    }

    /** The event with the id that was last asked for; encoded once for all who are told just that. */
    ServerSentEvent event() {
        ServerSentEvent known = event;
        if (known == null) {
            known = ServerSentEvent.of(String.valueOf(id), type, json());
            event = known;
        }
        return known;
    }
}
