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
 * An event as a line of input says it, before what it leaves out is filled in.
 *
 * @param eventId null mints one
 * @param occurredAt null takes the time of publishing
 * @param source null takes the command's name
 * @param guard the uuid that the row must have; null takes whatever is there
 * @param expectedEpoch the epoch that the row must have; null takes whatever is there
 */
record EventLine(
        @Nullable UUID eventId,
        Puri puri,
        @Nullable Instant occurredAt,
        @Nullable String source,
        @Nullable UUID guard,
        @Nullable Long expectedEpoch,
        What what) {
    /** Who says so, when the line does not. */
    static final String DEFAULT_SOURCE = "puri-cli";

    /** What the line says of its identity. */
    sealed interface What {}

    /**
     * A creation, some of whose ids may be left to us.
     *
     * @param uuid null mints one
     */
    record Creation(@Nullable UUID uuid, Owner owner, Shard shard, HandleWish handle, Map<String, String> attributes)
            implements What {}

    /** A change that is complete as it stands. */
    record Complete(Change change) implements What {}

    /** What a creation says of its handle. */
    sealed interface HandleWish {}

    /** Nothing: one is minted where the collection has a prefix. */
    record MintedHandle() implements HandleWish {}

    /** {@code null}: it shall have none. */
    record NoHandle() implements HandleWish {}

    /** This one. */
    record GivenHandle(Handle handle) implements HandleWish {}

    /**
     * The event to publish.
     *
     * @param declared tells which collections have a prefix
     * @throws IllegalArgumentException when a part is out of its bounds; the message names it
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
        return switch (what) {
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

    private @Nullable Handle handle(HandleWish wish, IdentityMinter minter, Declarations declared) {
        return switch (wish) {
            case NoHandle none -> null;
            case GivenHandle given -> given.handle();
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
