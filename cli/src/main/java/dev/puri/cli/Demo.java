package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.client.CollectionRegistry;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.log.Event;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Loads the {@link DemoData} into a running registry, sends requests for its identities, and checks every response. */
final class Demo {
    /** Maximum time until the table and the index show published events. */
    private static final Duration CATCH_UP_TIMEOUT = Duration.ofSeconds(15);

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 20;

    private final Console console;
    private final EmbeddedStack stack;
    private final DemoData sample = new DemoData();
    private final List<String> differences = new ArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    Demo(Console console, EmbeddedStack stack) {
        this.console = console;
        this.stack = stack;
    }

    /**
     * Runs the demo.
     *
     * @return a sentence for each unexpected result
     */
    List<String> run() throws IOException, InterruptedException {
        load();
        for (DemoRequest request : lookUps()) {
            check(request, stack.resolverUrl());
        }
        check(publicLookUp(), stack.publicResolverUrl());
        for (DemoRequest request : searches()) {
            check(request, stack.indexerUrl());
        }
        checkRejections();
        return List.copyOf(differences);
    }

    private void load() throws IOException, InterruptedException {
        DeclarationResult result =
                new CollectionRegistry(settings().clientProperties(), REQUEST_TIMEOUT).apply(DemoData.collections());
        if (result instanceof DeclarationResult.Conflicts conflicts) {
            throw CommandException.failed("the sample's collections conflict: " + conflicts);
        }
        Publication.Summary creations = publish(sample.firstBatch());
        expect("creations", summary(sample.firstBatch().size(), 0, 0), creations);

        Map<Event, String> expectedOutcomes = sample.secondBatch();
        Publication.Summary changes = publish(expectedOutcomes.keySet());
        long applied = count(expectedOutcomes, "applied");
        long unchanged = count(expectedOutcomes, "unchanged");
        expect("changes", summary(applied, unchanged, expectedOutcomes.size() - applied - unchanged), changes);

        console.out()
                .println(creations.published() + changes.published() + " events of "
                        + DemoData.collections().size() + " collections from " + DemoData.shardCount() + " shards: "
                        + (creations.applied() + changes.applied()) + " applied, " + changes.unchanged()
                        + " unchanged, "
                        + changes.refused() + " refused.");
    }

    private static long count(Map<Event, String> expectedOutcomes, String outcome) {
        return expectedOutcomes.values().stream().filter(outcome::equals).count();
    }

    private static Publication.Summary summary(long applied, long unchanged, long refused) {
        return new Publication.Summary(applied + unchanged + refused, true, applied, unchanged, refused, 0, 0, 0);
    }

    private void expect(String batch, Publication.Summary expected, Publication.Summary actual) {
        if (!actual.equals(expected)) {
            differences.add(batch + ": expected " + Json.toText(expected.toJson()) + ", but was "
                    + Json.toText(actual.toJson()));
        }
    }

    private Publication.Summary publish(Collection<Event> events) throws IOException, InterruptedException {
        String lines = events.stream().map(EventLineFormatter::format).collect(Collectors.joining("\n"));
        // Refusals are not printed here, because checkRejections() prints them with details.
        Console silent = consoleWritingTo(new StringWriter());
        Publication.Options options = new Publication.Options(true, false, REQUEST_TIMEOUT);
        return new Publication(silent, settings(), options)
                .publish(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    }

    private List<DemoRequest> lookUps() {
        return List.of(
                DemoRequest.get("Which shard has track 123? pURIs are case-insensitive.", "SoundCloud:Tracks:123", 200)
                        .expect("/verdict", "found")
                        .expect("/puri", DemoData.TRACK.toString())
                        .expect("/shard", DemoData.BRAZIL.text()),
                DemoRequest.get(
                                "The same track, by the handle that the public sees.",
                                sample.handle(DemoData.TRACK).text(),
                                200)
                        .expect("/verdict", "found")
                        .expect("/puri", DemoData.TRACK.toString()),
                mixedBatch(),
                DemoRequest.get(
                                "This track moved to another shard; its pURI stays valid.",
                                DemoData.MOVED.toString(),
                                200)
                        .expect("/shard", DemoData.EUROPE.text())
                        .expect("/epoch", "2"),
                DemoRequest.get(
                                "Two accounts of one person were merged; the old pURI leads to the new one.",
                                DemoData.MERGED.toString(),
                                200)
                        .expect("/verdict", "merged")
                        .expect("/canonical", DemoData.SURVIVOR.toString())
                        .expect("/shard", DemoData.BRAZIL.text()),
                DemoRequest.get(
                                "This playlist was deleted; the registry still knows it.",
                                DemoData.DELETED.toString(),
                                410)
                        .expect("/verdict", "deleted"),
                DemoRequest.get(
                                "Two shards claimed this track; the first claim wins.",
                                DemoData.CLAIMED_TWICE.toString(),
                                200)
                        .expect("/verdict", "found")
                        .expect("/shard", DemoData.BRAZIL.text())
                        .expect("/epoch", "1"));
    }

    private DemoRequest mixedBatch() {
        List<String> refs = List.of(
                DemoData.TRACK.toString(),
                "SOUNDCLOUD:Users:Ana.Souza",
                sample.handle(DemoData.MOVED).text(),
                DemoData.MERGED.toString(),
                DemoData.COMMENT.toString(),
                DemoData.DELETED.toString(),
                "soundcloud:tracks:nobody",
                "three words only");
        return DemoRequest.resolve(
                        "A mixed list, as in a timeline: one request, grouped by shard,"
                                + " so that each shard needs one query.",
                        refs)
                .expect("/results/0/verdict", "found")
                .expect("/results/1/puri", DemoData.SURVIVOR.toString())
                .expect("/results/2/puri", DemoData.MOVED.toString())
                .expect("/results/3/verdict", "merged")
                .expect("/results/4/verdict", "found")
                .expect("/results/5/verdict", "deleted")
                .expect("/results/6/verdict", "unknown")
                .expect("/results/7/verdict", "malformed")
                .expect("/shards/br-1", "[0,1,3]")
                .expect("/shards/us-1", "[4]")
                .expect("/shards/eu-1", "[2]");
    }

    private DemoRequest publicLookUp() {
        return DemoRequest.get(
                        "Track 123 for the public: without owner, shard and uuid;"
                                + " with its pURI, because tracks are public.",
                        sample.handle(DemoData.TRACK).text(),
                        200)
                .expect("/verdict", "found")
                .expect("/puri", DemoData.TRACK.toString());
    }

    private static List<DemoRequest> searches() {
        return List.of(
                DemoRequest.search(
                                "One search over all shards and collections finds"
                                        + " a user, tracks, a playlist and a comment.",
                                "q=ana+souza&groupBy=shard")
                        .expect("/total", "5")
                        .expect("/facets/collection/soundcloud:users", "1")
                        .expect("/facets/collection/soundcloud:tracks", "2")
                        .expect("/facets/collection/soundcloud:playlists", "1")
                        .expect("/facets/collection/soundcloud:comments", "1")
                        .expect("/facets/shard/br-1", "2")
                        .expect("/facets/shard/us-1", "2")
                        .expect("/facets/shard/eu-1", "1"),
                DemoRequest.search(
                                "A typing error of one letter still finds them; a filter selects one collection.",
                                "q=ana+sousa&collection=soundcloud:users")
                        .expect("/total", "1")
                        .expect("/results/0/puri", DemoData.SURVIVOR.toString()),
                DemoRequest.search("Search ignores accents.", "q=sao+joao&facets=false")
                        .expect("/total", "2")
                        .expect("/results/0/puri", DemoData.TRACK.toString())
                        .expect("/results/0/highlights/title/0", "Noite de <em>São</em> <em>João</em>"),
                DemoRequest.search(
                                "A list that no single shard has: all users of all shards, newest first, page by page.",
                                "collection=soundcloud:users&order=newest&limit=4&facets=false")
                        .expect("/total", "61")
                        .expect("/results/0/puri", DemoData.SURVIVOR.toString())
                        .expect("/results/1/puri", "soundcloud:users:60")
                        .expect("/results/2/shard", DemoData.EUROPE.text())
                        .expect("/results/3/shard", DemoData.AMERICA.text()));
    }

    private void check(DemoRequest request, String server) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + CATCH_UP_TIMEOUT.toNanos();
        HttpResponse<String> response = send(request, server);
        List<String> unexpected = request.differences(response.statusCode(), Json.parse(response.body()));
        while (!unexpected.isEmpty() && deadline - System.nanoTime() > 0) {
            Thread.sleep(POLL_MILLIS);
            response = send(request, server);
            unexpected = request.differences(response.statusCode(), Json.parse(response.body()));
        }
        show(request.explanation(), request.curl(server));
        JsonNode json = Json.parse(response.body());
        console.out().println(new PrettyJson(console.outIsTerminal()).print(json));
        unexpected.forEach(difference -> differences.add(request.path() + ": " + difference));
    }

    private HttpResponse<String> send(DemoRequest request, String server) throws IOException, InterruptedException {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create(server + request.path())).timeout(REQUEST_TIMEOUT);
        if (request.body() != null) {
            builder.POST(HttpRequest.BodyPublishers.ofString(request.body()));
        }
        return http.send(builder.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Runs {@code puri rejections list}, prints its output, and checks that it contains all expected reasons. */
    private void checkRejections() {
        List<String> args = new ArrayList<>(List.of("rejections", "list"));
        addUnlessDefault(args, "--bootstrap-server", stack.bootstrapServers(), CliSettings.DEFAULT_BOOTSTRAP_SERVER);
        addUnlessDefault(args, "--schema-registry", stack.schemaRegistryUrl(), CliSettings.DEFAULT_SCHEMA_REGISTRY);
        StringWriter output = new StringWriter();
        int status = Main.run(consoleWritingTo(output), args.toArray(String[]::new));
        show("The refused events, with the reasons and the holders of the names.", "./puri " + String.join(" ", args));
        console.out().print(output);
        console.out().flush();
        if (status != ExitStatus.DONE) {
            differences.add("rejections list: expected status 0, but was " + status);
        }
        sample.secondBatch().values().stream()
                .filter(outcome -> !outcome.equals("applied") && !outcome.equals("unchanged"))
                .filter(reason -> output.toString().lines().noneMatch(line -> line.contains(reason)))
                .forEach(reason -> differences.add("rejections list: expected " + reason + ", but it is missing"));
    }

    private static void addUnlessDefault(List<String> args, String option, String value, String defaultValue) {
        if (!value.equals(defaultValue)) {
            args.add(option);
            args.add(value);
        }
    }

    private void show(String explanation, String command) {
        boolean colour = console.outIsTerminal();
        console.out().println();
        console.out().println((colour ? "\033[2m" : "") + "# " + explanation + (colour ? "\033[0m" : ""));
        console.out().println((colour ? "\033[1m" : "") + "$ " + command + (colour ? "\033[0m" : ""));
        console.out().flush();
    }

    private static Console consoleWritingTo(StringWriter out) {
        PrintWriter writer = new PrintWriter(out);
        return new Console(
                InputStream.nullInputStream(), writer, new PrintWriter(new StringWriter()), Map.of(), false, false);
    }

    private CliSettings settings() {
        return CliSettings.of(stack);
    }
}
