package dev.puri.search.index;

import org.junit.jupiter.api.Nested;

/** All contracts of an engine. */
@SuppressWarnings("ClassCanBeStatic") // JUnit's nested classes are inner classes.
public abstract class NestedContracts {
    /** Opens the store of the test; called again to open it after a close. */
    protected abstract IndexStore newStore();

    @Nested
    final class Entries extends EntryContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Digests extends DigestContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Commits extends CommitContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Lists extends ListContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Paging extends PagingContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Texts extends TextSearchContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Highlights extends HighlightContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class HostileTexts extends HostileTextContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }

    @Nested
    final class Stores extends StoreContract {
        @Override
        protected IndexStore open() {
            return newStore();
        }
    }
}
