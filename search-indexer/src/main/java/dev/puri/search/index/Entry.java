package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import org.jspecify.annotations.Nullable;

/** What the index keeps under a pURI, of either kind. */
public sealed interface Entry {
    /** Of which kind it is. */
    EntryKind kind();

    /** Who owns it. */
    Owner owner();

    /** Where it lives. */
    Shard shard();

    /** Its public name; null where there is none. */
    @Nullable
    Handle handle();

    /** What state it is in. */
    Row.Status status();

    /** A row. Its position is that of the last event that was answered, whether it changed the row or not. */
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
    }

    /** A document. */
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
    }
}
