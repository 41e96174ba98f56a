package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "resolve",
        description = {
            "Ask a resolver which shards have the given objects. Each reference is a pURI, in any case, or a handle.",
            "With -o json, prints the resolver's response."
        })
final class ResolveCommand extends Subcommand {
    /** The number of references in a request: the default maximum of a resolver. */
    private static final int BATCH_SIZE = 1000;

    /** The verdicts of references for which the resolver found an identity. */
    private static final Set<String> FOUND_VERDICTS = Set.of("found", "merged");

    @Parameters(arity = "1..*", paramLabel = "REF", description = "pURI or handle.")
    private List<String> refs = List.of();

    @Option(
            names = "--group-by",
            paramLabel = "shard",
            description = "Also list the references of each shard, as indexes that begin at 0.")
    private @Nullable String groupBy;

    @Override
    public Integer call() throws InterruptedException {
        CommandException.requireUsage(
                groupBy == null || groupBy.equals("shard"), "--group-by must be shard, not " + groupBy);
        requireDecodable(refs);
        ApiClient resolver = ApiClient.ofResolver(console(), settings());
        List<ApiClient.Response> responses = new ArrayList<>();
        for (int from = 0; from < refs.size(); from += BATCH_SIZE) {
            List<String> batch = refs.subList(from, Math.min(refs.size(), from + BATCH_SIZE));
            responses.add(resolver.post(
                    "/v1/resolve",
                    Json.toText(new JsonObject().with("refs", batch).with("groupBy", groupBy))));
        }
        JsonNode joined = join(responses.stream().map(ApiClient.Response::json).toList());
        JsonNode results = joined.path("results");
        if (asJson()) {
            println(responses.size() == 1 ? responses.getFirst().text().stripTrailing() : Json.toText(joined));
        } else {
            print(results, joined.path("shards"));
        }
        for (JsonNode result : results) {
            if (!FOUND_VERDICTS.contains(result.path("verdict").asText())) {
                return ExitStatus.PARTLY;
            }
        }
        return ExitStatus.DONE;
    }

    /** Joins the responses to several batches. The indexes of references become indexes in the joined list. */
    static JsonNode join(List<JsonNode> responses) {
        if (responses.size() == 1) {
            return responses.getFirst();
        }
        ObjectNode joined = JsonNodeFactory.instance.objectNode();
        ArrayNode results = joined.putArray("results");
        SortedMap<String, ArrayNode> shards = new TreeMap<>();
        for (JsonNode response : responses) {
            int offset = results.size();
            response.path("results").forEach(results::add);
            response.path("shards").properties().forEach(shard -> {
                ArrayNode indexes =
                        shards.computeIfAbsent(shard.getKey(), name -> JsonNodeFactory.instance.arrayNode());
                shard.getValue().forEach(index -> indexes.add(index.asInt() + offset));
            });
        }
        if (responses.getFirst().has("shards")) {
            joined.putObject("shards").setAll(shards);
        }
        return joined;
    }

    private void print(JsonNode results, JsonNode shards) {
        TextTable table = new TextTable("REF", "VERDICT", "SHARD", "OWNER", "UUID", "HANDLE", "NOTE");
        for (JsonNode result : results) {
            table.row(
                    text(result, "ref"),
                    text(result, "verdict"),
                    text(result, "shard"),
                    text(result, "owner"),
                    text(result, "uuid"),
                    text(result, "handle"),
                    note(result));
        }
        table.print(console().out());
        shards.properties().forEach(shard -> println(shard.getKey() + ": " + Json.toText(shard.getValue())));
    }

    private static String note(JsonNode result) {
        if (result.path("importing").asBoolean()) {
            return "may still be imported";
        }
        return result.has("detail") ? text(result, "detail") : text(result, "canonical");
    }

    private static String text(JsonNode result, String field) {
        return result.path(field).asText();
    }
}
