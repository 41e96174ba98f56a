package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Commits, and purges, which commit too. */
public abstract class CommitContract extends SearchIndexContract {
    @Test
    void startsWithoutCheckpoint() throws Exception {
        assertThat(index.committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
        reopen();
        assertThat(index.committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
    }

    @Test
    void keepsEntriesAndCheckpoint() throws Exception {
        apply(Item.of("music:tracks:1", "title", "one"), Item.of("music:tracks:2", "title", "two"));
        index.commit(topics.checkpoint());
        assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());

        reopen();
        assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());
        assertHasEntriesOfTopics(index);
        assertThat(SampleQuery.text("two").purisOf(index)).containsExactly("music:tracks:2");
    }

    @Test
    void isCompletedByTheTopicsAfterTheCommit() throws Exception {
        Random random = new Random(5);
        IndexCheckpoint committed = IndexCheckpoint.NONE;
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 40; i++) {
                String puri = "music:tracks:" + random.nextInt(30);
                if (random.nextInt(4) == 0) {
                    topics.erase(puri);
                } else {
                    topics.write(Item.of(puri, "title", "round " + round + " of " + i));
                }
                if (random.nextInt(15) == 0) {
                    apply();
                    committed = topics.checkpoint();
                    index.commit(committed);
                }
            }
            apply();
            reopen();
            assertThat(index.committedCheckpoint()).isEqualTo(committed);
            index.apply(topics.after(index.committedCheckpoint()));
            index.refresh();
            assertHasEntriesOfTopics(index);
        }
    }

    @Test
    void keepsTheCheckpointWithoutChanges() throws Exception {
        index.commit(topics.write(Item.of("music:tracks:1")).checkpoint());
        reopen();
        assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());
    }

    @Test
    void purgeKeepsAllCurrentEntries() throws Exception {
        for (int i = 0; i < 50; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "moon " + i));
            if (i % 7 == 0) {
                apply();
                index.commit(topics.checkpoint());
            }
        }
        apply();
        for (int i = 0; i < 50; i += 3) {
            topics.erase("music:tracks:" + i);
        }
        apply();
        index.commit(topics.checkpoint());
        index.purge();
        index.refresh();
        assertHasEntriesOfTopics(index);
        assertThat(index.size().gone()).isZero();

        reopen();
        assertHasEntriesOfTopics(index);
        assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());
    }
}
