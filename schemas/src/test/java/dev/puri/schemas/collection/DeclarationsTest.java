package dev.puri.schemas.collection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.collection.DeclarationResult.Changes;
import dev.puri.schemas.collection.DeclarationResult.Conflicts;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeclarationsTest {
    private static final Collection TRACKS = collection("soundcloud", "tracks", "trk");
    private static final Collection BILLS = collection("revenue", "bills", null);

    private static Collection collection(String namespace, String name, @Nullable String prefix) {
        return new Collection(
                namespace, name, prefix == null ? null : new Prefix(prefix), Set.of(), false, false, "", false);
    }

    private static Collection retired(Collection c) {
        return new Collection(
                c.namespace(), c.name(), c.prefix(), c.owners(), c.search(), c.isPublic(), c.description(), true);
    }

    private static Changes changes(Declarations existing, Declaration... wanted) {
        return (Changes) existing.plan(List.of(wanted));
    }

    private static List<String> conflicts(Declarations existing, Declaration... wanted) {
        return ((Conflicts) existing.plan(List.of(wanted)))
                .conflicts().stream().map(Object::toString).toList();
    }

    @Test
    void newDeclarationsAreWrittenAndFound() {
        Namespace music = new Namespace("music", true);
        Changes changes = changes(Declarations.none(), TRACKS, BILLS, music);
        assertThat(changes.writes()).containsExactly(TRACKS, BILLS, music);
        Declarations after = changes.after();
        assertThat(after.collection("soundcloud:tracks")).isEqualTo(TRACKS);
        assertThat(after.collectionOf(Puri.parse("SoundCloud:Tracks:1"))).isEqualTo(TRACKS);
        assertThat(after.byPrefix(new Prefix("trk"))).isEqualTo(TRACKS);
        assertThat(after.byPrefix(new Prefix("abc"))).isNull();
        assertThat(after.collection("soundcloud:unknown")).isNull();
        assertThat(after.collection("music")).isNull();
        assertThat(after.ownsTopic("music")).isTrue();
        assertThat(after.ownsTopic("soundcloud")).isFalse();
        assertThat(after.collections()).containsExactly(BILLS, TRACKS);
        assertThat(after.namespaces()).containsExactly(music);
    }

    @Test
    void unchangedDeclarationsNeedNoWriteAndAbsentOnesStay() {
        Declarations existing = Declarations.of(List.of(TRACKS, BILLS, new Namespace("music", true)));
        assertThat(changes(existing, TRACKS).writes()).isEmpty();
        assertThat(changes(existing).after()).isEqualTo(existing);
        Collection other = collection("revenue", "orders", "ord");
        assertThat(changes(existing, other, TRACKS).after())
                .isEqualTo(Declarations.of(List.of(TRACKS, BILLS, other, new Namespace("music", true))));
    }

    @Test
    void aPrefixMayComeLater() {
        Declarations existing = Declarations.of(List.of(BILLS));
        Collection withPrefix = collection("revenue", "bills", "bil");
        assertThat(changes(existing, withPrefix).writes()).containsExactly(withPrefix);
    }

    @Test
    void refusesAnotherPrefixForACollection() {
        Declarations existing = Declarations.of(List.of(TRACKS));
        assertThat(conflicts(existing, collection("soundcloud", "tracks", "son")))
                .containsExactly("soundcloud:tracks: prefix: its prefix is trk and cannot change, because handles are"
                        + " permanent; the new declaration has son");
        assertThat(conflicts(existing, collection("soundcloud", "tracks", null)))
                .containsExactly("soundcloud:tracks: prefix: its prefix is trk and cannot change, because handles are"
                        + " permanent; the new declaration has none");
    }

    @Test
    void refusesAPrefixOfAnotherCollection() {
        assertThat(conflicts(Declarations.of(List.of(TRACKS)), collection("music", "songs", "trk")))
                .containsExactly("music:songs: prefix: trk belongs to soundcloud:tracks; a prefix is never reassigned"
                        + " to another collection");
        assertThat(conflicts(Declarations.none(), TRACKS, collection("music", "songs", "trk")))
                .containsExactly("music:songs: prefix: trk is also declared for soundcloud:tracks in this request;"
                        + " choose another prefix for one of them");
    }

    @Test
    void aRetiredCollectionKeepsItsPrefixReserved() {
        Declarations existing =
                changes(Declarations.of(List.of(TRACKS)), retired(TRACKS)).after();
        assertThat(conflicts(existing, collection("music", "songs", "trk")))
                .containsExactly("music:songs: prefix: trk belongs to soundcloud:tracks, which is retired but keeps"
                        + " its prefix; a prefix is never reassigned to another collection");
        // The file that retires a collection cannot reuse its prefix either.
        assertThat(conflicts(Declarations.of(List.of(TRACKS)), retired(TRACKS), collection("a", "b", "trk")))
                .hasSize(2);
        assertThat(changes(existing, TRACKS).writes()).containsExactly(TRACKS);
    }

    @Test
    void twoCollectionsCannotSwapPrefixes() {
        Declarations existing = Declarations.of(List.of(collection("a", "a", "aaa"), collection("b", "b", "bbb")));
        assertThat(conflicts(existing, collection("a", "a", "bbb"), collection("b", "b", "aaa")))
                .hasSize(4);
    }

    @Test
    void refusesToUndoAnOwnTopic() {
        Declarations existing = Declarations.of(List.of(new Namespace("music", true)));
        assertThat(conflicts(existing, new Namespace("music", false)))
                .containsExactly("music: ownsTopic: it has its own topic puri.events.v1.music, which cannot be"
                        + " undone; the new declaration says false");
        assertThat(changes(Declarations.of(List.of(new Namespace("music", false))), new Namespace("Music", true))
                        .writes())
                .containsExactly(new Namespace("music", true));
    }

    @Test
    void refusesAnOwnTopicIfTheNameDoesNotFit() {
        assertThat(new Namespace("a.b_c-1", true).eventsTopic()).isEqualTo("puri.events.v1.a.b_c-1");
        assertThat(new Namespace("caf\u00e9", false).eventsTopic()).isEqualTo("puri.events.v1");
        assertThatThrownBy(() -> new Namespace("caf\u00e9", true))
                .hasMessage("the namespace caf%C3%A9 cannot own a topic: names of topics are made of a-z 0-9 . _ -"
                        + " and this name has other characters");
    }

    @Test
    void aRepeatedKeyIsAConflictEvenIfBothDeclarationsAreEqual() {
        assertThat(conflicts(Declarations.none(), TRACKS, collection("SoundCloud", "TRACKS", "trk")))
                .containsExactly(
                        "soundcloud:tracks: name: it is declared twice in this request; remove one declaration");
    }

    @Test
    void allConflictsAreListedTogetherAndNothingIsWritten() {
        Declarations existing = Declarations.of(List.of(TRACKS, new Namespace("music", true)));
        assertThat(conflicts(
                        existing,
                        collection("a", "fine", "fin"),
                        collection("soundcloud", "tracks", "son"),
                        new Namespace("music", false),
                        collection("b", "b", "trk"),
                        collection("b", "b", null)))
                .hasSize(4);
    }

    @Test
    void namesAreKeptCanonical() {
        Collection odd = collection("SoundCloud", "caf\u00e9+BARS", null);
        assertThat(odd.qualifiedName()).isEqualTo("soundcloud:caf%C3%A9+bars").isEqualTo(odd.key());
        assertThat(collection(odd.namespace(), odd.name(), null)).isEqualTo(odd);
        assertThatThrownBy(() -> collection("sound cloud", "tracks", null)).isInstanceOf(InvalidNameException.class);
        assertThatThrownBy(() -> collection("a:b", "tracks", null)).isInstanceOf(InvalidNameException.class);
        assertThatThrownBy(() -> new Namespace("a:b", false)).isInstanceOf(InvalidNameException.class);
    }

    @Test
    void aDescriptionIsBounded() {
        assertThatThrownBy(() -> new Collection("a", "b", null, Set.of(), false, false, "x".repeat(1001), false))
                .hasMessage("the description of a:b has 1001 characters, at most 1000 are allowed");
    }

    @Test
    void theHeaviestAttributeIsTheTitle() {
        Set<String> names = Set.of("artist", "label", "name", "note");
        SearchedAttributes.Weights usual = SearchedAttributes.DEFAULT.of(names);
        assertThat(usual.title()).isEqualTo("name");
        assertThat(usual.byName()).isEqualTo(Map.of("artist", 1, "label", 1, "name", 3, "note", 1));

        SearchedAttributes declared = SearchedAttributes.of(Map.of("artist", 5), Set.of("note"));
        assertThat(declared.of(names).title()).isEqualTo("artist");
        assertThat(declared.of(names).byName()).isEqualTo(Map.of("artist", 5, "label", 1, "name", 3, "note", 0));
        assertThat(SearchedAttributes.of(Map.of(), Set.of("name")).of(names).title())
                .isEqualTo("label");
        assertThat(SearchedAttributes.DEFAULT.of(Set.of("body")).title()).isNull();
        assertThat(SearchedAttributes.of(Map.of("artist", 3), Set.of())
                        .of(names)
                        .title())
                .as("of equals the usual one")
                .isEqualTo("name");
    }

    @Test
    void searchDeclarationsAreBounded() {
        assertThatThrownBy(() -> SearchedAttributes.of(Map.of("title", 6), Set.of()))
                .hasMessage("the boost of title is a whole number from 1 to 5, not 6");
        assertThatThrownBy(() -> SearchedAttributes.of(Map.of("title", 2), Set.of("title")))
                .hasMessage("title is in both boost and shown; attributes in shown are not searched");
        assertThatThrownBy(() -> SearchedAttributes.of(Map.of(), Set.of("")))
                .hasMessage("an attribute's name has 1 to 255 characters, not 0");
    }

    @Test
    void avroKeepsEveryField() {
        Collection full = new Collection(
                "soundcloud",
                "tracks",
                new Prefix("trk"),
                Set.of(new Owner("catalog"), new Owner("rights")),
                true,
                SearchedAttributes.of(Map.of("title", 3, "artist", 5), Set.of("checksum")),
                false,
                "Songs, uploaded",
                true);
        Collection mirrored = new Collection("a", "b", null, Set.of(), false, true, "", false);
        for (Declaration each : List.of(full, mirrored, new Namespace("music", true), new Namespace("x", false))) {
            assertThat(DeclarationAvro.fromAvro(DeclarationAvro.toAvro(each))).isEqualTo(each);
        }
    }

    @Test
    void noSequenceOfDeclarationsReassignsAPrefix() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Prefix, String> everHeld = new HashMap<>();
        Declarations existing = Declarations.none();
        for (int round = 0; round < 2000; round++) {
            List<Collection> wanted = IntStream.rangeClosed(0, random.nextInt(3))
                    .mapToObj(i -> {
                        int p = random.nextInt(7);
                        Collection c =
                                collection("n", "c" + random.nextInt(6), p == 0 ? null : ("pp" + (char) ('a' + p)));
                        return random.nextBoolean() ? c : retired(c);
                    })
                    .toList();
            if (existing.plan(wanted) instanceof Changes changes) {
                existing = changes.after();
            }
            for (Collection c : existing.collections()) {
                if (c.prefix() != null) {
                    assertThat(everHeld.putIfAbsent(c.prefix(), c.key()))
                            .as("seed %d", seed)
                            .isIn(null, c.key());
                }
            }
        }
        assertThat(everHeld).as("seed %d", seed).isNotEmpty();
    }

    @Test
    void liveDeclarationsFollowTheirTopic() {
        LiveDeclarations live = new LiveDeclarations();
        live.put(BILLS);
        live.put(TRACKS);
        live.put(retired(TRACKS));
        live.put(new Namespace("music", true));
        assertThat(live.collection("soundcloud:tracks")).isEqualTo(retired(TRACKS));
        assertThat(live.ownsTopic("music")).isTrue();
        assertThat(live.ownsTopic("revenue")).isFalse();
        live.remove("revenue:bills");
        live.remove("never:declared");
        assertThat(live.collection("revenue:bills")).isNull();
        assertThat(live.snapshot()).isEqualTo(Declarations.of(List.of(retired(TRACKS), new Namespace("music", true))));
    }
}
