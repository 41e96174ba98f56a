package dev.puri.search.opensearch;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.NestedContracts;
import dev.puri.testkit.OpenSearchFixture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contracts on a real node. */
@Execution(ExecutionMode.CONCURRENT)
class OpenSearchContractIT extends NestedContracts {
    private static final AtomicInteger TESTS = new AtomicInteger();

    private final CursorSeal seal = new CursorSeal(new byte[32]);
    private final String alias = "contract-" + TESTS.incrementAndGet();

    @Override
    protected IndexStore newStore() {
        return new OpenSearchStore(NodeSettings.of(OpenSearchFixture.shared(), alias), seal);
    }
}
