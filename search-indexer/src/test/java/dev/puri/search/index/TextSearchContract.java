package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.SearchQuery.Order;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Text searches: matches, ranking and filters. */
public abstract class TextSearchContract extends SearchIndexContract {
    @Test
    void findsAllWordsInAnyAttribute() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "Blue Moon", "artist", "The Marcels"),
                Item.of("music:tracks:2", "title", "Blue Monday", "artist", "New Order"),
                Item.of(
                        "music:comments:3",
                        "body",
                        "a comment that is long enough to be no title at all, and says"
                                + " blue somewhere, a good while before it says marcels, and then goes on a bit"));
        assertThat(SampleQuery.text("marcels BLUE ").purisOf(index))
                .as("all in one attribute first")
                .containsExactly("music:comments:3", "music:tracks:1");
        assertThat(SampleQuery.text("blue order").purisOf(index)).containsExactly("music:tracks:2");
        assertThat(SampleQuery.text("blue nothing").purisOf(index)).isEmpty();
    }

    @Test
    void findsPhrasesWithinOneAttribute() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "Blue Moon", "artist", "River"),
                Item.of("music:tracks:2", "title", "Moon Blue", "artist", "River"),
                Item.of(
                        "music:comments:3",
                        "body",
                        "so long a text that it cannot be taken for a title, and in the"
                                + " midst of it there is a blue moon, as it were, before it goes on and ends"));
        assertThat(SampleQuery.text("\"blue moon\"").purisOf(index))
                .containsExactly("music:tracks:1", "music:comments:3");
        assertThat(SampleQuery.text("\"moon blue\" river").purisOf(index)).containsExactly("music:tracks:2");
        assertThat(SampleQuery.text("\"moon river\"").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("\"blue  MOON\"").purisOf(index)).hasSize(2);
        assertThat(SampleQuery.text("\"blue mooon\"").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("river \"blue moo").purisOf(index)).hasSize(2);
    }

    @Test
    void findsPrefixes() throws Exception {
        apply(Item.of("music:tracks:1", "title", "Beethoven"), Item.of("music:tracks:2", "title", "Bee"));
        assertThat(SampleQuery.text("b").purisOf(index)).containsExactlyInAnyOrder("music:tracks:1", "music:tracks:2");
        assertThat(SampleQuery.text("bee").purisOf(index)).containsExactly("music:tracks:2", "music:tracks:1");
        assertThat(SampleQuery.text("beet").purisOf(index))
                .as("prefix before typo")
                .containsExactly("music:tracks:1", "music:tracks:2");
        assertThat(SampleQuery.text("bee ").purisOf(index)).containsExactly("music:tracks:2");
        assertThat(SampleQuery.text("bee*").purisOf(index)).hasSize(2);
        assertThat(SampleQuery.text("beet* beethoven ").purisOf(index)).containsExactly("music:tracks:1");
        assertThat(SampleQuery.text("beet beethoven").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("ethoven").purisOf(index)).isEmpty();
    }

    @Test
    void findsPrefixesOfManyWords() throws Exception {
        for (int i = 0; i < 700; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "word" + Integer.toString(i, 36)));
        }
        apply();
        SearchResult result = SampleQuery.text("wo").limit(10).run(index);
        assertThat(result.byShard()).isEqualTo(Map.of("br-1", 700L));
        assertThat(new TreeSet<>(SampleQuery.text("wo").limit(100).allPagesOf(index, () -> {})))
                .hasSize(700);
    }

    @Test
    void findsWordsWithOneTypo() throws Exception {
        apply(Item.of("music:tracks:1", "title", "sonata"));
        for (String typo : List.of("sonat ", "sonatta ", "sonota ", "osnata ", "onata ", "zonata ")) {
            assertThat(SampleQuery.text(typo).purisOf(index)).as(typo).containsExactly("music:tracks:1");
        }
        for (String twoTypos : List.of("sonot ", "snoatta ", "son ")) {
            assertThat(SampleQuery.text(twoTypos).purisOf(index)).as(twoTypos).isEmpty();
        }
    }

    @Test
    void allowsNoTypoInShortWordsAndNumbers() throws Exception {
        apply(Item.of("music:tracks:1", "title", "sun 1999 ab12cd"));
        for (String other : List.of("son ", "1998 ", "ab13cd ", "su ")) {
            assertThat(SampleQuery.text(other).purisOf(index)).as(other).isEmpty();
        }
    }

    @Test
    void ranksExactWordsBeforePrefixesBeforeTypos() throws Exception {
        String longer =
                " among so many other words that nobody would take it for a title of anything at all, no, never";
        apply(
                Item.of("music:tracks:1", "title", "moons"),
                Item.of("music:tracks:2", "title", "moonlit sky"),
                Item.of("music:tracks:3", "title", "noon"),
                Item.of("music:tracks:4", "title", "moon"),
                Item.of("music:tracks:5", "title", "the moon and more"),
                Item.of("music:tracks:6", "body", "see the moon" + longer));
        assertThat(SampleQuery.text("moon").purisOf(index))
                .containsExactly(
                        "music:tracks:4",
                        "music:tracks:5",
                        "music:tracks:6",
                        "music:tracks:1",
                        "music:tracks:2",
                        "music:tracks:3");
    }

    @Test
    void ignoresAccentsAndCase() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "B\u00d6RN \u00e9t\u00e9"),
                Item.of("music:tracks:2", "title", "Bo\u0308rn e\u0301te\u0301"),
                Item.of("music:tracks:3", "title", "born ete"));
        for (String text : List.of("born ete ", "B\u00f6rn \u00e9t\u00e9 ", "bo\u0308rn E\u0301TE\u0301 ")) {
            assertThat(SampleQuery.text(text).purisOf(index)).as(text).hasSize(3);
        }
        apply(Item.of("music:tracks:4", "title", "Stra\u00dfe \u00e6ther Sm\u00f8rrebr\u00f8d \u0141\u00f3d\u017a"));
        for (String text : List.of("strasse ", "AETHER ", "smorrebrod ", "lodz ")) {
            assertThat(SampleQuery.text(text).purisOf(index)).as(text).containsExactly("music:tracks:4");
        }
    }

    @Test
    void filtersAndCounts() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "moon").on("br-1"),
                Item.of("music:users:2", "name", "moon").on("br-2").ownedBy("shop"),
                Item.of("forum:posts:3", "body", "moon").on("br-2"),
                Item.of("forum:posts:4", "body", "moon").merged("forum:posts:3"),
                Item.of("forum:posts:5", "body", "moon").deleted());
        assertThat(SampleQuery.text("moon").run(index).total()).isEqualTo(3);
        assertThat(SampleQuery.text("moon").run(index).byCollection())
                .isEqualTo(Map.of("music:tracks", 1L, "music:users", 1L, "forum:posts", 1L));
        assertThat(SampleQuery.text("moon").run(index).byShard())
                .containsExactly(Map.entry("br-2", 2L), Map.entry("br-1", 1L));
        assertThat(SampleQuery.text("moon").namespaces("music").shards("br-2").purisOf(index))
                .containsExactly("music:users:2");
        assertThat(SampleQuery.text("moon").owners("shop").purisOf(index)).containsExactly("music:users:2");
        assertThat(SampleQuery.text("moon")
                        .collections("forum:posts")
                        .statuses()
                        .purisOf(index))
                .containsExactlyInAnyOrder("forum:posts:3", "forum:posts:4");
    }

    @Test
    void returnsAllValuesOfADocument() throws Exception {
        Item item = Item.of("music:tracks:1", "title", "Blue Moon", "note", "")
                .withHandle("trk_123456789abcdef")
                .ownedBy("shop")
                .on("br-9");
        apply(item);
        SearchResult.Hit hit = SampleQuery.text("moon").run(index).hits().getFirst();
        assertThat(hit)
                .usingRecursiveComparison()
                .ignoringFields("score")
                .isEqualTo(new SearchResult.Hit(
                        item.puri(),
                        item.owner(),
                        item.shard(),
                        item.handle(),
                        item.status(),
                        null,
                        null,
                        item.attributes(),
                        Map.of("title", List.of("Blue <em>Moon</em>"))));
        assertThat(hit.score()).isPositive();
        assertThat(SampleQuery.text("moon").plain().run(index).hits().getFirst().highlights())
                .isEmpty();
    }

    @Test
    void searchesAttributesOnly() throws Exception {
        apply(Item.of("music:tracks:secret", "title", "moon").ownedBy("shop").on("berlin"));
        for (String text : List.of("music", "tracks", "secre", "shop", "berlin", "title", "active")) {
            assertThat(SampleQuery.text(text).purisOf(index)).as(text).isEmpty();
        }
    }

    @Test
    void ranksByTierBeforeWords() throws Exception {
        String many = " and one and two and three and four and five";
        apply(
                Item.of("music:tracks:1", "title", "other", "artist", "blue moon"),
                Item.of("music:tracks:2", "title", "blue moon river"),
                Item.of("music:tracks:3", "title", "the moon is blue"),
                Item.of("music:tracks:4", "title", "blue", "artist", "see the moon"),
                Item.of("music:tracks:5", "title", "bluest moon"),
                Item.of("music:tracks:6", "title", "bleu moon"),
                Item.of("music:tracks:7", "title", "blue moon", "text", many),
                Item.of("music:tracks:8", "title", "so blue", "text", "by the moon" + many));
        assertThat(SampleQuery.text("blue moon ").purisOf(index))
                .containsExactly(
                        "music:tracks:7",
                        "music:tracks:1",
                        "music:tracks:2",
                        "music:tracks:3",
                        "music:tracks:4",
                        "music:tracks:8",
                        "music:tracks:6");
    }

    @Test
    void ranksByAttributeThenByLength() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "some moon", "section", "x"),
                Item.of("music:tracks:2", "title", "moon", "section", "other"),
                Item.of("music:tracks:3", "title", "something else", "section", "moon"),
                Item.of("music:tracks:4", "title", "a moon", "section", "x"),
                Item.of("music:tracks:5", "title", "see", "section", "full moon"),
                Item.of("music:tracks:6", "title", "sees", "section", "full moon"));
        assertThat(SampleQuery.text("moon ").purisOf(index))
                .containsExactly(
                        "music:tracks:2",
                        "music:tracks:3",
                        "music:tracks:4",
                        "music:tracks:1",
                        "music:tracks:5",
                        "music:tracks:6");
    }

    @Test
    void findsWordsWithSymbols() throws Exception {
        apply(
                Item.of("music:t:1", "title", "g++", "text", "The GNU C++ compiler"),
                Item.of("music:t:2", "title", "Jose G.", "text", "sings in C"),
                Item.of("music:t:3", "title", "C# and .NET"),
                Item.of("music:t:4", "title", "net"),
                Item.of("music:t:5", "title", "AT&T"),
                Item.of("music:t:6", "title", "at t"),
                Item.of("music:t:7", "title", "rock'n'roll"),
                Item.of("music:t:8", "title", "Rock \u2019n\u2019 Roll"),
                Item.of("music:t:9", "title", "rock n roll"),
                Item.of("music:t:10", "title", "libstdc++6-dev"),
                Item.of("music:t:11", "title", "AC/DC"));
        Map<String, List<String>> expected = Map.of(
                "g++", List.of("music:t:1"),
                "g+", List.of("music:t:1"),
                "c++", List.of("music:t:1"),
                "C++ compiler", List.of("music:t:1"),
                "c#", List.of("music:t:3"),
                ".net", List.of("music:t:3"),
                "at&t", List.of("music:t:5"),
                "libstdc++6", List.of("music:t:10"),
                "ac/dc", List.of("music:t:11"),
                "\"c#\"", List.of("music:t:3"));
        for (Map.Entry<String, List<String>> each : expected.entrySet()) {
            assertThat(SampleQuery.text(each.getKey()).purisOf(index))
                    .as(each.getKey())
                    .isEqualTo(each.getValue());
        }
        for (String text : List.of("rock'n'roll", "rock n roll", "rock \u2018n\u2019 roll")) {
            assertThat(SampleQuery.text(text).purisOf(index)).as(text).hasSize(3);
        }
        assertThat(SampleQuery.text("c ").purisOf(index)).contains("music:t:1", "music:t:2", "music:t:3");
    }

    @Test
    void findsTyposThatKeepDigits() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "python3"),
                Item.of("music:tracks:2", "title", "python2"),
                Item.of("music:tracks:3", "title", "git-lfs"));
        for (String typo : List.of("pyhton3 ", "pyton3 ", "pythonn3 ", "pytxon3 ", "pytho3n ", "xython3 ")) {
            assertThat(SampleQuery.text(typo).purisOf(index)).as(typo).containsExactly("music:tracks:1");
        }
        assertThat(SampleQuery.text("python4 ").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("git-lsf ").purisOf(index))
                .as("a typo in a short word of a title")
                .containsExactly("music:tracks:3");
        assertThat(SampleQuery.text("\"git-lsf\"").purisOf(index)).isEmpty();
    }

    @Test
    void ranksTheIdentityWithTheTypedNameFirst() throws Exception {
        apply(
                Item.of("music:tracks:one", "title", "one").withHandle("trk_123456789abcdef"),
                Item.of("music:tracks:7%3Aa", "title", "two"),
                Item.of("music:users:one", "name", "three"),
                Item.of("music:comments:4", "text", "one trk_123456789abcdef music:tracks:one"));
        topics.writeRow(Item.of("music:ghosts:5", "title", "never seen").withHandle("gho_123456789abcdef"));
        topics.writeRow(Item.of("music:ghosts:6").deleted());
        apply();
        assertThat(SampleQuery.text("Music:Tracks:ONE").purisOf(index))
                .startsWith("music:tracks:one")
                .contains("music:comments:4");
        assertThat(SampleQuery.text("TRK_123456789abcdef").purisOf(index)).startsWith("music:tracks:one");
        assertThat(SampleQuery.text("one").purisOf(index))
                .startsWith("music:tracks:one", "music:users:one")
                .hasSize(3);
        assertThat(SampleQuery.text("7:A").purisOf(index)).containsExactly("music:tracks:7%3Aa");
        assertThat(SampleQuery.text("7%3aa").purisOf(index)).containsExactly("music:tracks:7%3Aa");
        for (String name : List.of("music:ghosts:5", "gho_123456789abcdef", "5")) {
            SearchResult found = SampleQuery.text(name).run(index);
            assertThat(SampleQuery.puris(found)).as(name).containsExactly("music:ghosts:5");
            assertThat(found.total()).isEqualTo(1);
            assertThat(found.byCollection()).isEqualTo(Map.of("music:ghosts", 1L));
            assertThat(found.hits().getFirst().attributes()).isEmpty();
        }
        assertThat(SampleQuery.text("music:ghosts:6").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("music:ghosts:6")
                        .statuses(Row.Status.DELETED)
                        .purisOf(index))
                .containsExactly("music:ghosts:6");
        assertThat(SampleQuery.text("music:ghosts:5")
                        .collections("music:tracks")
                        .purisOf(index))
                .isEmpty();
        assertThat(SampleQuery.text("one").collections("music:users").purisOf(index))
                .containsExactly("music:users:one");
        assertThat(SampleQuery.text("one").limit(1).allPagesOf(index, () -> {}))
                .hasSize(3)
                .doesNotHaveDuplicates();
    }

    @Test
    void searchesAttributesAsTheCollectionDeclares() throws Exception {
        SearchedAttributes declared = SearchedAttributes.of(Map.of("artist", 5), Set.of("note"));
        topics.write(
                declared,
                Item.of("music:tracks:1", "title", "the moon", "artist", "somebody", "note", "secret"),
                Item.of("music:tracks:2", "title", "something", "artist", "the moon", "note", "moon"));
        apply();
        assertThat(SampleQuery.text("moon").purisOf(index)).containsExactly("music:tracks:2", "music:tracks:1");
        assertThat(SampleQuery.text("secret").purisOf(index)).isEmpty();
        SearchResult.Hit hit = SampleQuery.text("somebody").run(index).hits().getFirst();
        assertThat(hit.attributes())
                .containsExactly(
                        Map.entry("artist", "somebody"), Map.entry("note", "secret"), Map.entry("title", "the moon"));
    }

    @Test
    void returnsTheTitleFirst() throws Exception {
        apply(Item.of("music:tracks:1", "artist", "somebody", "title", "moon", "album", "x"));
        for (SampleQuery query : List.of(SampleQuery.text("moon"), SampleQuery.list(Order.NEWEST))) {
            assertThat(query.run(index).hits().getFirst().attributes().keySet())
                    .containsExactly("title", "album", "artist");
        }
    }

    @Test
    void ranksTheRelevanceCasesAsExpected() throws Exception {
        apply(RelevanceCases.documents().toArray(Item[]::new));
        RelevanceCases.check(index);
    }
}
