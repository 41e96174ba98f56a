package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** A change of a row. It caches its encoded event for all subscribers. Used by one thread at a time. */
final class Change {
    private static final String CHANGED = "changed";
    private static final String ERASED = "erased";
    private static final String WITHHELD = "withheld";

    private final int partition;
    private final long offset;
    private final String type;

    /** Null after it was encoded as JSON, and in a withheld change. */
    private @Nullable ChangeContent content;

    private @Nullable String collection;
    private @Nullable String json;
    private @Nullable ChangeId id;
    private @Nullable ServerSentEvent event;

    Change(int partition, long offset, ChangeContent content) {
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
     * @param exists whether the table has an identity with this name and uuid
     */
    boolean isCurrent(BiPredicate<Puri, UUID> exists) {
        Row row = content().row();
        return row == null || exists.test(content().puri(), row.uuid());
    }

    int partition() {
        return partition;
    }

    long offset() {
        return offset;
    }

    /** The collection, as {@code namespace:collection}. */
    String collection() {
        String cached = collection;
        if (cached == null) {
            cached = content().puri().qualifiedCollection();
            collection = cached;
        }
        return cached;
    }

    private String json() {
        String cached = json;
        if (cached == null) {
            collection();
            Row row = content().row();
            cached = row == null
                    ? ChangeJson.erased(content().puri())
                    : ChangeJson.changed(content().puri(), row);
            json = cached;
            content = null;
        }
        return cached;
    }

    private ChangeContent content() {
        return Objects.requireNonNull(content, "withheld, or already encoded");
    }

    /**
     * Returns the id of the event: the position of a subscriber after this change. Most subscribers have the same one.
     */
    ChangeId id(int topicHash, long completeAtSeconds, long[] nextOffsets) {
        ChangeId cached = id;
        if (cached == null || !cached.matches(topicHash, completeAtSeconds, nextOffsets)) {
            cached = ChangeId.of(topicHash, completeAtSeconds, nextOffsets);
            id = cached;
            event = null;
        }
        return cached;
    }

    /** Returns the event with the last {@link #id}; subscribers with the same id share one encoded event. */
    ServerSentEvent event() {
        ServerSentEvent cached = event;
        if (cached == null) {
            cached = ServerSentEvent.of(String.valueOf(id), type, json());
            event = cached;
        }
        return cached;
    }
}
