package dev.puri.search.lucene;

import dev.puri.search.index.CommitContract;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryContract;
import dev.puri.search.index.HighlightContract;
import dev.puri.search.index.HostileTextContract;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.ListContract;
import dev.puri.search.index.PagingContract;
import dev.puri.search.index.StoreContract;
import dev.puri.search.index.TextSearchContract;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("ClassCanBeStatic") // JUnit's nested classes are inner classes.
final class LuceneContractTest {
    @TempDir
    private Path folder;

    private IndexStore store() {
        return new LuceneStore(folder, new CursorSeal(new byte[32]));
    }

    @Nested
    final class Entries extends EntryContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Commits extends CommitContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Lists extends ListContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Paging extends PagingContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Texts extends TextSearchContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Highlights extends HighlightContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class HostileTexts extends HostileTextContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }

    @Nested
    final class Stores extends StoreContract {
        @Override
        protected IndexStore open() {
            return store();
        }
    }
}
