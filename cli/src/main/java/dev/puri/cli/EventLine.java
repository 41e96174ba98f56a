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
 * A parsed input line of {@code puri publish}. {@link #complete} fills in the omitted fields and returns an {@link
 * Event}.
 *
 * @param eventId null to mint an event id
 * @param occurredAt null for the time of publishing
 * @param source null for {@value #DEFAULT_SOURCE}
 * @param expectedUuid the uuid that the identity must have; null for any uuid
 * @param expectedEpoch the epoch that the identity must have; null for any epoch
 */
record EventLine(
        @Nullable UUID eventId,
        Puri puri,
        @Nullable Instant occurredAt,
        @Nullable String source,
        @Nullable UUID expectedUuid,
        @Nullable Long expectedEpoch,
        Content content) {
    /** The source of events whose lines contain no source. */
    static final String DEFAULT_SOURCE = "puri-cli";

    /** The change of the identity that the event makes. */
    sealed interface Content {}

    /**
     * A creation. Its uuid and handle may be omitted.
     *
     * @param uuid null to mint a uuid
     */
    record Creation(@Nullable UUID uuid, Owner owner, Shard shard, HandleChoice handle, Map<String, String> attributes)
            implements Content {}

    /** A change that has no omitted fields. */
    record CompleteChange(Change change) implements Content {}

    /** The handle of a creation. */
    sealed interface HandleChoice {}

    /** The line has no field {@code handle}: a handle is minted if the collection has a prefix. */
    record MintedHandle() implements HandleChoice {}

    /** The field {@code handle} is {@code null}: the identity gets no handle. */
    record NoHandle() implements HandleChoice {}

    /** The field {@code handle} contains a handle. */
    record ExplicitHandle(Handle handle) implements HandleChoice {}

    /**
     * Returns the event to publish.
     *
     * @param declared the declarations, for the prefixes of collections
     * @throws IllegalArgumentException if a field exceeds its bounds; the message names the field
     */
    Event complete(IdentityMinter minter, Declarations declared, Instant now) {
        return new Event(
                eventId == null ? minter.uuid() : eventId,
                puri,
                occurredAt == null ? now : occurredAt,
                source == null ? DEFAULT_SOURCE : source,
                expectedUuid,
                expectedEpoch,
                change(minter, declared));
    }

    private Change change(IdentityMinter minter, Declarations declared) {
        return switch (content) {
            case CompleteChange complete -> complete.change();
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
