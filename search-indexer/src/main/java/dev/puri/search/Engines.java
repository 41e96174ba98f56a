package dev.puri.search;

import dev.puri.http.StateFolder;
import dev.puri.search.index.IndexHome;
import dev.puri.search.index.IndexUnavailableException;

/**
 * The engine that the settings name.
 *
 * @param folder of this instance, where Lucene keeps its index
 */
record Engines(SearchSettings settings, StateFolder folder) implements Indexer.Homes, AutoCloseable {
    static Engines of(SearchSettings settings) {
        return new Engines(settings, StateFolder.of(settings.stateDir(), "search"));
    }

    @Override
    public IndexHome open() throws IndexUnavailableException {
        throw new IllegalStateException("no engine " + settings.searchEngine());
    }

    @Override
    public void close() {
        folder.close();
    }
}
