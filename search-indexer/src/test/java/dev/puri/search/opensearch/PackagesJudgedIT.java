package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.JudgedPackages;
import dev.puri.search.lucene.LuceneStore;
import dev.puri.testkit.OpenSearchFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the ranking of both engines with OpenSearch's {@code multi_match} under default settings, on the packages
 * that this machine can install. The test is skipped on a machine without package lists, except in CI.
 *
 * <p>{@code -Dpuri.judged=all} uses all packages instead of some thousand. Prints the table of docs/performance.md.
 */
class PackagesJudgedIT {
    private static final int SOME = 8_000;

    @TempDir
    private Path folder;

    @Test
    void ranksMeantPackagesFirstAndNeverBelowMultiMatch() throws Exception {
        JudgedPackages judged =
                JudgedPackages.read("all".equals(System.getProperty("puri.judged")) ? Integer.MAX_VALUE : SOME);
        if (System.getenv("CI") == null) {
            assumeTrue(judged.exist(), "this machine has no package lists; apt-get update fetches them");
        }
        assertThat(judged.exist()).as("package lists").isTrue();
        String url = OpenSearchFixture.shared().url();
        try (LuceneStore lucene = new LuceneStore(folder, new CursorSeal(new byte[32]));
                OpenSearchStore openSearch = new OpenSearchStore(
                        NodeSettings.of(OpenSearchFixture.shared(), "judged"), new CursorSeal(new byte[32]));
                MultiMatch multiMatch = new MultiMatch(url, "multi-match")) {
            judged.measure("lucene", judged.fill(lucene.openServing()));
            judged.measure("opensearch", judged.fill(openSearch.openServing()));
            multiMatch.fill(judged.packages());
            judged.measure("multi_match", multiMatch::search);
        }
        System.out.println(judged.table());
        judged.requireAllFound("lucene", "multi_match");
        judged.requireAllFound("opensearch", "multi_match");
    }
}
