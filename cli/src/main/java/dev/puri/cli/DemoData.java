package dev.puri.cli;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The demo's sample data: four collections in three shards. The first batch of events creates all identities. The
 * second batch changes some identities, and contains events that the registry must refuse. The second batch is
 * published after all outcomes of the first: some of its events depend on other pURIs (a survivor, a taken handle), and
 * events of different pURIs have no order.
 */
final class DemoData {
    static final Shard BRAZIL = new Shard("br-1");
    static final Shard AMERICA = new Shard("us-1");
    static final Shard EUROPE = new Shard("eu-1");

    static final Puri TRACK = puri("tracks", "123");
    static final Puri MOVED = puri("tracks", "78");
    static final Puri CLAIMED_TWICE = puri("tracks", "42");
    static final Puri MERGED = puri("users", "dj-ana");
    static final Puri SURVIVOR = puri("users", "ana.souza");
    static final Puri DELETED = puri("playlists", "9");
    static final Puri COMMENT = puri("comments", "7");
    static final Puri PLAYLIST = puri("playlists", "4");

    private static final String NAMESPACE = "soundcloud";
    private static final List<Shard> SHARDS = List.of(BRAZIL, AMERICA, EUROPE);

    private static final List<String> ADJECTIVES =
            List.of("Blue", "Late", "Quiet", "Electric", "Northern", "Broken", "Golden", "Salt", "Paper", "Slow");
    private static final List<String> NOUNS =
            List.of("Samba", "Harbour", "Signal", "Garden", "Engine", "Tide", "Mirror", "Avenue", "Winter", "Radio");

    /** The attributes of the identities that the demo searches for. All other identities have only a title. */
    private static final Map<Puri, Map<String, String>> SEARCHED_ATTRIBUTES = Map.of(
            TRACK, Map.of("title", "Noite de São João", "artist", "Ana Souza"),
            MOVED, Map.of("title", "Maré Alta", "artist", "Ana Souza"),
            SURVIVOR, Map.of("name", "Ana Souza", "city", "São Luís"),
            MERGED, Map.of("name", "DJ Ana Souza"),
            PLAYLIST, Map.of("title", "Ana Souza ao vivo"),
            COMMENT, Map.of("text", "Ana Souza at her best: nobody sings Noite de São João like her"));

    private final IdentityMinter minter = new IdentityMinter();
    private final List<Event> creations = new ArrayList<>();
    private final Map<Puri, Handle> handles = new HashMap<>();
    private final Map<Event, String> changes = new LinkedHashMap<>();

    /** The collections of the sample. */
    private enum SampleCollection {
        TRACKS("trk", "catalog", "Songs, as uploaded", 160),
        USERS("usr", "accounts", "People and bands", 60),
        PLAYLISTS("pls", "library", "Lists of tracks", 40),
        COMMENTS("cmt", "social", "Comments on tracks", 100);

        final Prefix prefix;
        final Owner owner;
        final String description;
        final int identityCount;

        SampleCollection(String prefix, String owner, String description, int identityCount) {
            this.prefix = new Prefix(prefix);
            this.owner = new Owner(owner);
            this.description = description;
            this.identityCount = identityCount;
        }

        String collectionName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    DemoData() {
        for (SampleCollection collection : SampleCollection.values()) {
            for (int i = 1; i <= collection.identityCount; i++) {
                addCreation(
                        collection,
                        puri(collection.collectionName(), Integer.toString(i)),
                        SHARDS.get(i % SHARDS.size()),
                        i);
            }
        }
        addCreation(SampleCollection.USERS, SURVIVOR, BRAZIL, 3);
        addCreation(SampleCollection.USERS, MERGED, EUROPE, 4);
        addChanges();
    }

    /** Returns the declarations of the collections. */
    static List<Declaration> collections() {
        List<Declaration> declarations = new ArrayList<>();
        for (SampleCollection collection : SampleCollection.values()) {
            declarations.add(new Collection(
                    NAMESPACE,
                    collection.collectionName(),
                    collection.prefix,
                    Set.of(collection.owner),
                    true,
                    collection != SampleCollection.USERS,
                    collection.description,
                    false));
        }
        return declarations;
    }

    /** Returns the first batch, which creates all identities. All its events must be applied. */
    List<Event> firstBatch() {
        return List.copyOf(creations);
    }

    /**
     * Returns the second batch with the expected outcome of each event: {@code applied}, {@code unchanged} or the
     * reason of the refusal.
     */
    Map<Event, String> secondBatch() {
        return Collections.unmodifiableMap(changes);
    }

    private void addChanges() {
        changes.put(event(MOVED, new Change.Moved(null, EUROPE)), "applied");
        changes.put(event(MERGED, new Change.Merged(SURVIVOR)), "applied");
        changes.put(event(DELETED, new Change.Deleted()), "applied");
        // A service that received no acknowledgement publishes the same event again.
        changes.put(creations.getFirst(), "unchanged");
        Prefix tracks = SampleCollection.TRACKS.prefix;
        Owner owner = SampleCollection.TRACKS.owner;
        changes.put(created(CLAIMED_TWICE, owner, EUROPE, minter.handle(tracks)), "PURI_TAKEN");
        changes.put(created(puri("tracks", "501"), owner, EUROPE, handle(TRACK)), "HANDLE_TAKEN");
        // This event expects epoch 7, but the track has epoch 1.
        changes.put(event(TRACK, 7L, new Change.Moved(null, AMERICA)), "STALE_EPOCH");
        changes.put(event(DELETED, new Change.Described(Map.of("title", "Encore"))), "DELETED");
    }

    /** Returns the handle of an identity of the first batch. */
    Handle handle(Puri puri) {
        Handle handle = handles.get(puri);
        if (handle == null) {
            throw new IllegalArgumentException("the sample does not create " + puri);
        }
        return handle;
    }

    static int shardCount() {
        return SHARDS.size();
    }

    /** Adds an event that creates an identity; the number determines its title. */
    private void addCreation(SampleCollection collection, Puri puri, Shard shard, int number) {
        Handle handle = minter.handle(collection.prefix);
        handles.put(puri, handle);
        String title = ADJECTIVES.get(number % ADJECTIVES.size()) + " " + NOUNS.get(number / 10 % NOUNS.size());
        Map<String, String> attributes = SEARCHED_ATTRIBUTES.getOrDefault(puri, Map.of("title", title));
        creations.add(event(puri, new Change.Created(minter.uuid(), collection.owner, shard, handle, attributes)));
    }

    private Event created(Puri puri, Owner owner, Shard shard, Handle handle) {
        return event(puri, new Change.Created(minter.uuid(), owner, shard, handle, Map.of()));
    }

    private Event event(Puri puri, Change change) {
        return event(puri, null, change);
    }

    private Event event(Puri puri, @Nullable Long expectedEpoch, Change change) {
        return new Event(minter.uuid(), puri, Instant.now(), "puri-demo", null, expectedEpoch, change);
    }

    private static Puri puri(String collection, String identifier) {
        return Puri.of(NAMESPACE, collection, identifier);
    }
}
