package dev.puri.registry;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Topics;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Random events over few names, so that they conflict with each other, and the declarations for them. */
final class RandomEvents {
    /** The source of most events; the other source is {@code stranger}. */
    static final String SOURCE = "simulation";

    static final String MUSIC_TOPIC = Topics.eventsTopicOf("music");

    static final List<Declaration> DECLARED = List.of(
            new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), true, false, "", false),
            new Collection(
                    "soundcloud",
                    "users",
                    new Prefix("usr"),
                    Set.of(new Owner("accounts"), new Owner("catalog")),
                    false,
                    false,
                    "",
                    false),
            new Collection("music", "albums", new Prefix("alb"), Set.of(), true, false, "", false),
            new Namespace("music", true));

    private final Random random;
    private final List<Puri> puris = new ArrayList<>();
    private int uuids;

    /**
     * @param names of each collection
     */
    RandomEvents(Random random, int names) {
        this.random = random;
        for (int i = 0; i < names; i++) {
            puris.add(Puri.of("soundcloud", "tracks", "t" + i));
            puris.add(Puri.of("soundcloud", "users", "u" + i));
            puris.add(Puri.of("music", "albums", "a" + i));
            puris.add(Puri.of("wild", "things", "w" + i));
        }
    }

    /** Returns the events topic of a pURI. */
    static String rightfulTopic(Puri puri) {
        return puri.namespace().equals("music") ? MUSIC_TOPIC : Topics.EVENTS;
    }

    /** Whether a collection is declared as searchable. */
    static boolean isSearched(Puri puri) {
        return puri.collection().equals("tracks") || puri.collection().equals("albums");
    }

    /** Converts the declarations to those of the model. */
    static Model.Rules rules() {
        return new Model.Rules() {
            @Override
            public boolean mayClaim(Puri puri, String owner) {
                return !puri.collection().equals("users") || !owner.equals("thief");
            }

            @Override
            public @Nullable String prefixOf(Puri puri) {
                return switch (puri.collection()) {
                    case "tracks" -> "trk";
                    case "users" -> "usr";
                    case "albums" -> "alb";
                    default -> null;
                };
            }
        };
    }

    Event next() {
        Puri puri = anyPuri();
        return new Event(
                uuid(),
                puri,
                Instant.ofEpochMilli(1_700_000_000_000L + random.nextInt(1_000_000)),
                random.nextInt(8) == 0 ? "stranger" : SOURCE,
                random.nextInt(8) == 0 ? smallUuid(puri) : null,
                random.nextInt(8) == 0 ? (long) random.nextInt(4) : null,
                newChange(puri));
    }

    Puri anyPuri() {
        return puris.get(random.nextInt(puris.size()));
    }

    UUID uuid() {
        return new UUID(0x0198_0000_0000_7000L, 0x8000_0000_0000_0000L | uuids++);
    }

    private Change newChange(Puri puri) {
        int dice = random.nextInt(100);
        if (dice < 45) {
            return new Change.Created(smallUuid(puri), owner(), shard(), handle(), text("created"));
        }
        if (dice < 60) {
            return new Change.Moved(random.nextBoolean() ? null : owner(), shard());
        }
        if (dice < 68) {
            return new Change.Described(text("described"));
        }
        if (dice < 78) {
            return new Change.Merged(anyPuri());
        }
        return dice < 92 ? new Change.Deleted() : new Change.Erased();
    }

    /** Attributes that differ in each event; one event in four has none. */
    private Map<String, String> text(String how) {
        return uuids % 4 == 0 ? Map.of() : Map.of("title", how + ' ' + uuids, "how", how);
    }

    /** Returns one of a few values for each pURI, so that values repeat. */
    private UUID smallUuid(Puri puri) {
        long ofPuri = (puri.hashCode() & 0xFFFF_FFFFL) << 2;
        return new UUID(0x0197_0000_0000_7000L, 0x8000_0000_0000_0000L | ofPuri | random.nextInt(4));
    }

    private Owner owner() {
        return new Owner(List.of("catalog", "accounts", "thief").get(random.nextInt(3)));
    }

    private Shard shard() {
        return new Shard("s" + random.nextInt(3));
    }

    private @Nullable Handle handle() {
        if (random.nextInt(3) == 0) {
            return null;
        }
        String prefix = List.of("trk", "trk", "usr", "alb").get(random.nextInt(4));
        char letter = "abcdefgh".charAt(random.nextInt(puris.size() < 20 ? 6 : 8));
        char second = Handle.ALPHABET.charAt(random.nextInt(puris.size() < 20 ? 1 : 30));
        return new Handle(prefix + '_' + String.valueOf(letter).repeat(14) + second);
    }
}
