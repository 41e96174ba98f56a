package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.SearchQuery.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Applying, replacing and reading single entries. */
public abstract class EntryContract extends SearchIndexContract {
    @Test
    void returnsEntriesAsApplied() throws Exception {
        apply(
                Item.of("music:tracks:1", "title", "One", "empty", "", "odd name \u00e9", "\u0000\ud83d\ude00 \"<&"),
                Item.of("music:tracks:2").withHandle("trk_123456789abcdef").on("eu~1:a/b"),
                Item.of("music:tracks:3", "title", "Three").merged("music:tracks:1"),
                Item.of("music:tracks:4", "title", "Four").deleted(),
                Item.of("music:b%3Ax:%E6%9D%B1", "title", "East").ownedBy("Catalog@2"));

        assertHasEntriesOfTopics(index);
        for (EntryKind kind : EntryKind.values()) {
            for (Map.Entry<Puri, Entry> each : topics.entries(kind).entrySet()) {
                assertThat(index.entry(kind, each.getKey())).isEqualTo(each.getValue());
            }
        }
        assertThat(index.entry(EntryKind.DOCUMENT, Puri.parse("music:tracks:4")))
                .isNull();
        assertThat(index.entry(EntryKind.IDENTITY, Puri.parse("music:tracks:9")))
                .isNull();
    }

    @Test
    void replacesAndDeletesEntries() throws Exception {
        apply(Item.of("music:tracks:1", "title", "before"), Item.of("music:tracks:2", "title", "before"));
        apply(Item.of("music:tracks:1", "title", "after").on("br-2"));
        topics.erase("music:tracks:2");
        apply();

        assertHasEntriesOfTopics(index);
        assertThat(SampleQuery.text("before").purisOf(index)).isEmpty();
        assertThat(SampleQuery.text("after").purisOf(index)).containsExactly("music:tracks:1");
        assertThat(SampleQuery.list(Order.NEWEST).run(index).byShard()).isEqualTo(Map.of("br-2", 1L));
    }

    @Test
    void writesAndDeletesWithinOneBatch() throws Exception {
        topics.write(Item.of("music:tracks:1", "title", "one")).erase("music:tracks:1");
        topics.write(Item.of("music:tracks:2", "title", "two")).erase("music:tracks:2");
        apply(Item.of("music:tracks:2", "title", "three"));

        assertHasEntriesOfTopics(index);
        assertThat(index.size().identities()).isEqualTo(1);
    }

    @Test
    void keepsEntriesOfTheOtherKind() throws Exception {
        apply(Item.of("music:tracks:1", "title", "one"));
        topics.writeRow(Item.of("music:tracks:1").deleted());
        apply();
        assertThat(SampleQuery.text("one").purisOf(index)).containsExactly("music:tracks:1");
        assertHasEntriesOfTopics(index);
    }

    @Test
    void ignoresLateAndRepeatedChanges() throws Exception {
        topics.write(Item.of("music:tracks:1", "title", "old")).erase("music:tracks:1");
        topics.write(Item.of("music:tracks:2", "title", "old"));
        topics.write(Item.of("music:tracks:2", "title", "new"), Item.of("music:tracks:1", "title", "new"));
        apply();

        for (IndexChange again : topics.since(0)) {
            index.apply(List.of(again));
            index.refresh();
            assertHasEntriesOfTopics(index);
        }
    }

    @Test
    void findsIdentitiesByHandle() throws Exception {
        apply(
                Item.of("music:tracks:1").withHandle("trk_123456789abcdef"),
                Item.of("music:tracks:2").withHandle("trk_223456789abcdef"),
                Item.of("music:tracks:3"));
        assertThat(index.findByHandle(new Handle("trk_223456789abcdef"))).isEqualTo(Puri.parse("music:tracks:2"));
        assertThat(index.findByHandle(new Handle("trk_323456789abcdef"))).isNull();

        topics.erase("music:tracks:2");
        apply();
        assertThat(index.findByHandle(new Handle("trk_223456789abcdef"))).isNull();
    }

    @Test
    void countsEntries() throws Exception {
        apply(
                Item.of("music:tracks:1"),
                Item.of("music:tracks:2"),
                Item.of("music:tracks:3").deleted());
        assertThat(index.size().identities()).isEqualTo(3);
        assertThat(index.size().documents()).isEqualTo(2);
        index.commit(topics.checkpoint());
        assertThat(index.size().bytes()).isPositive();
    }

    @Test
    void readsDuringWrites() throws Exception {
        apply(Item.of("music:tracks:0", "title", "steady"));
        AtomicReference<Throwable> failed = new AtomicReference<>();
        AtomicInteger reads = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        // Each write allows some reads. Otherwise the readers would take most of the processor time from the writer.
        Semaphore allowedReads = new Semaphore(0);
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(Thread.ofPlatform().start(() -> {
                try {
                    for (allowedReads.acquire(); !over.get(); allowedReads.acquire()) {
                        assertThat(SampleQuery.text("steady").purisOf(index)).containsExactly("music:tracks:0");
                        assertThat(SampleQuery.list(Order.OLDEST).run(index).hits())
                                .isNotEmpty();
                        assertThat(index.entry(EntryKind.IDENTITY, Puri.parse("music:tracks:0")))
                                .isNotNull();
                        reads.incrementAndGet();
                    }
                } catch (Throwable e) {
                    failed.set(e);
                }
            }));
        }
        try {
            for (int i = 1; i < 60 || reads.get() < 30; i++) {
                assertThat(failed.get()).isNull();
                allowedReads.release(3 * readers.size());
                apply(Item.of("music:tracks:" + i % 7, "title", i % 7 == 0 ? "steady" : "other " + i));
                if (i % 10 == 0) {
                    index.commit(topics.checkpoint());
                }
            }
        } finally {
            over.set(true);
            allowedReads.release(readers.size());
            for (Thread reader : readers) {
                reader.join();
            }
        }
        assertThat(failed.get()).isNull();
    }
}
