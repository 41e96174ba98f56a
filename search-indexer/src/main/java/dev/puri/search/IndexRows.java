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

/**
 * The index as those who wait for an event look at it: what was heard lately first, which costs nothing, then
 * what the engine has.
 */
final class IndexRows implements ReadYourWrites.Rows {
    private final Indexer indexer;

    IndexRows(Indexer indexer) {
        this.indexer = indexer;
    }

    @Override
    public @Nullable Position lastOf(Puri puri) {
        Position heard = lastHeardOf(puri);
        return heard != null
                ? heard
                : entry(EntryKind.IDENTITY, puri) instanceof Entry.OfIdentity entry
                        ? entry.row().position()
                        : null;
    }

    /**
     * Without the engine, which may be slow, and then would hold up all who wait, and the feeding with them. What
     * an index that is opened anew had taken already is not heard of: who waits for that has to ask again.
     */
    @Override
    public @Nullable Position lastHeardOf(Puri puri) {
        Feed feed = feed();
        return feed == null ? null : feed.heard().lastOf(puri);
    }

    /** Whether readers see the document of an event of a name, or of a later one. Asks the engine; may block. */
    boolean isDocumentAsOf(Position token, Puri puri) {
        return entry(EntryKind.DOCUMENT, puri) instanceof Entry.OfDocument entry
                && Tokens.isAsOf(token, entry.document().position());
    }

    private @Nullable Feed feed() {
        Served served = indexer.serving();
        return served == null ? null : served.feed();
    }

    private @Nullable Entry entry(EntryKind kind, Puri puri) {
        Served served = indexer.enter();
        if (served == null) {
            return null;
        }
        try {
            return served.index().entry(kind, puri);
        } catch (IndexUnavailableException e) {
            // Nothing is known for now.
            return null;
        } finally {
            served.leave();
        }
    }

    /** As far as was heard of lately: who waits for a handle is looked at with everything that comes. */
    @Override
    public @Nullable Puri bearer(Handle handle) {
        Feed feed = feed();
        return feed == null ? null : feed.heard().bearer(handle);
    }

    /** Asks the engine who bears a handle, so that it is known from here on; may block. */
    void learn(Handle handle) {
        if (bearer(handle) != null) {
            return;
        }
        Served served = indexer.enter();
        if (served == null) {
            return;
        }
        try {
            Feed feed = served.feed();
            Puri puri = feed == null ? null : served.index().findByHandle(handle);
            if (feed != null && puri != null) {
                feed.heard().bearer(handle, puri);
            }
        } catch (IndexUnavailableException e) {
            // Then it is heard of, or it is not caught up.
        } finally {
            served.leave();
        }
    }

    @Override
    public boolean areThere() {
        return indexer.serving() != null;
    }
}
