package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.Tokens;
import org.jspecify.annotations.Nullable;

/** The rows that waits for events look at: first the recent ones, which costs nothing, then those of the engine. */
final class IndexRows implements ReadYourWrites.Rows {
    private final Indexer indexer;

    IndexRows(Indexer indexer) {
        this.indexer = indexer;
    }

    @Override
    public @Nullable Position lastOf(Puri puri) {
        Position recent = lastRecentOf(puri);
        return recent != null
                ? recent
                : entry(EntryKind.IDENTITY, puri) instanceof Entry.OfIdentity entry
                        ? entry.row().position()
                        : null;
    }

    /**
     * Does not ask the engine: a slow answer would delay all waits and the feeder. Rows that the index had when it was
     * opened are not found here; a wait for one of those ends without a result, and the caller asks again.
     */
    @Override
    public @Nullable Position lastRecentOf(Puri puri) {
        IndexFeeder feed = feed();
        return feed == null ? null : feed.recentRows().lastOf(puri);
    }

    /** Whether readers see the document of a name as of an event, or a later one. Asks the engine; may block. */
    boolean isDocumentAsOf(Position token, Puri puri) {
        return entry(EntryKind.DOCUMENT, puri) instanceof Entry.OfDocument entry
                && Tokens.isAsOf(token, entry.document().position());
    }

    private @Nullable IndexFeeder feed() {
        ServingIndex served = indexer.serving();
        return served == null ? null : served.feed();
    }

    private @Nullable Entry entry(EntryKind kind, Puri puri) {
        ServingIndex served = indexer.acquire();
        if (served == null) {
            return null;
        }
        try {
            return served.index().entry(kind, puri);
        } catch (IndexUnavailableException e) {
            // The caller waits for the event then.
            return null;
        } finally {
            served.release();
        }
    }

    /** Looks among the recent rows only, since it is called for each change while anybody waits for a handle. */
    @Override
    public @Nullable Puri bearer(Handle handle) {
        IndexFeeder feed = feed();
        return feed == null ? null : feed.recentRows().bearer(handle);
    }

    /** Asks the engine for the bearer of a handle and remembers it; may block. */
    void learn(Handle handle) {
        if (bearer(handle) != null) {
            return;
        }
        ServingIndex served = indexer.acquire();
        if (served == null) {
            return;
        }
        try {
            IndexFeeder feed = served.feed();
            Puri puri = feed == null ? null : served.index().findByHandle(handle);
            if (feed != null && puri != null) {
                feed.recentRows().bearer(handle, puri);
            }
        } catch (IndexUnavailableException e) {
            // A later change may name the bearer; if none does, the wait ends without a result.
        } finally {
            served.release();
        }
    }

    @Override
    public boolean areThere() {
        return indexer.serving() != null;
    }
}
