package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** One change of a row, with what is made of it for all who hear of it. Used by one thread at a time. */
final class Change {
    private static final String CHANGED = "changed";
    private static final String ERASED = "erased";
    private static final String WITHHELD = "withheld";

    private final int partition;
    private final long offset;
    private final String type;

    /** Null once there is JSON of it. */
    private @Nullable Content content;

    private @Nullable String collection;
    private @Nullable String json;
    private @Nullable ChangeId id;
    private @Nullable ServerSentEvent event;

    Change(int partition, long offset, Content content) {
        this.partition = partition;
        this.offset = offset;
        this.content = content;
        this.type = content.isErased() ? ERASED : CHANGED;
    }

    /** A change that is withheld from every subscriber, because its identity was erased later. */
    static Change withheld(int partition, long offset) {
        return new Change(partition, offset);
    }

    private Change(int partition, long offset) {
        this.partition = partition;
        this.offset = offset;
        this.type = WITHHELD;
    }

    boolean isWithheld() {
        return type.equals(WITHHELD);
    }

    /**
     * Whether it tells of an identity that is still there, or of an erasure; to be asked before its event.
     *
     * @param isThere whether the table has an identity of this name and uuid
     */
    boolean isCurrent(BiPredicate<Puri, UUID> isThere) {
        Row row = content().row();
        return row == null || isThere.test(content().puri(), row.uuid());
    }

    int partition() {
        return partition;
    }

    long offset() {
        return offset;
    }

    /** Of what it is, as {@code namespace:collection}. */
    String collection() {
        String known = collection;
        if (known == null) {
            known = content().puri().qualifiedCollection();
            collection = known;
        }
        return known;
    }

    private String json() {
        String known = json;
        if (known == null) {
            collection();
            Row row = content().row();
            known = row == null
                    ? ChangeJson.erased(content().puri())
                    : ChangeJson.changed(content().puri(), row);
            json = known;
            content = null;
        }
        return known;
    }

    private Content content() {
        return Objects.requireNonNull(content, "read already");
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
