package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** The fixture of the contract tests. Each engine runs all subclasses on its own store. */
@Timeout(300)
public abstract class SearchIndexContract {
    IndexStore store;
    SearchIndex index;
    final FakeTopics topics = new FakeTopics();
    private int applied;

    /** Opens the store of one test. It is empty at first; later calls open it as the test left it. */
    protected abstract IndexStore open() throws Exception;

    @BeforeEach
    final void openIndex() throws Exception {
        store = open();
        index = store.openServing();
    }

    @AfterEach
    final void closeStore() {
        store.close();
    }

    /** Applies the new changes of the topics and makes them visible. */
    final void apply() throws IndexUnavailableException {
        index.apply(topics.since(applied));
        applied = topics.size();
        index.refresh();
    }

    final void apply(Item... items) throws IndexUnavailableException {
        topics.write(items);
        apply();
    }

    /** Reopens the store as after the end of a process, which may lose uncommitted changes. */
    final void reopen() throws Exception {
        store.close();
        openIndex();
    }

    final void assertHasEntriesOfTopics(SearchIndex tested) throws Exception {
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> entries = new HashMap<>();
            tested.forEach(
                    kind,
                    (puri, entry) -> assertThat(entries.put(puri, entry))
                            .as("%s occurs twice", puri)
                            .isNull());
            assertThat(entries).isEqualTo(topics.entries(kind));
        }
    }
}
