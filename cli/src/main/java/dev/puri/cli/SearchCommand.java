package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

@Command(
        name = "search",
        description = {
            "Search all shards by words, \"phrases\" and prefixes*. Without words, list all objects.",
            "With -o json, prints the indexer's response unchanged. To search for the name of a subcommand, put -- before"
                    + " the search words."
        },
        subcommands = {SearchCommand.ReindexCommand.class, SearchCommand.VerifyCommand.class})
final class SearchCommand extends Subcommand {
    private static final int MAX_TEXT_LENGTH = 60;

    @Parameters(arity = "0..*", paramLabel = "QUERY", description = "Search words. A result contains all of them.")
    private List<String> words = List.of();

    @Option(
            names = "--collection",
            paramLabel = "NAMESPACE:COLLECTION",
            description = "List only objects of this collection. --collection, --namespace, --shard and --owner may be"
                    + " repeated.")
    private List<String> collections = List.of();

    @Option(names = "--namespace", paramLabel = "NAME", description = "List only objects of this namespace.")
    private List<String> namespaces = List.of();

    @Option(names = "--shard", paramLabel = "NAME", description = "List only objects in this shard.")
    private List<String> shards = List.of();

    @Option(names = "--owner", paramLabel = "NAME", description = "List only objects of this owner.")
    private List<String> owners = List.of();

    @Option(
            names = "--order",
            paramLabel = "newest|oldest",
            description = "Order of a list without search words, by creation time (default: newest).")
    private @Nullable String order;

    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of results, 1 to 1000 (default: 20).")
    private @Nullable Integer limit;

    @Option(
            names = "--cursor",
            paramLabel = "CURSOR",
            description = "Print the next results of the search whose output contained this cursor.")
    private @Nullable String cursor;

    @Override
    public Integer call() throws InterruptedException {
        requireDecodable(words);
        ApiClient.Response response = ApiClient.ofIndexer(console(), settings()).get("/v1/search" + query());
        if (asJson()) {
            println(response.text().stripTrailing());
        } else {
            print(response.json());
        }
        return ExitStatus.DONE;
    }

    private String query() {
        StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
        if (!words.isEmpty()) {
            add(query, "q", String.join(" ", words));
        }
        collections.forEach(collection -> add(query, "collection", collection));
        namespaces.forEach(namespace -> add(query, "namespace", namespace));
        shards.forEach(shard -> add(query, "shard", shard));
        owners.forEach(owner -> add(query, "owner", owner));
        add(query, "order", order);
        add(query, "limit", limit);
        add(query, "cursor", cursor);
        return query.toString();
    }

    private static void add(StringJoiner query, String name, @Nullable Object value) {
        if (value != null) {
            query.add(name + '=' + URLEncoder.encode(value.toString(), StandardCharsets.UTF_8));
        }
    }

    private void print(JsonNode response) {
        TextTable table = new TextTable("PURI", "SHARD", "OWNER", "HANDLE", "TEXT");
        for (JsonNode result : response.path("results")) {
            table.row(
                    result.path("puri").asText(),
                    result.path("shard").asText(),
                    result.path("owner").asText(),
                    result.path("handle").asText(),
                    text(result.path("attributes")));
        }
        table.print(console().out());
        String next = response.path("cursor").asText();
        say("puri: " + response.path("results").size() + " of "
                + (response.path("totalIsExact").asBoolean() ? "" : "at least ")
                + response.path("total").asText()
                + (next.isEmpty() ? "" : "; for more results, repeat the search with --cursor " + next));
    }

    private static String text(JsonNode attributes) {
        String text = attributes.properties().stream()
                .map(attribute ->
                        attribute.getKey() + "=" + attribute.getValue().asText())
                .collect(Collectors.joining(", "));
        return text.codePointCount(0, text.length()) <= MAX_TEXT_LENGTH
                ? text
                : text.substring(0, text.offsetByCodePoints(0, MAX_TEXT_LENGTH - 1)) + "…";
    }

    /**
     * A subcommand of search. Search words and search options before its name are refused, because the user may want to
     * search for the name.
     */
    abstract static class MaintenanceCommand extends Subcommand {
        @ParentCommand
        private @Nullable SearchCommand search;

        final ApiClient indexer() {
            CommandException.requireUsage(
                    search == null || search.query().isEmpty(),
                    "search accepts either a subcommand or search words; to search for the"
                            + " name of a subcommand, put -- before the search words, as in: puri search -- reindex");
            return ApiClient.ofIndexer(console(), settings());
        }
    }

    @Command(
            name = "reindex",
            description = {
                "Rebuild the index while the current index serves searches. Then replace the current index. Shows the"
                        + " progress.",
                "If this command is interrupted, the rebuild continues; --cancel cancels it."
            })
    static final class ReindexCommand extends MaintenanceCommand {
        @Option(names = "--cancel", description = "Cancel the running rebuild.")
        private boolean cancel;

        @Override
        public Integer call() throws InterruptedException {
            RebuildProgress rebuild = RebuildProgress.ofIndex(this, indexer());
            return cancel ? rebuild.cancel() : rebuild.start();
        }
    }

    @Command(
            name = "verify",
            description = {
                "Compare the serving index with its topics and print every difference. The exit status is 1 if there is"
                        + " a difference.",
                "With -o json, prints the indexer's lines unchanged. The last line contains the counts."
            })
    static final class VerifyCommand extends MaintenanceCommand {
        @Override
        public Integer call() throws InterruptedException {
            JsonNode summary = IndexVerifyRequest.run(indexer(), line -> {
                if (asJson()) {
                    println(line.text());
                } else if (line.json().has("difference")) {
                    println(formatDifference(line.json()));
                }
                console().out().flush();
            });
            say("puri: " + summary.path("identities").asText() + " identities and "
                    + summary.path("documents").asText() + " documents compared; "
                    + IndexVerifyRequest.DIFFERENCES.stream()
                            .map(kind -> summary.path(kind).asText("0") + " " + kind)
                            .collect(Collectors.joining(", "))
                    + (summary.path("unsettled").asLong() == 0
                            ? ""
                            : ", " + summary.path("unsettled").asText()
                                    + " not compared, because they changed too often"));
            return IndexVerifyRequest.DIFFERENCES.stream()
                            .allMatch(kind -> summary.path(kind).asLong() == 0)
                    ? ExitStatus.DONE
                    : ExitStatus.FAILED;
        }

        private static String formatDifference(JsonNode line) {
            StringJoiner fields = new StringJoiner(", ", ": ", "").setEmptyValue("");
            line.path("fields").forEach(field -> fields.add(field.asText()));
            return line.path("difference").asText() + "  " + line.path("kind").asText() + "  "
                    + line.path("puri").asText() + fields;
        }
    }
}
