package dev.puri.search;

import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Position;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Looks up rows for requests that wait for an event. The first check of a wait may ask the index; later checks read
 * only the recent rows in memory.
 */
final class IndexRows implements ReadYourWrites.Rows {
    private final Indexer indexer;

    IndexRows(Indexer indexer) {
        this.indexer = indexer;
    }

    @Override
    public @Nullable Position lastEventOf(Puri puri) {
        Position recent = lastRecentOf(puri);
        if (recent != null) {
            return recent;
        }
        Entry row = entry(EntryKind.IDENTITY, puri);
        return row == null ? null : row.position();
    }

    /**
     * Does not ask the engine, because a slow engine would delay all waits and the feeder. So this finds only rows that
     * are still among the recent rows. {@link #lastEventOf}, the first check of a wait, finds the others.
     */
    @Override
    public @Nullable Position lastRecentOf(Puri puri) {
        IndexFeeder feeder = indexer.servingFeeder();
        return feeder == null ? null : feeder.recentRows().lastEventOf(puri);
    }

    /**
     * Returns whether the visible document of a pURI was written for the token's event or for a later one. Asks the
     * engine; may block.
     */
    boolean isDocumentAsOf(Position token, Puri puri) {
        Entry document = entry(EntryKind.DOCUMENT, puri);
        return document != null && Tokens.isAsOf(token, document.position());
    }

    private @Nullable Entry entry(EntryKind kind, Puri puri) {
        try (ServingIndex serving = indexer.acquire()) {
            return serving == null ? null : serving.index().entry(kind, puri);
        } catch (IndexUnavailableException e) {
            // Then the caller waits for the event.
            return null;
        }
    }

    /** Checks the recent rows only, because it is called for each change while a request waits for a handle. */
    @Override
    public @Nullable Puri puriOf(Handle handle) {
        IndexFeeder feeder = indexer.servingFeeder();
        return feeder == null ? null : feeder.recentRows().puriOf(handle);
    }

    /** Asks the engine for the pURI of the identity that has a handle, and adds it to the recent rows. May block. */
    void cachePuriOf(Handle handle) {
        if (puriOf(handle) != null) {
            return;
        }
        try (ServingIndex serving = indexer.acquire()) {
            IndexFeeder feeder = serving == null ? null : serving.feeder();
            if (serving == null || feeder == null) {
                return;
            }
            Puri puri = serving.index().findByHandle(handle);
            if (puri != null) {
                feeder.recentRows().putPuriIfAbsent(handle, puri);
            }
        } catch (IndexUnavailableException e) {
            // A later change may contain the handle. Otherwise the wait ends without a result.
        }
    }

    @Override
    public boolean isServing() {
        return indexer.serving() != null;
    }
}
