package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/** An identity and its attributes, from which tests make rows and documents. */
public record Item(
        Puri puri,
        UUID uuid,
        Owner owner,
        Shard shard,
        Handle handle,
        Row.Status status,
        Puri mergedInto,
        Map<String, String> attributes) {
    private static final long EPOCH_MILLIS = 1_760_000_000_000L;

    /** Returns an active identity on shard br-1 with attributes: name, text, name, text and so on. */
    public static Item of(String puri, String... attributes) {
        Map<String, String> byName = new LinkedHashMap<>();
        for (int i = 0; i < attributes.length; i += 2) {
            byName.put(attributes[i], attributes[i + 1]);
        }
        return new Item(
                Puri.parse(puri),
                uuid(0, puri.hashCode()),
                new Owner("catalog"),
                new Shard("br-1"),
                null,
                Row.Status.ACTIVE,
                null,
                byName);
    }

    /** Returns a UUIDv7 some milliseconds after a fixed time. */
    public static UUID uuid(long millis, long low) {
        return new UUID(EPOCH_MILLIS + millis << 16 | 0x7000, low & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L);
    }

    public Item createdAt(long millis) {
        return new Item(puri, uuid(millis, puri.hashCode()), owner, shard, handle, status, mergedInto, attributes);
    }

    public Item withUuid(UUID other) {
        return new Item(puri, other, owner, shard, handle, status, mergedInto, attributes);
    }

    public Item on(String otherShard) {
        return new Item(puri, uuid, owner, new Shard(otherShard), handle, status, mergedInto, attributes);
    }

    public Item ownedBy(String other) {
        return new Item(puri, uuid, new Owner(other), shard, handle, status, mergedInto, attributes);
    }

    public Item withHandle(String other) {
        return new Item(puri, uuid, owner, shard, Handle.parse(other), status, mergedInto, attributes);
    }

    public Item merged(String into) {
        return new Item(puri, uuid, owner, shard, handle, Row.Status.MERGED, Puri.parse(into), attributes);
    }

    public Item deleted() {
        return new Item(puri, uuid, owner, shard, handle, Row.Status.DELETED, null, attributes);
    }

    Row row(long offset) {
        return new Row(
                uuid,
                owner,
                shard,
                handle,
                status,
                1 + offset,
                Instant.ofEpochMilli(EPOCH_MILLIS - offset),
                Instant.ofEpochMilli(EPOCH_MILLIS + offset),
                mergedInto,
                new Position(offset % 4 == 0 ? Topics.EVENTS : Topics.eventsTopicOf("music"), 3, offset));
    }

    Document document(long offset) {
        return new Document(
                owner, shard, handle, status, mergedInto, attributes, new Position(Topics.EVENTS, 3, offset));
    }
}
