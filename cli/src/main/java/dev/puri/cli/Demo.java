package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.client.CollectionRegistry;
import dev.puri.schemas.collection.Declared;
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

/** Loads the {@link Sample} into a running registry, sends requests about it, and checks every response. */
final class Demo {
    /** How long the table and the index may take to show published events. */
    private static final Duration CATCH_UP = Duration.ofSeconds(15);

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 20;

    private final Console console;
    private final EmbeddedStack stack;
    private final Sample sample = new Sample();
    private final List<String> differences = new ArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    private record Response(int status, String body) {}

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
            check(request, stack.resolver());
        }
        check(publicLookUp(), stack.publicResolver());
        for (DemoRequest request : searches()) {
            check(request, stack.search());
        }
        showRejections();
        return List.copyOf(differences);
    }

    private void load() throws IOException, InterruptedException {
        Declared declared = new CollectionRegistry(settings().clientProperties(), TIMEOUT).apply(Sample.collections());
        if (declared instanceof Declared.Conflicts conflicts) {
            throw CommandException.failed("the sample's collections conflict: " + conflicts, null);
        }
        Publication.Summary created = publish(sample.creations());
        expect("creations", summary(sample.creations().size(), 0, 0), created);

        Map<Event, String> changes = sample.changes();
        Publication.Summary changed = publish(changes.keySet());
        long applied = count(changes, "applied");
        long unchanged = count(changes, "unchanged");
        expect("what happened then", summary(applied, unchanged, changes.size() - applied - unchanged), changed);

        console.out()
                .println(created.published() + changed.published() + " events of "
                        + Sample.collections().size() + " collections from " + Sample.shards() + " shards: "
                        + (created.applied() + changed.applied()) + " applied, " + changed.unchanged()
                        + " unchanged, "
                        + changed.refused() + " refused.");
    }

    private static long count(Map<Event, String> changes, String outcome) {
        return changes.values().stream().filter(outcome::equals).count();
    }

    private static Publication.Summary summary(long applied, long unchanged, long refused) {
        return new Publication.Summary(applied + unchanged + refused, true, applied, unchanged, refused, 0, 0, 0);
    }

    private void expect(String what, Publication.Summary expected, Publication.Summary actual) {
        if (!actual.equals(expected)) {
            differences.add(
                    what + ": " + Json.print(expected.toJson()) + " was expected, not " + Json.print(actual.toJson()));
        }
    }

    private Publication.Summary publish(Collection<Event> events) throws IOException, InterruptedException {
        String lines = events.stream().map(EventLinePrinter::print).collect(Collectors.joining("\n"));
        // Refusals are not printed here; showRejections() prints them with details.
        Console silent = writingTo(new StringWriter());
        Publication.Options options = new Publication.Options(true, false, TIMEOUT);
        return new Publication(silent, settings(), options)
                .publish(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    }

    private List<DemoRequest> lookUps() {
        return List.of(
                DemoRequest.get(
                        "Where is track 123? Casing does not matter.",
                        "SoundCloud:Tracks:123",
                        200,
                        "/verdict",
                        "found",
                        "/puri",
                        Sample.TRACK.toString(),
                        "/shard",
                        Sample.BRAZIL.text()),
                DemoRequest.get(
                        "The same by the name that the public sees.",
                        sample.handle(Sample.TRACK).text(),
                        200,
                        "/verdict",
                        "found",
                        "/puri",
                        Sample.TRACK.toString()),
                mixedBatch(),
                DemoRequest.get(
                        "This one moved; what referred to it still does.",
                        Sample.MOVED.toString(),
                        200,
                        "/shard",
                        Sample.EUROPE.text(),
                        "/epoch",
                        "2"),
                DemoRequest.get(
                        "Two accounts of one person were merged; the old name leads to the new one.",
                        Sample.MERGED.toString(),
                        200,
                        "/verdict",
                        "merged",
                        "/canonical",
                        Sample.SURVIVOR.toString(),
                        "/shard",
                        Sample.BRAZIL.text()),
                DemoRequest.get(
                        "This one was deleted, and is not taken for unknown.",
                        Sample.DELETED.toString(),
                        410,
                        "/verdict",
                        "deleted"),
                DemoRequest.get(
                        "Two shards claimed this one; the first claim holds.",
                        Sample.CLAIMED_TWICE.toString(),
                        200,
                        "/verdict",
                        "found",
                        "/shard",
                        Sample.BRAZIL.text(),
                        "/epoch",
                        "1"));
    }

    private DemoRequest mixedBatch() {
        List<String> refs = List.of(
                Sample.TRACK.toString(),
                "SOUNDCLOUD:Users:Ana.Souza",
                sample.handle(Sample.MOVED).text(),
                Sample.MERGED.toString(),
                Sample.COMMENT.toString(),
                Sample.DELETED.toString(),
                "soundcloud:tracks:nobody",
                "three words only");
        return DemoRequest.resolve(
                "A mixed list, as a timeline holds it: one question, grouped by shard, so one query for each.",
                refs,
                "/results/0/verdict",
                "found",
                "/results/1/puri",
                Sample.SURVIVOR.toString(),
                "/results/2/puri",
                Sample.MOVED.toString(),
                "/results/3/verdict",
                "merged",
                "/results/4/verdict",
                "found",
                "/results/5/verdict",
                "deleted",
                "/results/6/verdict",
                "unknown",
                "/results/7/verdict",
                "malformed",
                "/shards/br-1",
                "[0,1,3]",
                "/shards/us-1",
                "[4]",
                "/shards/eu-1",
                "[2]");
    }

    private DemoRequest publicLookUp() {
        return DemoRequest.get(
                "What the public is told of track 123: no owner, shard or uuid; its name, for tracks are public.",
                sample.handle(Sample.TRACK).text(),
                200,
                "/verdict",
                "found",
                "/puri",
                Sample.TRACK.toString());
    }

    private static List<DemoRequest> searches() {
        return List.of(
                DemoRequest.search(
                        "Search goes over all shards at once, and finds whatever it is: a user, tracks, a playlist, a comment.",
                        "q=ana+souza&groupBy=shard",
                        "/total",
                        "5",
                        "/facets/collection/soundcloud:users",
                        "1",
                        "/facets/collection/soundcloud:tracks",
                        "2",
                        "/facets/collection/soundcloud:playlists",
                        "1",
                        "/facets/collection/soundcloud:comments",
                        "1",
                        "/facets/shard/br-1",
                        "2",
                        "/facets/shard/us-1",
                        "2",
                        "/facets/shard/eu-1",
                        "1"),
                DemoRequest.search(
                        "A slip of one letter finds them too; facets are filters.",
                        "q=ana+sousa&collection=soundcloud:users",
                        "/total",
                        "1",
                        "/results/0/puri",
                        Sample.SURVIVOR.toString()),
                DemoRequest.search(
                        "Nobody has to type the accents.",
                        "q=sao+joao&facets=false",
                        "/total",
                        "2",
                        "/results/0/puri",
                        Sample.TRACK.toString(),
                        "/results/0/highlights/title/0",
                        "Noite de <em>São</em> <em>João</em>"),
                DemoRequest.search(
                        "What sharding took away: all users over all shards, newest first, page by page.",
                        "collection=soundcloud:users&order=newest&limit=4&facets=false",
                        "/total",
                        "61",
                        "/results/0/puri",
                        Sample.SURVIVOR.toString(),
                        "/results/1/puri",
                        "soundcloud:users:60",
                        "/results/2/shard",
                        Sample.EUROPE.text(),
                        "/results/3/shard",
                        Sample.AMERICA.text()));
    }

    private void check(DemoRequest request, String server) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + CATCH_UP.toNanos();
        Response response = send(request, server);
        List<String> found = request.differences(response.status(), Json.parse(response.body()));
        while (!found.isEmpty() && System.nanoTime() < deadline) {
            Thread.sleep(POLL_MILLIS);
            response = send(request, server);
            found = request.differences(response.status(), Json.parse(response.body()));
        }
        show(request.why(), request.curl(server));
        JsonNode json = Json.parse(response.body());
        console.out().println(new PrettyJson(console.outIsTerminal()).print(json));
        found.forEach(each -> differences.add(request.path() + ": " + each));
    }

    private Response send(DemoRequest request, String server) throws IOException, InterruptedException {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create(server + request.path())).timeout(TIMEOUT);
        if (request.body() != null) {
            builder.POST(HttpRequest.BodyPublishers.ofString(request.body()));
        }
        HttpResponse<String> response = http.send(builder.build(), HttpResponse.BodyHandlers.ofString());
        return new Response(response.statusCode(), response.body());
    }

    private void showRejections() {
        List<String> args = new ArrayList<>(List.of("rejections", "list"));
        addUnlessDefault(args, "--bootstrap-server", stack.bootstrapServers(), CliSettings.BOOTSTRAP_SERVER);
        addUnlessDefault(args, "--schema-registry", stack.schemaRegistry(), CliSettings.SCHEMA_REGISTRY);
        StringWriter listed = new StringWriter();
        int status = Main.run(writingTo(listed), args.toArray(String[]::new));
        show("What was refused, why, and who holds what was asked for.", "./puri " + String.join(" ", args));
        console.out().print(listed);
        console.out().flush();
        if (status != ExitStatus.DONE) {
            differences.add("rejections list: status 0 was expected, not " + status);
        }
        sample.changes().values().stream()
                .filter(outcome -> !outcome.equals("applied") && !outcome.equals("unchanged"))
                .filter(reason -> listed.toString().lines().noneMatch(line -> line.contains(reason)))
                .forEach(reason -> differences.add("rejections list: " + reason + " was expected and is not there"));
    }

    private static void addUnlessDefault(List<String> args, String option, String value, String byDefault) {
        if (!value.equals(byDefault)) {
            args.add(option);
            args.add(value);
        }
    }

    private void show(String why, String command) {
        boolean colour = console.outIsTerminal();
        console.out().println();
        console.out().println((colour ? "\033[2m" : "") + "# " + why + (colour ? "\033[0m" : ""));
        console.out().println((colour ? "\033[1m" : "") + "$ " + command + (colour ? "\033[0m" : ""));
        console.out().flush();
    }

    private static Console writingTo(StringWriter out) {
        PrintWriter writer = new PrintWriter(out);
        return new Console(
                InputStream.nullInputStream(), writer, new PrintWriter(new StringWriter()), Map.of(), false, false);
    }

    private CliSettings settings() {
        return CliSettings.of(stack);
    }
}
