package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.words.ParsedQuery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every engine promises. Each runs it by telling where its indices are. */
@Timeout(300)
@SuppressWarnings("ClassCanBeStatic") // JUnit's nested classes see the index of the one around them.
public abstract class SearchIndexContract {
    private static final SearchQuery.Order NEWEST = SearchQuery.Order.NEWEST;
    private static final SearchQuery.Order OLDEST = SearchQuery.Order.OLDEST;

    private IndexStore home;
    private SearchIndex index;
    private final FakeTopics log = new FakeTopics();
    private int given;

    /** Opens the home of one test: empty at first, and as it was left when it is opened again. */
    protected abstract IndexStore open() throws Exception;

    @BeforeEach
    final void openIndex() throws Exception {
        home = open();
        index = home.serving();
    }

    @AfterEach
    final void closeIndex() {
        home.close();
    }

    /** Gives the index what the log has got since, and lets it be seen. */
    private void take() throws IndexUnavailableException {
        index.apply(log.since(given));
        given = log.size();
        index.refresh();
    }

    private void take(Item... items) throws IndexUnavailableException {
        log.write(items);
        take();
    }

    /** As after the end of a process: what was not committed may be lost. */
    private void reopen() throws Exception {
        home.close();
        openIndex();
    }

    private void assertIsWhatTheLogSays(SearchIndex asked) throws Exception {
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> entries = new HashMap<>();
            asked.forEach(
                    kind,
                    (puri, entry) -> assertThat(entries.put(puri, entry))
                            .as("%s is given twice", puri)
                            .isNull());
            assertThat(entries).isEqualTo(log.entries(kind));
        }
    }

    @Nested
    class Entries {
        @Test
        void areGivenBackAsTheyWereTaken() throws Exception {
            take(
                    Item.of(
                            "music:tracks:1",
                            "title",
                            "One",
                            "empty",
                            "",
                            "odd name \u00e9",
                            "\u0000\ud83d\ude00 \"<&"),
                    Item.of("music:tracks:2").bearing("trk_123456789abcdef").on("eu~1:a/b"),
                    Item.of("music:tracks:3", "title", "Three").merged("music:tracks:1"),
                    Item.of("music:tracks:4", "title", "Four").deleted(),
                    Item.of("music:b%3Ax:%E6%9D%B1", "title", "East").ownedBy("Catalog@2"));

            assertIsWhatTheLogSays(index);
            for (EntryKind kind : EntryKind.values()) {
                for (Map.Entry<Puri, Entry> each : log.entries(kind).entrySet()) {
                    assertThat(index.entry(kind, each.getKey())).isEqualTo(each.getValue());
                }
            }
            assertThat(index.entry(EntryKind.DOCUMENT, Puri.parse("music:tracks:4"))).isNull();
            assertThat(index.entry(EntryKind.IDENTITY, Puri.parse("music:tracks:9"))).isNull();
        }

        @Test
        void areReplacedAndGo() throws Exception {
            take(Item.of("music:tracks:1", "title", "before"), Item.of("music:tracks:2", "title", "before"));
            take(Item.of("music:tracks:1", "title", "after").on("br-2"));
            log.erase("music:tracks:2");
            take();

            assertIsWhatTheLogSays(index);
            assertThat(TestQuery.text("before").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("after").purisOf(index)).containsExactly("music:tracks:1");
            assertThat(TestQuery.list(NEWEST).of(index).byShard()).isEqualTo(Map.of("br-2", 1L));
        }

        @Test
        void comeAndGoWithinOneBatch() throws Exception {
            log.write(Item.of("music:tracks:1", "title", "one")).erase("music:tracks:1");
            log.write(Item.of("music:tracks:2", "title", "two")).erase("music:tracks:2");
            take(Item.of("music:tracks:2", "title", "three"));

            assertIsWhatTheLogSays(index);
            assertThat(index.size().identities()).isEqualTo(1);
        }

        @Test
        void ofOneKindDoNotTouchThoseOfTheOther() throws Exception {
            take(Item.of("music:tracks:1", "title", "one"));
            log.writeRow(Item.of("music:tracks:1").deleted());
            take();
            assertThat(TestQuery.text("one").purisOf(index)).containsExactly("music:tracks:1");
            assertIsWhatTheLogSays(index);
        }

        @Test
        void changeNothingWhenTheyComeLateOrAgain() throws Exception {
            log.write(Item.of("music:tracks:1", "title", "old")).erase("music:tracks:1");
            log.write(Item.of("music:tracks:2", "title", "old"));
            log.write(Item.of("music:tracks:2", "title", "new"), Item.of("music:tracks:1", "title", "new"));
            take();

            for (IndexChange again : log.since(0)) {
                index.apply(List.of(again));
                index.refresh();
                assertIsWhatTheLogSays(index);
            }
        }

        @Test
        void areFoundByTheirHandle() throws Exception {
            take(
                    Item.of("music:tracks:1").bearing("trk_123456789abcdef"),
                    Item.of("music:tracks:2").bearing("trk_223456789abcdef"),
                    Item.of("music:tracks:3"));
            assertThat(index.findByHandle(new Handle("trk_223456789abcdef"))).isEqualTo(Puri.parse("music:tracks:2"));
            assertThat(index.findByHandle(new Handle("trk_323456789abcdef"))).isNull();

            log.erase("music:tracks:2");
            take();
            assertThat(index.findByHandle(new Handle("trk_223456789abcdef"))).isNull();
        }

        @Test
        void areCounted() throws Exception {
            take(
                    Item.of("music:tracks:1"),
                    Item.of("music:tracks:2"),
                    Item.of("music:tracks:3").deleted());
            assertThat(index.size().identities()).isEqualTo(3);
            assertThat(index.size().documents()).isEqualTo(2);
            index.commit(log.reached());
            assertThat(index.size().bytes()).isPositive();
        }

        @Test
        void areReadWhileOthersAreWritten() throws Exception {
            take(Item.of("music:tracks:0", "title", "steady"));
            AtomicReference<Throwable> failed = new AtomicReference<>();
            AtomicInteger asked = new AtomicInteger();
            AtomicBoolean over = new AtomicBoolean();
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (!over.get()) {
                            assertThat(TestQuery.text("steady").purisOf(index)).containsExactly("music:tracks:0");
                            assertThat(TestQuery.list(OLDEST).of(index).hits()).isNotEmpty();
                            assertThat(index.entry(EntryKind.IDENTITY, Puri.parse("music:tracks:0")))
                                    .isNotNull();
                            asked.incrementAndGet();
                        }
                    } catch (Throwable e) {
                        failed.set(e);
                    }
                }));
            }
            try {
                for (int i = 1; i < 60 || asked.get() < 30; i++) {
                    assertThat(failed.get()).isNull();
                    take(Item.of("music:tracks:" + i % 7, "title", i % 7 == 0 ? "steady" : "other " + i));
                    if (i % 10 == 0) {
                        index.commit(log.reached());
                    }
                }
            } finally {
                over.set(true);
                for (Thread reader : readers) {
                    reader.join();
                }
            }
            assertThat(failed.get()).isNull();
        }
    }

    @Nested
    class Commits {
        @Test
        void areEmptyAtFirst() throws Exception {
            assertThat(index.committed()).isEqualTo(IndexCheckpoint.NONE);
            reopen();
            assertThat(index.committed()).isEqualTo(IndexCheckpoint.NONE);
        }

        @Test
        void keepEntriesAndHowFarTheyGo() throws Exception {
            take(Item.of("music:tracks:1", "title", "one"), Item.of("music:tracks:2", "title", "two"));
            index.commit(log.reached());
            assertThat(index.committed()).isEqualTo(log.reached());

            reopen();
            assertThat(index.committed()).isEqualTo(log.reached());
            assertIsWhatTheLogSays(index);
            assertThat(TestQuery.text("two").purisOf(index)).containsExactly("music:tracks:2");
        }

        @Test
        void areMadeWholeByTheLogAfterThem() throws Exception {
            Random random = new Random(5);
            IndexCheckpoint committed = IndexCheckpoint.NONE;
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 40; i++) {
                    String puri = "music:tracks:" + random.nextInt(30);
                    if (random.nextInt(4) == 0) {
                        log.erase(puri);
                    } else {
                        log.write(Item.of(puri, "title", "round " + round + " of " + i));
                    }
                    if (random.nextInt(15) == 0) {
                        take();
                        committed = log.reached();
                        index.commit(committed);
                    }
                }
                take();
                reopen();
                assertThat(index.committed()).isEqualTo(committed);
                index.apply(log.after(index.committed()));
                index.refresh();
                assertIsWhatTheLogSays(index);
            }
        }

        @Test
        void keepHowFarTheyGoWhereNothingChanged() throws Exception {
            index.commit(log.write(Item.of("music:tracks:1")).reached());
            reopen();
            assertThat(index.committed()).isEqualTo(log.reached());
        }
    }

    @Nested
    class Lists {
        @Test
        void areInTheOrderOfUuidsAcrossShards() throws Exception {
            take(
                    Item.of("music:tracks:a").createdAt(300).on("br-1"),
                    Item.of("forum:posts:b").createdAt(100).on("br-2"),
                    Item.of("music:users:c").createdAt(200).on("br-1"),
                    Item.of("music:tracks:d").createdAt(400).on("br-3"));
            assertThat(TestQuery.list(OLDEST).purisOf(index))
                    .containsExactly("forum:posts:b", "music:users:c", "music:tracks:a", "music:tracks:d");
            assertThat(TestQuery.list(NEWEST).purisOf(index))
                    .containsExactly("music:tracks:d", "music:tracks:a", "music:users:c", "forum:posts:b");
        }

        @Test
        void compareUuidsByAllTheirBitsWithoutSign() throws Exception {
            take(
                    Item.of("music:tracks:a").withUuid(UUID.fromString("ffffffff-0000-4000-8000-000000000001")),
                    Item.of("music:tracks:b").withUuid(UUID.fromString("7fffffff-0000-4000-8000-000000000001")),
                    Item.of("music:tracks:c").withUuid(UUID.fromString("7fffffff-0000-4000-bfff-000000000001")),
                    Item.of("music:tracks:d").withUuid(UUID.fromString("00000000-0000-4000-8000-000000000001")));
            assertThat(TestQuery.list(OLDEST).purisOf(index))
                    .containsExactly("music:tracks:d", "music:tracks:b", "music:tracks:c", "music:tracks:a");
            assertThat(TestQuery.list(NEWEST).limit(1).allPagesOf(index, () -> {}))
                    .containsExactly("music:tracks:a", "music:tracks:c", "music:tracks:b", "music:tracks:d");
        }

        @Test
        void haveAnOrderForOneUuidToo() throws Exception {
            for (int i = 0; i < 20; i++) {
                log.write(Item.of("music:tracks:" + i).withUuid(Item.uuid(7, 7)));
            }
            take();
            assertThat(TestQuery.list(OLDEST).limit(3).allPagesOf(index, () -> {}))
                    .hasSize(20)
                    .isEqualTo(TestQuery.list(OLDEST).purisOf(index));
        }

        @Test
        void showAttributesWhereThereIsADocument() throws Exception {
            log.write(Item.of("music:tracks:1", "title", "One").createdAt(1).bearing("trk_123456789abcdef"));
            log.writeRow(Item.of("music:tracks:2").createdAt(2).ownedBy("shop").on("br-7"));
            take(Item.of("music:tracks:3").createdAt(3).merged("music:tracks:1"));

            assertThat(TestQuery.list(OLDEST).statuses().of(index).hits())
                    .containsExactly(
                            hit(Item.of("music:tracks:1", "title", "One").bearing("trk_123456789abcdef")),
                            hit(Item.of("music:tracks:2").ownedBy("shop").on("br-7")),
                            hit(Item.of("music:tracks:3").merged("music:tracks:1")));
        }

        private SearchResult.Hit hit(Item item) {
            return new SearchResult.Hit(
                    item.puri(),
                    item.owner(),
                    item.shard(),
                    item.handle(),
                    item.status(),
                    item.mergedInto(),
                    null,
                    item.attributes(),
                    Map.of());
        }

        @Test
        void areFiltered() throws Exception {
            take(
                    Item.of("music:tracks:1").createdAt(1).on("br-1"),
                    Item.of("music:tracks:2").createdAt(2).on("br-2").ownedBy("shop"),
                    Item.of("music:users:3").createdAt(3).on("br-2"),
                    Item.of("forum:tracks:4").createdAt(4).on("br-3"),
                    Item.of("music:tracks:5").createdAt(5).merged("music:tracks:1"),
                    Item.of("music:tracks:6").createdAt(6).deleted(),
                    Item.of("music-x:tracks:7").createdAt(7));
            TestQuery all = TestQuery.list(OLDEST);
            assertThat(all.collections("music:tracks").purisOf(index))
                    .containsExactly("music:tracks:1", "music:tracks:2");
            assertThat(all.collections("music:tracks", "forum:tracks")
                            .shards("br-1", "br-3")
                            .purisOf(index))
                    .containsExactly("music:tracks:1", "forum:tracks:4");
            assertThat(all.namespaces("music").purisOf(index))
                    .containsExactly("music:tracks:1", "music:tracks:2", "music:users:3");
            assertThat(all.owners("shop").purisOf(index)).containsExactly("music:tracks:2");
            assertThat(all.statuses(Row.Status.MERGED, Row.Status.DELETED).purisOf(index))
                    .containsExactly("music:tracks:5", "music:tracks:6");
            assertThat(all.statuses().purisOf(index)).hasSize(7);
            assertThat(all.collections("music:nothing").of(index))
                    .isEqualTo(new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null));
        }

        @Test
        void areCountedByCollectionAndShard() throws Exception {
            take(
                    Item.of("music:tracks:1").on("br-1"),
                    Item.of("music:tracks:2").on("br-2"),
                    Item.of("music:tracks:3").on("br-2"),
                    Item.of("forum:posts:4").on("br-2"),
                    Item.of("forum:posts:5").on("br-3").deleted());
            SearchResult result = TestQuery.list(NEWEST).limit(1).of(index);
            assertThat(result.total()).isEqualTo(4);
            assertThat(result.totalIsExact()).isTrue();
            assertThat(result.byCollection())
                    .containsExactly(Map.entry("music:tracks", 3L), Map.entry("forum:posts", 1L));
            assertThat(result.byShard()).containsExactly(Map.entry("br-2", 3L), Map.entry("br-1", 1L));
            assertThat(TestQuery.list(NEWEST).plain().of(index).byShard()).isEmpty();
        }
    }

    @Nested
    class Pages {
        private final Random random = new Random(7);
        private int written;

        @Test
        void ofAListMeetEachOnceWhileOthersComeAndGo() throws Exception {
            List<Item> steady = new ArrayList<>();
            for (int i = 0; i < 237; i++) {
                steady.add(Item.of("music:tracks:" + i)
                        .createdAt(random.nextInt(1000))
                        .on("br-" + i % 5));
            }
            take(steady.toArray(Item[]::new));
            Comparator<Item> byUuid = Comparator.comparing(item -> item.uuid().toString());
            for (SearchQuery.Order order : List.of(OLDEST, NEWEST)) {
                List<String> found = new ArrayList<>(TestQuery.list(order).limit(10).allPagesOf(index, this::disturb));
                assertThat(found).doesNotHaveDuplicates();
                found.removeIf(puri -> puri.startsWith("music:noise"));
                assertThat(found)
                        .isEqualTo(steady.stream()
                                .sorted((order == OLDEST ? byUuid : byUuid.reversed()).thenComparing(Item::puri))
                                .map(item -> item.puri().toString())
                                .toList());
            }
        }

        @Test
        void ofATextMeetEachOnceWhileOthersComeAndGo() throws Exception {
            List<String> steady = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                // Many with one score, and many scores.
                Item item = Item.of("music:tracks:" + i, "title", "moon" + " more".repeat(random.nextInt(4) * i % 23));
                steady.add(item.puri().toString());
                log.write(item);
            }
            take();
            for (String text : List.of("moon ", "moo", "mooon ", "\"moon\"")) {
                List<String> found = TestQuery.text(text).limit(7).allPagesOf(index, this::disturb);
                assertThat(found).as(text).doesNotHaveDuplicates();
                assertThat(found).as(text).containsAll(steady);
            }
        }

        @Test
        void ofATextAreOneListCutIntoPieces() throws Exception {
            for (int i = 0; i < 60; i++) {
                log.write(Item.of("music:tracks:" + i, "title", "moon" + " more".repeat(i % 5)));
            }
            take();
            SearchResult whole = TestQuery.text("moon").limit(100).of(index);
            assertThat(whole.next()).isNull();
            assertThat(whole.hits())
                    .isSortedAccordingTo(
                            Comparator.comparing(SearchResult.Hit::score).reversed());
            assertThat(TestQuery.text("moon").limit(7).allPagesOf(index, () -> {})).isEqualTo(TestQuery.puris(whole));
            assertThat(TestQuery.text("moon").limit(60).of(index).next()).isNull();
        }

        @Test
        void ofLongTextsEndEarlyAndGoOn() throws Exception {
            String text = "moon " + "more ".repeat(6_000);
            List<String> all = new ArrayList<>();
            for (int i = 100; i < 170; i++) {
                Item item = Item.of("music:tracks:" + i, "text", text).createdAt(i);
                all.add(item.puri().toString());
                log.write(item);
            }
            take();
            int most = PageBudget.MAX_BYTES / text.length();
            for (TestQuery ask :
                    List.of(TestQuery.text("moon").limit(1000), TestQuery.list(OLDEST).limit(1000))) {
                SearchResult first = ask.of(index);
                assertThat(first.hits()).hasSizeBetween(most / 2, most);
                assertThat(first.total()).isEqualTo(all.size());
                assertThat(ask.allPagesOf(index, () -> {})).containsExactlyInAnyOrderElementsOf(all);
            }
            assertThat(TestQuery.list(OLDEST).limit(1000).allPagesOf(index, this::disturb))
                    .containsAll(all)
                    .doesNotHaveDuplicates();
        }

        @Test
        void tellHowManyThereAreOnAll() throws Exception {
            for (int i = 0; i < 30; i++) {
                log.write(Item.of("music:tracks:" + i, "title", "moon"));
            }
            take();
            for (TestQuery first : List.of(TestQuery.text("moon"), TestQuery.list(NEWEST))) {
                TestQuery second = first.limit(5).after(first.limit(5).of(index).next());
                assertThat(second.of(index).total()).isEqualTo(30);
                assertThat(second.of(index).byShard()).isEqualTo(Map.of("br-1", 30L));
            }
        }

        @Test
        void mayChangeTheirSize() throws Exception {
            for (int i = 0; i < 9; i++) {
                log.write(Item.of("music:tracks:" + i).createdAt(i));
            }
            take();
            Cursor afterTwo = TestQuery.list(OLDEST).limit(2).of(index).next();
            assertThat(TestQuery.list(OLDEST).limit(3).plain().after(afterTwo).purisOf(index))
                    .containsExactly("music:tracks:2", "music:tracks:3", "music:tracks:4");
        }

        @Test
        void goOnWithTheirOwnCursorOnly() throws Exception {
            for (int i = 0; i < 9; i++) {
                log.write(Item.of("music:tracks:" + i, "title", "moon river"));
            }
            take();
            Cursor list = TestQuery.list(OLDEST).limit(2).of(index).next();
            Cursor text = TestQuery.text("moon").limit(2).of(index).next();
            char last = list.token().charAt(list.token().length() / 2);
            Map<String, TestQuery> wrong = Map.of(
                    "another order", TestQuery.list(NEWEST).after(list),
                    "another filter", TestQuery.list(OLDEST).shards("br-1").after(list),
                    "a list's for a text", TestQuery.text("moon").after(list),
                    "a text's for a list", TestQuery.list(OLDEST).after(text),
                    "another text", TestQuery.text("river").after(text),
                    "invented", TestQuery.list(OLDEST).after(new Cursor("eyJhIjoxfQ")),
                    "one character", TestQuery.list(OLDEST).after(new Cursor("_")),
                    "the longest", TestQuery.text("moon").after(new Cursor("A".repeat(2048))),
                    "cut", TestQuery.list(OLDEST).after(new Cursor(list.token().substring(3))),
                    "changed", TestQuery.list(OLDEST).after(new Cursor(list.token().replace(last, last == 'A' ? 'B' : 'A'))));
            wrong.forEach((what, ask) ->
                    assertThatThrownBy(() -> ask.of(index)).as(what).isInstanceOf(Cursor.InvalidException.class));
        }

        /** Writes, replaces and removes others, so that counts of words change too. */
        private void disturb() {
            try {
                for (int i = 0; i < 3; i++) {
                    int id = written++;
                    log.write(Item.of("music:noise:" + id, "title", "moon " + "noise ".repeat(id % 9))
                            .createdAt(random.nextInt(1000)));
                    log.erase("music:noise:" + random.nextInt(id + 1));
                }
                take();
            } catch (IndexUnavailableException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Nested
    class Texts {
        @Test
        void areFoundByAllTheirWordsInAnyAttribute() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "Blue Moon", "artist", "The Marcels"),
                    Item.of("music:tracks:2", "title", "Blue Monday", "artist", "New Order"),
                    Item.of(
                            "music:comments:3",
                            "body",
                            "a comment that is long enough to be no title at all, and says"
                                    + " blue somewhere, a good while before it says marcels, and then goes on a bit"));
            assertThat(TestQuery.text("marcels BLUE ").purisOf(index))
                    .as("all in one attribute first")
                    .containsExactly("music:comments:3", "music:tracks:1");
            assertThat(TestQuery.text("blue order").purisOf(index)).containsExactly("music:tracks:2");
            assertThat(TestQuery.text("blue nothing").purisOf(index)).isEmpty();
        }

        @Test
        void areFoundByPhrasesWithinOneAttribute() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "Blue Moon", "artist", "River"),
                    Item.of("music:tracks:2", "title", "Moon Blue", "artist", "River"),
                    Item.of(
                            "music:comments:3",
                            "body",
                            "so long a text that it cannot be taken for a title, and in the"
                                    + " midst of it there is a blue moon, as it were, before it goes on and ends"));
            assertThat(TestQuery.text("\"blue moon\"").purisOf(index)).containsExactly("music:tracks:1", "music:comments:3");
            assertThat(TestQuery.text("\"moon blue\" river").purisOf(index)).containsExactly("music:tracks:2");
            assertThat(TestQuery.text("\"moon river\"").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("\"blue  MOON\"").purisOf(index)).hasSize(2);
            assertThat(TestQuery.text("\"blue mooon\"").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("river \"blue moo").purisOf(index)).hasSize(2);
        }

        @Test
        void areFoundByBeginningsOfWords() throws Exception {
            take(Item.of("music:tracks:1", "title", "Beethoven"), Item.of("music:tracks:2", "title", "Bee"));
            assertThat(TestQuery.text("b").purisOf(index)).containsExactlyInAnyOrder("music:tracks:1", "music:tracks:2");
            assertThat(TestQuery.text("bee").purisOf(index)).containsExactly("music:tracks:2", "music:tracks:1");
            assertThat(TestQuery.text("beet").purisOf(index))
                    .as("then a slip")
                    .containsExactly("music:tracks:1", "music:tracks:2");
            assertThat(TestQuery.text("bee ").purisOf(index)).containsExactly("music:tracks:2");
            assertThat(TestQuery.text("bee*").purisOf(index)).hasSize(2);
            assertThat(TestQuery.text("beet* beethoven ").purisOf(index)).containsExactly("music:tracks:1");
            assertThat(TestQuery.text("beet beethoven").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("ethoven").purisOf(index)).isEmpty();
        }

        @Test
        void areFoundByBeginningsOfManyWords() throws Exception {
            for (int i = 0; i < 700; i++) {
                log.write(Item.of("music:tracks:" + i, "title", "word" + Integer.toString(i, 36)));
            }
            take();
            SearchResult result = TestQuery.text("wo").limit(10).of(index);
            assertThat(result.byShard()).isEqualTo(Map.of("br-1", 700L));
            assertThat(new TreeSet<>(TestQuery.text("wo").limit(100).allPagesOf(index, () -> {})))
                    .hasSize(700);
        }

        @Test
        void areFoundWithOneSlip() throws Exception {
            take(Item.of("music:tracks:1", "title", "sonata"));
            for (String slip : List.of("sonat ", "sonatta ", "sonota ", "osnata ", "onata ", "zonata ")) {
                assertThat(TestQuery.text(slip).purisOf(index)).as(slip).containsExactly("music:tracks:1");
            }
            for (String twoSlips : List.of("sonot ", "snoatta ", "son ")) {
                assertThat(TestQuery.text(twoSlips).purisOf(index)).as(twoSlips).isEmpty();
            }
        }

        @Test
        void haveNoSlipsInShortWordsAndNumbers() throws Exception {
            take(Item.of("music:tracks:1", "title", "sun 1999 ab12cd"));
            for (String other : List.of("son ", "1998 ", "ab13cd ", "su ")) {
                assertThat(TestQuery.text(other).purisOf(index)).as(other).isEmpty();
            }
        }

        @Test
        void areBestWithTheWordItselfThenItsBeginningThenASlip() throws Exception {
            String longer =
                    " among so many other words that nobody would take it for a title of anything at all, no, never";
            take(
                    Item.of("music:tracks:1", "title", "moons"),
                    Item.of("music:tracks:2", "title", "moonlit sky"),
                    Item.of("music:tracks:3", "title", "noon"),
                    Item.of("music:tracks:4", "title", "moon"),
                    Item.of("music:tracks:5", "title", "the moon and more"),
                    Item.of("music:tracks:6", "body", "see the moon" + longer));
            assertThat(TestQuery.text("moon").purisOf(index))
                    .containsExactly(
                            "music:tracks:4",
                            "music:tracks:5",
                            "music:tracks:6",
                            "music:tracks:1",
                            "music:tracks:2",
                            "music:tracks:3");
        }

        @Test
        void areFoundWhateverTheirAccentsAndCase() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "B\u00d6RN \u00e9t\u00e9"),
                    Item.of("music:tracks:2", "title", "Bo\u0308rn e\u0301te\u0301"),
                    Item.of("music:tracks:3", "title", "born ete"));
            for (String text : List.of("born ete ", "B\u00f6rn \u00e9t\u00e9 ", "bo\u0308rn E\u0301TE\u0301 ")) {
                assertThat(TestQuery.text(text).purisOf(index)).as(text).hasSize(3);
            }
            take(Item.of("music:tracks:4", "title", "Stra\u00dfe \u00e6ther Sm\u00f8rrebr\u00f8d \u0141\u00f3d\u017a"));
            for (String text : List.of("strasse ", "AETHER ", "smorrebrod ", "lodz ")) {
                assertThat(TestQuery.text(text).purisOf(index)).as(text).containsExactly("music:tracks:4");
            }
        }

        @Test
        void areFilteredAndCounted() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "moon").on("br-1"),
                    Item.of("music:users:2", "name", "moon").on("br-2").ownedBy("shop"),
                    Item.of("forum:posts:3", "body", "moon").on("br-2"),
                    Item.of("forum:posts:4", "body", "moon").merged("forum:posts:3"),
                    Item.of("forum:posts:5", "body", "moon").deleted());
            assertThat(TestQuery.text("moon").of(index).total()).isEqualTo(3);
            assertThat(TestQuery.text("moon").of(index).byCollection())
                    .isEqualTo(Map.of("music:tracks", 1L, "music:users", 1L, "forum:posts", 1L));
            assertThat(TestQuery.text("moon").of(index).byShard())
                    .containsExactly(Map.entry("br-2", 2L), Map.entry("br-1", 1L));
            assertThat(TestQuery.text("moon").namespaces("music").shards("br-2").purisOf(index))
                    .containsExactly("music:users:2");
            assertThat(TestQuery.text("moon").owners("shop").purisOf(index)).containsExactly("music:users:2");
            assertThat(TestQuery.text("moon").collections("forum:posts").statuses().purisOf(index))
                    .containsExactlyInAnyOrder("forum:posts:3", "forum:posts:4");
        }

        @Test
        void comeWithAllThatTheirDocumentSays() throws Exception {
            Item item = Item.of("music:tracks:1", "title", "Blue Moon", "note", "")
                    .bearing("trk_123456789abcdef")
                    .ownedBy("shop")
                    .on("br-9");
            take(item);
            SearchResult.Hit hit = TestQuery.text("moon").of(index).hits().getFirst();
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
            assertThat(TestQuery.text("moon").plain().of(index).hits().getFirst().highlights())
                    .isEmpty();
        }

        @Test
        void areNotWhatPurisOwnersAndShardsSay() throws Exception {
            take(Item.of("music:tracks:secret", "title", "moon").ownedBy("shop").on("berlin"));
            for (String text : List.of("music", "tracks", "secre", "shop", "berlin", "title", "active")) {
                assertThat(TestQuery.text(text).purisOf(index)).as(text).isEmpty();
            }
        }

        @Test
        void areInTheOrderOfTiersWhateverTheirWordsWeigh() throws Exception {
            String many = " and one and two and three and four and five";
            take(
                    Item.of("music:tracks:1", "title", "other", "artist", "blue moon"),
                    Item.of("music:tracks:2", "title", "blue moon river"),
                    Item.of("music:tracks:3", "title", "the moon is blue"),
                    Item.of("music:tracks:4", "title", "blue", "artist", "see the moon"),
                    Item.of("music:tracks:5", "title", "bluest moon"),
                    Item.of("music:tracks:6", "title", "bleu moon"),
                    Item.of("music:tracks:7", "title", "blue moon", "text", many),
                    Item.of("music:tracks:8", "title", "so blue", "text", "by the moon" + many));
            assertThat(TestQuery.text("blue moon ").purisOf(index))
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
        void areOrderedByTheAttributeThenByLength() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "some moon", "section", "x"),
                    Item.of("music:tracks:2", "title", "moon", "section", "other"),
                    Item.of("music:tracks:3", "title", "something else", "section", "moon"),
                    Item.of("music:tracks:4", "title", "a moon", "section", "x"),
                    Item.of("music:tracks:5", "title", "see", "section", "full moon"),
                    Item.of("music:tracks:6", "title", "sees", "section", "full moon"));
            assertThat(TestQuery.text("moon ").purisOf(index))
                    .containsExactly(
                            "music:tracks:2",
                            "music:tracks:3",
                            "music:tracks:4",
                            "music:tracks:1",
                            "music:tracks:5",
                            "music:tracks:6");
        }

        @Test
        void keepSignsThatBelongToWords() throws Exception {
            take(
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
            Map<String, List<String>> wanted = Map.of(
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
            for (Map.Entry<String, List<String>> each : wanted.entrySet()) {
                assertThat(TestQuery.text(each.getKey()).purisOf(index))
                        .as(each.getKey())
                        .isEqualTo(each.getValue());
            }
            for (String text : List.of("rock'n'roll", "rock n roll", "rock \u2018n\u2019 roll")) {
                assertThat(TestQuery.text(text).purisOf(index)).as(text).hasSize(3);
            }
            assertThat(TestQuery.text("c ").purisOf(index)).contains("music:t:1", "music:t:2", "music:t:3");
        }

        @Test
        void areFoundWithASlipThatLeavesDigitsAsTheyAre() throws Exception {
            take(
                    Item.of("music:tracks:1", "title", "python3"),
                    Item.of("music:tracks:2", "title", "python2"),
                    Item.of("music:tracks:3", "title", "git-lfs"));
            for (String slip : List.of("pyhton3 ", "pyton3 ", "pythonn3 ", "pytxon3 ", "pytho3n ", "xython3 ")) {
                assertThat(TestQuery.text(slip).purisOf(index)).as(slip).containsExactly("music:tracks:1");
            }
            assertThat(TestQuery.text("python4 ").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("git-lsf ").purisOf(index))
                    .as("a slip in a short word of a title")
                    .containsExactly("music:tracks:3");
            assertThat(TestQuery.text("\"git-lsf\"").purisOf(index)).isEmpty();
        }

        @Test
        void putTheObjectFirstWhoseNameWasTyped() throws Exception {
            take(
                    Item.of("music:tracks:one", "title", "one").bearing("trk_123456789abcdef"),
                    Item.of("music:tracks:7%3Aa", "title", "two"),
                    Item.of("music:users:one", "name", "three"),
                    Item.of("music:comments:4", "text", "one trk_123456789abcdef music:tracks:one"));
            log.writeRow(Item.of("music:ghosts:5", "title", "never seen").bearing("gho_123456789abcdef"));
            log.writeRow(Item.of("music:ghosts:6").deleted());
            take();
            assertThat(TestQuery.text("Music:Tracks:ONE").purisOf(index))
                    .startsWith("music:tracks:one")
                    .contains("music:comments:4");
            assertThat(TestQuery.text("TRK_123456789abcdef").purisOf(index)).startsWith("music:tracks:one");
            assertThat(TestQuery.text("one").purisOf(index))
                    .startsWith("music:tracks:one", "music:users:one")
                    .hasSize(3);
            assertThat(TestQuery.text("7:A").purisOf(index)).containsExactly("music:tracks:7%3Aa");
            assertThat(TestQuery.text("7%3aa").purisOf(index)).containsExactly("music:tracks:7%3Aa");
            for (String name : List.of("music:ghosts:5", "gho_123456789abcdef", "5")) {
                SearchResult found = TestQuery.text(name).of(index);
                assertThat(TestQuery.puris(found)).as(name).containsExactly("music:ghosts:5");
                assertThat(found.total()).isEqualTo(1);
                assertThat(found.byCollection()).isEqualTo(Map.of("music:ghosts", 1L));
                assertThat(found.hits().getFirst().attributes()).isEmpty();
            }
            assertThat(TestQuery.text("music:ghosts:6").purisOf(index)).isEmpty();
            assertThat(TestQuery.text("music:ghosts:6").statuses(Row.Status.DELETED).purisOf(index))
                    .containsExactly("music:ghosts:6");
            assertThat(TestQuery.text("music:ghosts:5").collections("music:tracks").purisOf(index))
                    .isEmpty();
            assertThat(TestQuery.text("one").collections("music:users").purisOf(index))
                    .containsExactly("music:users:one");
            assertThat(TestQuery.text("one").limit(1).allPagesOf(index, () -> {}))
                    .hasSize(3)
                    .doesNotHaveDuplicates();
        }

        @Test
        void areSearchedAsTheirCollectionDeclares() throws Exception {
            SearchedAttributes declared = SearchedAttributes.of(Map.of("artist", 5), Set.of("note"));
            log.write(
                    declared,
                    Item.of("music:tracks:1", "title", "the moon", "artist", "somebody", "note", "secret"),
                    Item.of("music:tracks:2", "title", "something", "artist", "the moon", "note", "moon"));
            take();
            assertThat(TestQuery.text("moon").purisOf(index)).containsExactly("music:tracks:2", "music:tracks:1");
            assertThat(TestQuery.text("secret").purisOf(index)).isEmpty();
            SearchResult.Hit hit = TestQuery.text("somebody").of(index).hits().getFirst();
            assertThat(hit.attributes())
                    .containsExactly(
                            Map.entry("artist", "somebody"),
                            Map.entry("note", "secret"),
                            Map.entry("title", "the moon"));
        }

        @Test
        void showTheTitleFirst() throws Exception {
            take(Item.of("music:tracks:1", "artist", "somebody", "title", "moon", "album", "x"));
            for (TestQuery ask : List.of(TestQuery.text("moon"), TestQuery.list(NEWEST))) {
                assertThat(ask.of(index).hits().getFirst().attributes().keySet())
                        .containsExactly("title", "album", "artist");
            }
        }

        @Test
        void areJudged() throws Exception {
            take(RelevanceCases.documents().toArray(Item[]::new));
            RelevanceCases.judge(index);
        }
    }

    @Nested
    class Highlights {
        private Map<String, List<String>> of(String typed, String... attributes) throws Exception {
            take(Item.of("music:tracks:1", attributes));
            return TestQuery.text(typed).of(index).hits().getFirst().highlights();
        }

        @Test
        void markWhatMatchesInEachAttribute() throws Exception {
            assertThat(of("moon blu", "title", "Blue Moon", "artist", "Moonlight", "genre", "pop"))
                    .isEqualTo(Map.of("title", List.of("<em>Blue</em> <em>Moon</em>")));
            assertThat(of("sonata ", "title", "A Sonat\u00e1, a sonnata"))
                    .isEqualTo(Map.of("title", List.of("A <em>Sonat\u00e1</em>, a <em>sonnata</em>")));
        }

        @Test
        void escapeTheText() throws Exception {
            assertThat(of("moon", "title", "<script>alert('moon')</script> & \"moon\""))
                    .isEqualTo(
                            Map.of(
                                    "title",
                                    List.of(
                                            "&lt;script&gt;alert(&#39;<em>moon</em>&#39;)&lt;/script&gt; &amp; &quot;<em>moon</em>&quot;")));
        }

        @Test
        void markAPhraseOnlyWhereItIsOne() throws Exception {
            assertThat(of("\"blue moon\"", "title", "moon, blue, blue moon", "artist", "blue"))
                    .isEqualTo(Map.of("title", List.of("moon, blue, <em>blue</em> <em>moon</em>")));
        }

        @Test
        void arePiecesOfALongText() throws Exception {
            String text = "word ".repeat(2000) + "moon " + "word ".repeat(2000);
            List<String> pieces = of("moon", "body", text).get("body");
            assertThat(pieces).hasSize(1);
            assertThat(pieces.getFirst())
                    .contains("<em>moon</em>")
                    .startsWith("\u2026")
                    .endsWith("\u2026");
            assertThat(pieces.getFirst().length()).isLessThan(300);

            assertThat(of("moon", "body", ("moon " + "word ".repeat(100)).repeat(50))
                            .get("body"))
                    .hasSizeBetween(2, 3);
        }
    }

    @Nested
    class HostileTexts {
        @Test
        void areBoundedAndFindNothingUnheardOf() throws Exception {
            Random random = new Random(11);
            for (int i = 0; i < 300; i++) {
                StringBuilder title = new StringBuilder();
                for (int word = 0; word < 12; word++) {
                    title.append(Integer.toString(random.nextInt(36 * 36 * 36), 36))
                            .append("aaaa ");
                }
                log.write(Item.of("music:tracks:" + i, "title", title.toString()));
            }
            take();
            List<String> hostile = List.of(
                    "*",
                    "?",
                    "**** ???? ~~~~ ^^^",
                    "a*".repeat(5000),
                    "a* ".repeat(3000),
                    "x".repeat(10_000),
                    "aaaa ".repeat(1000),
                    "\"",
                    "\"\"\"",
                    "\"\" \"",
                    "\"" + "aaaa ".repeat(1000) + "\"",
                    "\"aaaa",
                    "\u0000\u0001\u0007\u001b[31m\u007f\u0085",
                    "\ud800",
                    "\udc00 aaaa \ud83d",
                    "\u202e\u200b\ufeff\uffff",
                    "\ud83d\ude00".repeat(3000),
                    "e" + "\u0301".repeat(900),
                    "(a AND b) OR title:* +-&&||!{}[]^~:\\/",
                    "*:* OR _exists_:title",
                    "/.*.*.*.*a/ AND [* TO *]",
                    "{\"query\":{\"match_all\":{}}}",
                    "\u0300\u0301\u0302",
                    words(random, 1000),
                    words(random, ParsedQuery.MAX_WORDS),
                    "a b c d e f g h i j k l m n o p q r s t u v w x y z ".repeat(20),
                    "\u6771".repeat(5000));
            for (String text : hostile) {
                long begun = System.nanoTime();
                SearchResult result = TestQuery.text(text).of(index);
                assertThat(Duration.ofNanos(System.nanoTime() - begun))
                        .as(text.substring(0, Math.min(40, text.length())))
                        .isLessThan(Duration.ofSeconds(5));
                assertThat(result.total()).isLessThanOrEqualTo(300);
            }
            for (String nothing : List.of("*", "?", "\"\"", "!!!", "\u0000", "\ud800", "\u200b")) {
                assertThat(TestQuery.text(nothing).of(index))
                        .as(nothing)
                        .isEqualTo(new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null));
            }
        }

        private String words(Random random, int count) {
            StringBuilder words = new StringBuilder();
            for (int i = 0; i < count; i++) {
                words.append((char) ('a' + random.nextInt(26))).append("aaaa ");
            }
            return words.toString();
        }

        @Test
        void areFuzzed() throws Exception {
            take(Item.of("music:tracks:1", "title", "moon \ud83d\ude00 <b> \u0301"));
            long seed = new Random().nextLong();
            Random random = new Random(seed);
            String alphabet = "mon a\"*\\\u0000\u0301\ud83d\ude00\u6771<&'-_/:~?\n\t";
            for (int i = 0; i < 300; i++) {
                StringBuilder text = new StringBuilder();
                for (int length = 1 + random.nextInt(20); length > 0; length--) {
                    text.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
                try {
                    if (!text.toString().isBlank()) {
                        TestQuery.text(text.toString()).of(index);
                    }
                } catch (Throwable e) {
                    throw new AssertionError("seed " + seed + ": \"" + text + '"', e);
                }
            }
        }
    }

    @Nested
    class Homes {
        @Test
        void haveNothingThatIsBuiltAtFirst() throws Exception {
            assertThat(home.building()).isNull();
        }

        @Test
        void buildBesideTheIndexThatServesAndPromoteAtOnce() throws Exception {
            take(Item.of("music:tracks:1", "title", "old"), Item.of("music:ghosts:2", "title", "old"));
            index.commit(log.reached());

            SearchIndex built = home.build();
            assertThat(built.committed()).isEqualTo(IndexCheckpoint.NONE);
            List<IndexChange> fresh =
                    new FakeTopics().write(Item.of("music:tracks:1", "title", "new")).since(0);
            built.apply(fresh);
            built.refresh();
            assertThat(TestQuery.text("old").purisOf(index)).hasSize(2);
            assertThat(TestQuery.text("new").purisOf(index)).isEmpty();

            IndexCheckpoint reached = FakeTopics.reachedBy(fresh);
            built.commit(reached);
            home.promote();
            assertThat(TestQuery.text("new").purisOf(built)).containsExactly("music:tracks:1");
            assertThat(TestQuery.text("old").purisOf(index))
                    .as("readers that hold it")
                    .hasSize(2);
            home.drop(index);

            reopen();
            assertThat(home.building()).isNull();
            assertThat(index.committed()).isEqualTo(reached);
            assertThat(TestQuery.list(OLDEST).purisOf(index)).containsExactly("music:tracks:1");
            assertThat(TestQuery.text("old").purisOf(index)).isEmpty();
        }

        @Test
        void forgetTheIndexThatServedBeforeAlsoWhenNobodyDroppedIt() throws Exception {
            take(Item.of("music:tracks:1", "title", "old"));
            index.commit(log.reached());
            home.build().commit(IndexCheckpoint.NONE);
            home.promote();
            reopen();
            assertThat(TestQuery.list(OLDEST).purisOf(index)).isEmpty();
            assertThat(home.building()).isNull();
            home.build();
        }

        @Test
        void goOnWithWhatWasBeingBuilt() throws Exception {
            take(Item.of("music:tracks:1", "title", "old"));
            index.commit(log.reached());
            SearchIndex built = home.build();
            List<IndexChange> half =
                    new FakeTopics().write(Item.of("music:tracks:1", "title", "new")).since(0);
            built.apply(half);
            built.commit(FakeTopics.reachedBy(half));

            reopen();
            SearchIndex again = home.building();
            assertThat(again).isNotNull();
            assertThat(again.committed()).isEqualTo(FakeTopics.reachedBy(half));
            assertThat(TestQuery.text("old").purisOf(index)).containsExactly("music:tracks:1");
            assertThat(TestQuery.text("new").purisOf(again)).containsExactly("music:tracks:1");
            assertThatThrownBy(home::build).isInstanceOf(IllegalStateException.class);
            home.promote();
            reopen();
            assertThat(TestQuery.text("new").purisOf(index)).containsExactly("music:tracks:1");
        }

        @Test
        void dropWhatWasBeingBuilt() throws Exception {
            take(Item.of("music:tracks:1", "title", "old"));
            index.commit(log.reached());
            home.drop(home.build());
            assertThat(TestQuery.text("old").purisOf(index)).hasSize(1);
            home.drop(home.build());
            reopen();
            assertThat(home.building()).isNull();
            assertThat(TestQuery.text("old").purisOf(index)).hasSize(1);
        }

        @Test
        void openEachIndexOnce() {
            assertThatThrownBy(home::serving).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(home::promote).isInstanceOf(IllegalStateException.class);
        }

        @Test
        void openAnIndexAnewThatWasClosed() throws Exception {
            take(Item.of("music:tracks:1", "title", "kept"));
            index.commit(log.reached());
            index.close();
            assertThatThrownBy(() -> TestQuery.text("kept").of(index)).isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> index.apply(log.since(0))).isInstanceOf(IndexUnavailableException.class);
            index = home.serving();
            assertThat(index.committed()).isEqualTo(log.reached());
            assertThat(TestQuery.text("kept").purisOf(index)).hasSize(1);
        }

        @Test
        void answerReadersOfADroppedIndexThatItIsGone() throws Exception {
            SearchIndex built = home.build();
            home.promote();
            home.drop(index);
            assertThatThrownBy(() -> TestQuery.list(OLDEST).of(index)).isInstanceOf(IndexUnavailableException.class);
            assertThat(TestQuery.list(OLDEST).of(built).hits()).isEmpty();
        }
    }

    @Nested
    class Purges {
        @Test
        void leaveEverythingThatIsThere() throws Exception {
            for (int i = 0; i < 50; i++) {
                log.write(Item.of("music:tracks:" + i, "title", "moon " + i));
                if (i % 7 == 0) {
                    take();
                    index.commit(log.reached());
                }
            }
            take();
            for (int i = 0; i < 50; i += 3) {
                log.erase("music:tracks:" + i);
            }
            take();
            index.commit(log.reached());
            index.purge();
            index.refresh();
            assertIsWhatTheLogSays(index);
            assertThat(index.size().gone()).isZero();

            reopen();
            assertIsWhatTheLogSays(index);
            assertThat(index.committed()).isEqualTo(log.reached());
        }
    }
}
