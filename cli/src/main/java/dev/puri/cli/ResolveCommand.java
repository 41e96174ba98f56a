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
            "Ask a resolver where objects live: pURIs in any casing, or handles, mixed.",
            "With -o json the resolver's answer as it is."
        })
final class ResolveCommand extends Subcommand {
    /** The default maximum of a resolver. */
    private static final int BATCH = 1000;

    private static final Set<String> RESOLVED = Set.of("found", "merged");

    @Parameters(arity = "1..*", paramLabel = "REF", description = "A pURI or a handle.")
    private List<String> refs = List.of();

    @Option(
            names = "--group-by",
            paramLabel = "shard",
            description = "Also list, for each shard, which of the refs live there (indexes from 0).")
    private @Nullable String groupBy;

    @Override
    public Integer call() throws InterruptedException {
        if (groupBy != null && !groupBy.equals("shard")) {
            throw CommandException.usage("--group-by: shard is the only grouping, not " + groupBy);
        }
        requireText(refs);
        Api resolver = Api.resolver(console(), settings());
        List<Api.Response> answers = new ArrayList<>();
        for (int from = 0; from < refs.size(); from += BATCH) {
            List<String> batch = refs.subList(from, Math.min(refs.size(), from + BATCH));
            answers.add(resolver.post("/v1/resolve", Json.print(Json.object("refs", batch, "groupBy", groupBy))));
        }
        JsonNode answer = joined(answers.stream().map(Api.Response::json).toList());
        JsonNode results = answer.path("results");
        if (asJson()) {
            console()
                    .out()
                    .println(answers.size() == 1 ? answers.getFirst().text().stripTrailing() : Json.print(answer));
        } else {
            print(results, answer.path("shards"));
        }
        for (JsonNode result : results) {
            if (!RESOLVED.contains(result.path("verdict").asText())) {
                return ExitStatus.PARTLY;
            }
        }
        return ExitStatus.DONE;
    }

    /** Joins the responses to several batches; adds offsets to the indexes of shards. */
    static JsonNode joined(List<JsonNode> answers) {
        if (answers.size() == 1) {
            return answers.getFirst();
        }
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        ArrayNode results = all.putArray("results");
        SortedMap<String, ArrayNode> shards = new TreeMap<>();
        for (JsonNode answer : answers) {
            int offset = results.size();
            answer.path("results").forEach(results::add);
            answer.path("shards").properties().forEach(shard -> {
                ArrayNode indexes =
                        shards.computeIfAbsent(shard.getKey(), name -> JsonNodeFactory.instance.arrayNode());
                shard.getValue().forEach(index -> indexes.add(index.asInt() + offset));
            });
        }
        if (answers.getFirst().has("shards")) {
            all.putObject("shards").setAll(shards);
        }
        return all;
    }

    private void print(JsonNode results, JsonNode shards) {
        Table table = new Table("REF", "VERDICT", "SHARD", "OWNER", "UUID", "HANDLE", "NOTE");
        for (JsonNode result : results) {
            table.row(
                    text(result, "ref"),
                    text(result, "verdict"),
                    text(result, "shard"),
                    text(result, "owner"),
                    text(result, "uuid"),
                    text(result, "handle"),
                    result.has("detail") ? text(result, "detail") : text(result, "canonical"));
        }
        table.print(console().out());
        shards.properties()
                .forEach(shard -> console().out().println(shard.getKey() + ": " + Json.print(shard.getValue())));
    }

    private static String text(JsonNode result, String field) {
        return result.path(field).asText();
    }
}
