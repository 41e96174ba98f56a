package dev.puri.search.opensearch;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.SearchIndexContract;
import dev.puri.testkit.OpenSearchFixture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** On a real node. */
@Execution(ExecutionMode.CONCURRENT)
class OpenSearchContractIT extends SearchIndexContract {
    private static final AtomicInteger TESTS = new AtomicInteger();

    private final CursorSeal seal = new CursorSeal(new byte[32]);
    private final String alias = "contract-" + TESTS.incrementAndGet();

    @Override
    protected IndexStore open() {
        return new OpenSearchStore(NodeSettings.settings(OpenSearchFixture.shared(), alias), seal);
    }
}
