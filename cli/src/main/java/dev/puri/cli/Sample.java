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
 * A small world to ask about: four collections over three shards, in two parts. First everything is
 * created; then things happen to some of it, and some services ask for what they cannot have. The parts
 * are published one after the other, because only within one pURI is there an order.
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

    /** The texts of some, told one from another by what is found in them; the others have but a title. */
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
    private final Map<Event, String> happenings = new LinkedHashMap<>();

    /** The collections of the sample, with how many identities each gets. */
    private enum Kind {
        TRACKS("trk", "catalog", "Songs, as uploaded", 160),
        USERS("usr", "accounts", "People and bands", 60),
        PLAYLISTS("pls", "library", "Lists of tracks", 40),
        COMMENTS("cmt", "social", "What people say of tracks", 100);

        final Prefix prefix;
        final Owner owner;
        final String description;
        final int count;

        Kind(String prefix, String owner, String description, int count) {
            this.prefix = new Prefix(prefix);
            this.owner = new Owner(owner);
            this.description = description;
            this.count = count;
        }

        String collection() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    Sample() {
        for (Kind kind : Kind.values()) {
            for (int i = 1; i <= kind.count; i++) {
                create(kind, puri(kind.collection(), Integer.toString(i)), SHARDS.get(i % SHARDS.size()), i);
            }
        }
        create(Kind.USERS, SURVIVOR, BRAZIL, 3);
        create(Kind.USERS, MERGED, EUROPE, 4);
        addHappenings();
    }

    /** What {@code puri collections apply} would be given. */
    static List<Declaration> collections() {
        List<Declaration> declarations = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            declarations.add(new Collection(
                    NAMESPACE,
                    kind.collection(),
                    kind.prefix,
                    Set.of(kind.owner),
                    true,
                    kind != Kind.USERS,
                    kind.description,
                    false));
        }
        return declarations;
    }

    /** The first part: every identity is created; all of it is to be applied. */
    List<Event> creations() {
        return List.copyOf(creations);
    }

    /** The second part, with what is to become of each event: {@code applied}, {@code unchanged} or a reason. */
    Map<Event, String> happenings() {
        return Collections.unmodifiableMap(happenings);
    }

    private void addHappenings() {
        happenings.put(event(MOVED, new Change.Moved(null, EUROPE)), "applied");
        happenings.put(event(MERGED, new Change.Merged(SURVIVOR)), "applied");
        happenings.put(event(DELETED, new Change.Deleted()), "applied");
        // A service that did not hear back publishes once more what it published.
        happenings.put(creations.getFirst(), "unchanged");
        Prefix tracks = Kind.TRACKS.prefix;
        Owner owner = Kind.TRACKS.owner;
        happenings.put(created(CLAIMED_TWICE, owner, EUROPE, minter.handle(tracks)), "PURI_TAKEN");
        happenings.put(created(puri("tracks", "501"), owner, EUROPE, handle(TRACK)), "HANDLE_TAKEN");
        // It takes the track for one that has moved six times already.
        happenings.put(event(TRACK, 7L, new Change.Moved(null, AMERICA)), "STALE_EPOCH");
        happenings.put(event(DELETED, new Change.Described(Map.of("title", "Encore"))), "DELETED");
    }

    /** The handle of an identity of the first part. */
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

    private void create(Kind kind, Puri puri, Shard shard, int number) {
        Handle handle = minter.handle(kind.prefix);
        handles.put(puri, handle);
        String title = ADJECTIVES.get(number % ADJECTIVES.size()) + " " + NOUNS.get(number / 10 % NOUNS.size());
        Map<String, String> text = TEXTS.getOrDefault(puri, Map.of("title", title));
        creations.add(event(puri, new Change.Created(minter.uuid(), kind.owner, shard, handle, text)));
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
