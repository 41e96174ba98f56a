package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A comparison of the index with its topics, by the search indexer. */
final class IndexVerification {
    /**
     * The kinds of difference: an entry is missing in the index, only the index has it (ghost), or it differs. Their
     * counts are printed in this order.
     */
    static final List<String> DIFFERENCES = List.of("missing", "ghost", "differs");

    private IndexVerification() {}

    /**
     * Runs the comparison.
     *
     * @param listener receives each line: the differences, and last the counts
     * @return the counts
     * @throws CommandException if the comparison did not complete
     */
    static JsonNode run(ApiClient indexer, Consumer<ApiClient.Response> listener) throws InterruptedException {
        AtomicReference<@Nullable JsonNode> lastLine = new AtomicReference<>();
        indexer.getLines("/v1/search/verify", line -> {
            if (line.json().has("done")) {
                lastLine.set(line.json());
            }
            listener.accept(line);
        });
        JsonNode summary = lastLine.get();
        if (summary == null || !summary.path("done").asBoolean()) {
            throw CommandException.failed("the comparison did not complete: "
                    + (summary == null
                            ? "the connection was lost"
                            : summary.path("detail").asText()));
        }
        return summary;
    }
}
