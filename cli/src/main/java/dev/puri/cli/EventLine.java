package dev.puri.cli;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A parsed line of input. {@link #complete} fills in omitted fields and makes it an {@link Event}.
 *
 * @param eventId null to mint one
 * @param occurredAt null for the time of publishing
 * @param source null for the command's name
 * @param guard the uuid that the row must have; null for any
 * @param expectedEpoch the epoch that the row must have; null for any
 */
record EventLine(
        @Nullable UUID eventId,
        Puri puri,
        @Nullable Instant occurredAt,
        @Nullable String source,
        @Nullable UUID guard,
        @Nullable Long expectedEpoch,
        Content content) {
    /** The source of events whose lines have none. */
    static final String DEFAULT_SOURCE = "puri-cli";

    /** The change of the identity. */
    sealed interface Content {}

    /**
     * A creation, whose ids may be minted.
     *
     * @param uuid null to mint one
     */
    record Creation(@Nullable UUID uuid, Owner owner, Shard shard, HandleChoice handle, Map<String, String> attributes)
            implements Content {}

    /** A change without fields to fill in. */
    record Complete(Change change) implements Content {}

    /** The handle of a creation. */
    sealed interface HandleChoice {}

    /** The field is absent: a handle is minted if the collection has a prefix. */
    record MintedHandle() implements HandleChoice {}

    /** The field is {@code null}: no handle. */
    record NoHandle() implements HandleChoice {}

    /** The field is a handle. */
    record ExplicitHandle(Handle handle) implements HandleChoice {}

    /**
     * Returns the event to publish.
     *
     * @param declared the declarations, for the prefixes of collections
     * @throws IllegalArgumentException if a field exceeds its bounds; the message names it
     */
    Event complete(IdentityMinter minter, Declarations declared, Instant now) {
        return new Event(
                eventId == null ? minter.uuid() : eventId,
                puri,
                occurredAt == null ? now : occurredAt,
                source == null ? DEFAULT_SOURCE : source,
                guard,
                expectedEpoch,
                change(minter, declared));
    }

    private Change change(IdentityMinter minter, Declarations declared) {
        return switch (content) {
            case Complete complete -> complete.change();
            case Creation creation ->
                new Change.Created(
                        creation.uuid() == null ? minter.uuid() : creation.uuid(),
                        creation.owner(),
                        creation.shard(),
                        handle(creation.handle(), minter, declared),
                        creation.attributes());
        };
    }

    private @Nullable Handle handle(HandleChoice choice, IdentityMinter minter, Declarations declared) {
        return switch (choice) {
            case NoHandle none -> null;
            case ExplicitHandle explicit -> explicit.handle();
            case MintedHandle minted -> {
                Prefix prefix = prefix(declared);
                yield prefix == null ? null : minter.handle(prefix);
            }
        };
    }

    private @Nullable Prefix prefix(Declarations declared) {
        Collection collection = declared.collectionOf(puri);
        return collection == null ? null : collection.prefix();
    }
}
