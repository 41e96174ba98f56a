package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.search.index.EntryKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Comparisons of the index with its topics. */
final class VerificationIT extends SearchServerFixture {
    @Test
    void verificationReportsExactlyThePlantedDifferences() throws Exception {
        topics.fill("soundcloud:tracks", 0, 200);
        start(Map.of());
        awaitReady();
        assertThat(verify()).containsExactly("done 200 200 0");

        MemoryIndex index = store.serving();
        index.plant(change(EntryKind.IDENTITY, "soundcloud:tracks:7", null));
        index.plant(change(EntryKind.IDENTITY, "soundcloud:tracks:8", Samples.active(8, "br-9")));
        index.plant(change(EntryKind.DOCUMENT, "ghost:in:index", Samples.document(Samples.active(9, "br-9"), "boo")));
        index.plant(change(
                EntryKind.DOCUMENT, "soundcloud:tracks:9", Samples.document(Samples.active(9, "br-0"), "other")));

        assertThat(verify())
                .containsExactlyInAnyOrder(
                        "soundcloud:tracks:7 identity missing []",
                        "soundcloud:tracks:8 identity differs [\"shard\",\"position\"] br-9",
                        "ghost:in:index document ghost [] br-9",
                        "soundcloud:tracks:9 document differs [\"attributes\"]",
                        "done 200 200 4");
    }

    @Test
    void refusesAVerificationThatExceedsTheHeap() {
        store.serving().addReportedIdentities(Long.MAX_VALUE / 2);
        start(Map.of());
        awaitReady();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> !get("/v1/stats", 200).contains("\"identities\":0"));

        assertThat(get("/v1/search/verify", 503)).contains("too-many-to-verify", "half of the heap");
    }

    private List<String> verify() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String line : get("/v1/search/verify", 200).split("\n", -1)) {
            if (!line.isEmpty()) {
                JsonNode json = JSON.readTree(line);
                lines.add(
                        json.has("done")
                                ? "done " + json.path("identities") + ' ' + json.path("documents") + ' '
                                        + (json.path("missing").asLong()
                                                + json.path("ghost").asLong()
                                                + json.path("differs").asLong()
                                                + json.path("unsettled").asLong())
                                : json.path("puri").asText()
                                        + ' '
                                        + json.path("kind").asText()
                                        + ' '
                                        + json.path("difference").asText()
                                        + ' '
                                        + (json.has("fields") ? json.path("fields") : "[]")
                                        + (json.at("/indexed/shard").isMissingNode()
                                                ? ""
                                                : " "
                                                        + json.at("/indexed/shard")
                                                                .asText()));
            }
        }
        return lines;
    }
}
