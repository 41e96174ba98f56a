package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.imports.SourceIndex.Claim;
import dev.puri.cli.imports.SourceIndex.Name;
import dev.puri.schemas.identity.Shard;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SourceIndexTest {
    @TempDir
    private Path folder;

    /** The table is so small that most names are in files. */
    @Test
    void findsNamesInMemoryAndInFiles() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, Claim> model = new HashMap<>();
        try (SourceIndex index = new SourceIndex(folder.resolve("index"), 64)) {
            for (int i = 1; i <= 5_000; i++) {
                String name = "a:b:" + random.nextInt(3_000);
                Claim found = index.find(Name.of(name));
                assertThat(found).as(name + ", seed " + seed).isEqualTo(model.get(name));
                if (found == null) {
                    Claim claim = new Claim(random.nextInt(3), i, new Shard("br-" + random.nextInt(20)));
                    index.put(Name.of(name), claim);
                    model.put(name, claim);
                }
            }
            model.forEach((name, claim) -> assertThat(index.find(Name.of(name)))
                    .as(name + ", seed " + seed)
                    .isEqualTo(claim));
        }
    }

    @Test
    void growsInMemory() {
        try (SourceIndex index = new SourceIndex(folder.resolve("index"))) {
            for (int i = 1; i <= 10_000; i++) {
                index.put(Name.of("a:b:" + i), new Claim(0, i, new Shard("br-1")));
            }
            for (int i = 1; i <= 10_000; i++) {
                assertThat(index.find(Name.of("a:b:" + i))).isEqualTo(new Claim(0, i, new Shard("br-1")));
            }
            assertThat(index.find(Name.of("a:b:0"))).isNull();
        }
        assertThat(folder.resolve("index")).doesNotExist();
    }
}
