package dev.puri.search.lucene;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.NestedContracts;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class LuceneContractTest extends NestedContracts {
    @TempDir
    private Path folder;

    @Override
    protected IndexStore newStore() {
        return new LuceneStore(folder, new CursorSeal(new byte[32]));
    }
}
