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
 * People who look for packages, among those that this machine could install: through both engines, and through what
 * OpenSearch does with the same attributes when it is told nothing. Where a machine has no package lists it is skipped,
 * but not where the build is checked.
 *
 * <p>With {@code -Dpuri.judged=all} among all packages rather than some thousand; prints the table of
 * docs/performance.md.
 */
class PackagesJudgedIT {
    private static final int SOME = 8_000;

    @TempDir
    private Path folder;

    @Test
    void whatIsMeantComesFirstAndNeverLaterThanWithMultiMatch() throws Exception {
        JudgedPackages judged =
                JudgedPackages.read("all".equals(System.getProperty("puri.judged")) ? Integer.MAX_VALUE : SOME);
        if (System.getenv("CI") == null) {
            assumeTrue(judged.areThere(), "this machine has no package lists; apt-get update fetches them");
        }
        assertThat(judged.areThere()).as("package lists").isTrue();
        String url = OpenSearchFixture.shared().url();
        try (LuceneStore lucene = new LuceneStore(folder, new CursorSeal(new byte[32]));
                OpenSearchStore openSearch = new OpenSearchStore(
                        NodeSettings.settings(OpenSearchFixture.shared(), "judged"), new CursorSeal(new byte[32]));
                MultiMatch multiMatch = new MultiMatch(url, "multi-match")) {
            judged.by("lucene", judged.fill(lucene.serving()));
            judged.by("opensearch", judged.fill(openSearch.serving()));
            multiMatch.fill(judged.packages());
            judged.by("multi_match", multiMatch::search);
        }
        System.out.println(judged.table());
        judged.requireAllFound("lucene", "multi_match");
        judged.requireAllFound("opensearch", "multi_match");
    }
}
