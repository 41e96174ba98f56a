package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Requests a comparison of the index with its topics from the search indexer, and reads its result. */
final class IndexVerifyRequest {
    /**
     * The kinds of difference, in the order in which their counts are printed: missing (only the topic has the entry),
     * ghost (only the index has it), and differs (both have it, with different fields).
     */
    static final List<String> DIFFERENCES = List.of("missing", "ghost", "differs");

    private IndexVerifyRequest() {}

    /**
     * Runs the comparison.
     *
     * @param listener receives each line: the differences, and last the counts
     * @return the counts
     * @throws CommandException if the comparison did not complete
     */
    static JsonNode run(ApiClient indexer, Consumer<ApiClient.Response> listener) throws InterruptedException {
        AtomicReference<@Nullable JsonNode> summaryLine = new AtomicReference<>();
        indexer.getLines("/v1/search/verify", line -> {
            if (line.json().has("done")) {
                summaryLine.set(line.json());
            }
            listener.accept(line);
        });
        JsonNode summary = summaryLine.get();
        if (summary == null || !summary.path("done").asBoolean()) {
            throw CommandException.failed("the comparison did not complete: "
                    + (summary == null
                            ? "the connection was lost"
                            : summary.path("detail").asText()));
        }
        return summary;
    }
}
