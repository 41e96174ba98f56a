package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import org.jspecify.annotations.Nullable;

/** An index entry: the row of one identity in the identity table, or its searchable document. */
public sealed interface Entry {
    /** Returns the kind of this entry. */
    EntryKind kind();

    /** Returns the owner. */
    Owner owner();

    /** Returns the shard. */
    Shard shard();

    /** Returns the handle; null if the identity has none. */
    @Nullable
    Handle handle();

    /** Returns the status. */
    Row.Status status();

    /** Returns the identity into which this identity was merged; null if this identity was not merged. */
    @Nullable
    Puri mergedInto();

    /**
     * Returns the hash of this entry, see {@link RowHash}.
     *
     * @param puri the pURI of this entry
     */
    long hash(Puri puri);

    /**
     * A row of the identity table. The row contains the position of the last event that the registry answered for this
     * identity, even if that event changed nothing.
     */
    record OfIdentity(Row row) implements Entry {
        @Override
        public EntryKind kind() {
            return EntryKind.IDENTITY;
        }

        @Override
        public Owner owner() {
            return row.owner();
        }

        @Override
        public Shard shard() {
            return row.shard();
        }

        @Override
        public @Nullable Handle handle() {
            return row.handle();
        }

        @Override
        public Row.Status status() {
            return row.status();
        }

        @Override
        public @Nullable Puri mergedInto() {
            return row.mergedInto();
        }

        @Override
        public long hash(Puri puri) {
            return RowHash.of(puri, row);
        }
    }

    /** A document with the searchable attributes of an identity. */
    record OfDocument(Document document) implements Entry {
        @Override
        public EntryKind kind() {
            return EntryKind.DOCUMENT;
        }

        @Override
        public Owner owner() {
            return document.owner();
        }

        @Override
        public Shard shard() {
            return document.shard();
        }

        @Override
        public @Nullable Handle handle() {
            return document.handle();
        }

        @Override
        public Row.Status status() {
            return document.status();
        }

        @Override
        public @Nullable Puri mergedInto() {
            return document.mergedInto();
        }

        @Override
        public long hash(Puri puri) {
            return RowHash.of(puri, document);
        }
    }
}
