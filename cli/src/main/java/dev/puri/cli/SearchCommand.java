package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

@Command(
        name = "search",
        description = {
            "Search all shards by words, \"phrases\" and prefixes*, or list everything when no word is given.",
            "With -o json the indexer's answer as it is. A word that is a subcommand's name goes behind --."
        },
        subcommands = {SearchCommand.ReindexCommand.class, SearchCommand.VerifyCommand.class})
final class SearchCommand extends Subcommand {
    private static final int MAX_TEXT = 60;

    @Parameters(arity = "0..*", paramLabel = "QUERY", description = "Words that all must be found.")
    private List<String> words = List.of();

    @Option(
            names = "--collection",
            paramLabel = "NAMESPACE:COLLECTION",
            description = "Only of this collection; this and the next three may be repeated.")
    private List<String> collections = List.of();

    @Option(names = "--namespace", paramLabel = "NAME", description = "Only of this namespace.")
    private List<String> namespaces = List.of();

    @Option(names = "--shard", paramLabel = "NAME", description = "Only what lives in this shard.")
    private List<String> shards = List.of();

    @Option(names = "--owner", paramLabel = "NAME", description = "Only what this owner holds.")
    private List<String> owners = List.of();

    @Option(
            names = "--order",
            paramLabel = "newest|oldest",
            description = "Of a list, by when things were created (default: newest).")
    private @Nullable String order;

    @Option(names = "--limit", paramLabel = "N", description = "Most results, 1 to 1000 (default: 20).")
    private @Nullable Integer limit;

    @Option(names = "--cursor", paramLabel = "CURSOR", description = "Go on where the same search ended with this.")
    private @Nullable String cursor;

    @Override
    public Integer call() throws InterruptedException {
        requireText(words);
        Api.Response response = Api.search(console(), settings()).get("/v1/search" + query());
        if (asJson()) {
            console().out().println(response.text().stripTrailing());
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
        collections.forEach(each -> add(query, "collection", each));
        namespaces.forEach(each -> add(query, "namespace", each));
        shards.forEach(each -> add(query, "shard", each));
        owners.forEach(each -> add(query, "owner", each));
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
        Table table = new Table("PURI", "SHARD", "OWNER", "HANDLE", "TEXT");
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
        console()
                .say("puri: " + response.path("results").size() + " of "
                        + (response.path("totalIsExact").asBoolean() ? "" : "at least ")
                        + response.path("total").asText()
                        + (next.isEmpty() ? "" : "; the same search goes on with --cursor " + next));
    }

    private static String text(JsonNode attributes) {
        String all = attributes.properties().stream()
                .map(each -> each.getKey() + "=" + each.getValue().asText())
                .collect(Collectors.joining(", "));
        return all.codePointCount(0, all.length()) <= MAX_TEXT
                ? all
                : all.substring(0, all.offsetByCodePoints(0, MAX_TEXT - 1)) + "…";
    }

    /** A subcommand of search; it refuses search words before its name, which would be ambiguous. */
    abstract static class MaintenanceCommand extends Subcommand {
        @ParentCommand
        private @Nullable SearchCommand search;

        final Api indexer() {
            if (search != null && !search.query().isEmpty()) {
                throw CommandException.usage("search takes either a subcommand or what to search for; a word that is"
                        + " a subcommand's name goes behind --, as in: puri search -- reindex");
            }
            return Api.search(console(), settings());
        }
    }

    @Command(
            name = "reindex",
            description = {
                "Build the index anew beside the one that answers, which is then replaced by it; show how far it is.",
                "Ending this command does not end it: see --cancel."
            })
    static final class ReindexCommand extends MaintenanceCommand {
        private static final String PATH = "/v1/search/reindex";
        private static final Duration POLL = Duration.ofMillis(200);

        @Option(names = "--cancel", description = "Give up the one that is under way.")
        private boolean cancel;

        @Override
        public Integer call() throws InterruptedException {
            Api indexer = indexer();
            if (cancel) {
                indexer.delete(PATH);
            } else {
                indexer.post(PATH);
            }
            Api.Response response = indexer.get(PATH);
            while (response.json().path("state").asText().equals("running")) {
                showProgress(response.json());
                Thread.sleep(POLL);
                response = indexer.get(PATH);
            }
            clearProgress();
            print(response);
            String state = response.json().path("state").asText();
            return cancel || state.equals("done") ? ExitStatus.DONE : ExitStatus.FAILED;
        }

        private void print(Api.Response response) {
            if (asJson()) {
                console().out().println(response.text().stripTrailing());
                return;
            }
            new Table("STATE", "RECORDS", "SECONDS")
                    .row(
                            response.json().path("state").asText(),
                            response.json().path("records").asText(),
                            response.json().path("seconds").asText())
                    .print(console().out());
        }

        private void showProgress(JsonNode state) {
            if (!console().errIsTerminal()) {
                return;
            }
            long of = state.path("of").asLong();
            clearProgress();
            console()
                    .err()
                    .print("reindexing, "
                            + (of == 0 ? 0 : 100 * state.path("reached").asLong() / of) + " %, "
                            + state.path("records").asText("0") + " records");
            console().err().flush();
        }

        private void clearProgress() {
            if (console().errIsTerminal()) {
                console().err().print("\r\033[K");
                console().err().flush();
            }
        }
    }

    @Command(
            name = "verify",
            description = {
                "Compare the index that answers with its topics and show every difference; status 1 if there is any.",
                "With -o json the indexer's lines as they are, the last with the counts."
            })
    static final class VerifyCommand extends MaintenanceCommand {
        /** The differences, in the order in which they are counted. */
        private static final List<String> DIFFERENCES = List.of("missing", "ghost", "differs");

        @Override
        public Integer call() throws InterruptedException {
            AtomicReference<@Nullable JsonNode> last = new AtomicReference<>();
            indexer().lines("/v1/search/verify", line -> {
                if (line.json().has("done")) {
                    last.set(line.json());
                }
                if (asJson()) {
                    console().out().println(line.text());
                } else if (line.json().has("difference")) {
                    console().out().println(sentence(line.json()));
                }
                console().out().flush();
            });
            JsonNode summary = last.get();
            if (summary == null || !summary.path("done").asBoolean()) {
                throw CommandException.failed(
                        "the comparison did not come to its end: "
                                + (summary == null
                                        ? "the connection was lost"
                                        : summary.path("detail").asText()),
                        null);
            }
            console()
                    .say("puri: " + summary.path("identities").asText() + " identities and "
                            + summary.path("documents").asText() + " documents compared; "
                            + DIFFERENCES.stream()
                                    .map(each -> summary.path(each).asText("0") + " " + each)
                                    .collect(Collectors.joining(", "))
                            + (summary.path("unsettled").asLong() == 0
                                    ? ""
                                    : ", " + summary.path("unsettled").asText() + " that changed too often to tell"));
            return DIFFERENCES.stream().allMatch(each -> summary.path(each).asLong() == 0)
                    ? ExitStatus.DONE
                    : ExitStatus.FAILED;
        }

        private static String sentence(JsonNode line) {
            StringJoiner fields = new StringJoiner(", ", ": ", "").setEmptyValue("");
            line.path("fields").forEach(field -> fields.add(field.asText()));
            return line.path("difference").asText() + "  " + line.path("kind").asText() + "  "
                    + line.path("puri").asText() + fields;
        }
    }
}
