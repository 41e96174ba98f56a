package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Shard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The example of the package's documentation runs, and equals the documented text. */
class PackageExampleTest {
    private final List<String> used = new ArrayList<>();

    private void use(Shard shard, UUID uuid) {
        used.add(shard + " " + uuid);
    }

    private static CompletionStage<Map<UUID, String>> titlesOf(Shard shard, List<Located> located) {
        Map<UUID, String> titles = new HashMap<>();
        located.forEach(each -> titles.put(each.uuid(), "a title of " + shard));
        return CompletableFuture.completedFuture(titles);
    }

    private void example(String first, String second) {
        // begin
        ResolverOptions options = ResolverOptions.at(first, second)
                .hedgeAfter(Duration.ofMillis(50))
                .cacheSize(100_000)
                .build();
        try (ResolverClient resolver = ResolverClient.open(options)) {
            Verdict verdict = resolver.resolve("soundcloud:tracks:123");
            if (verdict instanceof Verdict.Found found) {
                use(found.placement().shard(), found.placement().uuid());
            }

            Scatter scatter = new Scatter(resolver, 8, Duration.ofSeconds(2));
            List<Gathered<String>> titles = scatter.gather(
                            Ref.all(List.of("soundcloud:tracks:123", "trk_4k7vx9tz2nqr8w3")),
                            (shard, located) -> titlesOf(shard, located))
                    .toCompletableFuture()
                    .join();
            // end
            titles.forEach(each -> used.add(((Gathered.Row<String>) each).row()));
        }
    }

    @Test
    void theExampleRunsAgainstTwoResolvers() {
        try (FakeResolver one = new FakeResolver();
                FakeResolver two = new FakeResolver()) {
            example(one.url(), two.url());
        }
        assertThat(used).containsExactly("br-1 " + FakeResolver.UUID, "a title of br-1", "a title of br-1");
    }

    @Test
    void theExampleIsThatOfTheDocumentation() throws IOException {
        String documented = Files.readString(Path.of("src/main/java/dev/puri/client/resolve/package-info.java"))
                .replaceAll("(?m)^ \\* ?", "")
                .replaceAll("\"http://resolver-1:8080\", \"http://resolver-2:8080\"", "first, second");
        String here = Files.readString(Path.of("src/test/java/dev/puri/client/resolve/PackageExampleTest.java"));
        String example = here.substring(here.indexOf("// begin") + 8, here.indexOf("// end"));
        assertThat(documented.replaceAll("\\s+", "")).contains(example.replaceAll("\\s+", ""));
    }
}
