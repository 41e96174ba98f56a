package dev.puri.search.lucene;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.NestedContracts;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contracts on Lucene. They run as integration tests because each case writes an index to disk. */
@Execution(ExecutionMode.CONCURRENT)
final class LuceneContractIT extends NestedContracts {
    @TempDir
    private Path folder;

    @Override
    protected IndexStore newStore() {
        return new LuceneStore(folder, new CursorSeal(new byte[32]));
    }
}
