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
 * The demo's sample data: four collections over three shards. The first batch creates all identities. The second batch
 * changes some of them and contains requests that the registry must refuse. The batches are published one after the
 * other, because events are ordered only within a pURI.
 */
final class Sample {
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

    /** The attributes of identities that the demo searches for; the others have only a title. */
    private static final Map<Puri, Map<String, String>> TEXTS = Map.of(
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

    /** The collections of the sample, with their number of identities. */
    private enum SampleCollection {
        TRACKS("trk", "catalog", "Songs, as uploaded", 160),
        USERS("usr", "accounts", "People and bands", 60),
        PLAYLISTS("pls", "library", "Lists of tracks", 40),
        COMMENTS("cmt", "social", "What people say of tracks", 100);

        final Prefix prefix;
        final Owner owner;
        final String description;
        final int count;

        SampleCollection(String prefix, String owner, String description, int count) {
            this.prefix = new Prefix(prefix);
            this.owner = new Owner(owner);
            this.description = description;
            this.count = count;
        }

        String collectionName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    Sample() {
        for (SampleCollection collection : SampleCollection.values()) {
            for (int i = 1; i <= collection.count; i++) {
                create(
                        collection,
                        puri(collection.collectionName(), Integer.toString(i)),
                        SHARDS.get(i % SHARDS.size()),
                        i);
            }
        }
        create(SampleCollection.USERS, SURVIVOR, BRAZIL, 3);
        create(SampleCollection.USERS, MERGED, EUROPE, 4);
        addChanges();
    }

    /** The declarations, as for {@code puri collections apply}. */
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

    /** The first batch: creates every identity; all events must be applied. */
    List<Event> creations() {
        return List.copyOf(creations);
    }

    /** The second batch, with the expected outcome of each event: {@code applied}, {@code unchanged} or a reason. */
    Map<Event, String> changes() {
        return Collections.unmodifiableMap(changes);
    }

    private void addChanges() {
        changes.put(event(MOVED, new Change.Moved(null, EUROPE)), "applied");
        changes.put(event(MERGED, new Change.Merged(SURVIVOR)), "applied");
        changes.put(event(DELETED, new Change.Deleted()), "applied");
        // A service that got no acknowledgement publishes the same event again.
        changes.put(creations.getFirst(), "unchanged");
        Prefix tracks = SampleCollection.TRACKS.prefix;
        Owner owner = SampleCollection.TRACKS.owner;
        changes.put(created(CLAIMED_TWICE, owner, EUROPE, minter.handle(tracks)), "PURI_TAKEN");
        changes.put(created(puri("tracks", "501"), owner, EUROPE, handle(TRACK)), "HANDLE_TAKEN");
        // Expects an epoch that the track would have after six moves.
        changes.put(event(TRACK, 7L, new Change.Moved(null, AMERICA)), "STALE_EPOCH");
        changes.put(event(DELETED, new Change.Described(Map.of("title", "Encore"))), "DELETED");
    }

    /** Returns the handle of an identity of the first batch. */
    Handle handle(Puri puri) {
        Handle handle = handles.get(puri);
        if (handle == null) {
            throw new IllegalArgumentException("the sample creates no " + puri);
        }
        return handle;
    }

    static int shards() {
        return SHARDS.size();
    }

    private void create(SampleCollection collection, Puri puri, Shard shard, int number) {
        Handle handle = minter.handle(collection.prefix);
        handles.put(puri, handle);
        String title = ADJECTIVES.get(number % ADJECTIVES.size()) + " " + NOUNS.get(number / 10 % NOUNS.size());
        Map<String, String> text = TEXTS.getOrDefault(puri, Map.of("title", title));
        creations.add(event(puri, new Change.Created(minter.uuid(), collection.owner, shard, handle, text)));
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
