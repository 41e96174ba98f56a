package dev.puri.search;

import dev.puri.http.StateDirectory;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PrivateFiles;
import dev.puri.search.lucene.LuceneStore;
import dev.puri.search.opensearch.OpenSearchStore;
import dev.puri.settings.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Opens the search engine that the settings name.
 *
 * @param directory the directory of this instance: Lucene's index, and the key that encrypts cursors
 */
record EngineFromSettings(SearchSettings settings, StateDirectory directory)
        implements Indexer.EngineOpener, AutoCloseable {
    private static final String CURSOR_KEY = "cursor.key";

    static EngineFromSettings of(SearchSettings settings) {
        return new EngineFromSettings(settings, StateDirectory.of(settings.stateDir(), "search"));
    }

    @Override
    public IndexStore open() throws IndexUnavailableException {
        return settings.engine().isOpenSearch()
                ? new OpenSearchStore(settings.openSearch(), seal())
                : new LuceneStore(directory.path(), seal());
    }

    private CursorSeal seal() throws IndexUnavailableException {
        Secret secret = settings.searchCursorSecret().orElse(null);
        if (secret != null) {
            return new CursorSeal(sha256(secret.value()));
        }
        try {
            PrivateFiles.createFolder(directory.path());
            return CursorSeal.ofFile(directory.path().resolve(CURSOR_KEY));
        } catch (IOException e) {
            throw new IndexUnavailableException(
                    "the key of cursors cannot be stored in " + directory.path() + " (" + e + ")", e);
        }
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public void close() {
        directory.close();
    }
}
