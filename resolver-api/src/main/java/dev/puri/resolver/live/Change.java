package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** A change of a row, with its encoded event, which all subscribers share. Used by one thread at a time. */
final class Change {
    private static final String CHANGED = "changed";
    private static final String ERASED = "erased";
    private static final String WITHHELD = "withheld";

    private final int partition;
    private final long offset;
    private final String type;

    /** Null after it was encoded. */
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
     * Whether the identity still exists, or the change is an erasure. Must be called before {@link #event}.
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

    /** The collection, as {@code namespace:collection}. */
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

    /** Returns the id of a subscriber after this change, usually the same for all. */
    ChangeId id(int topic, long seconds, long[] next) {
        ChangeId known = id;
        if (known == null || !known.isOf(topic, seconds, next)) {
            known = ChangeId.of(topic, seconds, next);
            id = known;
            event = null;
        }
        return known;
    }

    /** Returns the event with this id; encoded once for all subscribers with the same id. */
    ServerSentEvent event() {
        ServerSentEvent known = event;
        if (known == null) {
            known = ServerSentEvent.of(String.valueOf(id), type, json());
            event = known;
        }
        return known;
    }
}
