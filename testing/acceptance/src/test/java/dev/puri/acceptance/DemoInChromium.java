package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.setDefaultAssertionTimeout;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.uuid.Generators;
import com.microsoft.playwright.options.ColorScheme;
import dev.puri.client.IdentityPublisher;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The whole registry with the demo's sample, and a Chromium that visits its page. */
final class DemoInChromium implements AutoCloseable {
    /** One of each: found in another casing, moved, merged, deleted, unknown, and an invalid name. */
    static final List<String> MIX = List.of(
            "SoundCloud:Tracks:123",
            "soundcloud:users:ana.souza",
            "soundcloud:tracks:78",
            "soundcloud:users:dj-ana",
            "soundcloud:comments:7",
            "soundcloud:playlists:9",
            "soundcloud:tracks:nobody",
            "<img/src=x/onerror=alert(1)>");

    private static final ObjectMapper JSON = new ObjectMapper();

    private static @Nullable DemoInChromium shared;

    private final RunningDemo demo;
    private final Chromium chromium;
    private final IdentityPublisher publisher;
    private final HttpClient http = HttpClient.newHttpClient();

    private DemoInChromium(RunningDemo demo, Chromium chromium) {
        this.demo = demo;
        this.chromium = chromium;
        publisher = new IdentityPublisher(
                Map.of("bootstrap.servers", demo.broker(), "schema.registry.url", demo.schemaRegistry()));
        setDefaultAssertionTimeout(20_000);
    }

    /**
     * Returns the demo that all tests of this JVM share. It starts at its first use and ends with the JVM. Without a
     * Chromium the tests are skipped.
     */
    static synchronized DemoInChromium shared() throws IOException {
        if (shared == null) {
            shared = start(Files.createDirectories(Path.of("target", "demo-in-chromium")));
            Runtime.getRuntime().addShutdownHook(new Thread(shared::close, "close-shared-demo"));
        }
        return shared;
    }

    /**
     * Starts a demo with nothing but the sample. The caller must close it.
     *
     * @param folder receives what the demo prints
     */
    static DemoInChromium start(Path folder) throws IOException {
        Path executable = Chromium.require();
        RunningDemo demo = new RunningDemo(folder);
        try {
            return new DemoInChromium(demo, Chromium.start(executable));
        } catch (RuntimeException | Error e) {
            demo.close();
            throw e;
        }
    }

    /** Returns a visit with the page open. */
    Visit visit() {
        return visit(demo.resolver());
    }

    /** Returns a visit with the page of another resolver open. */
    Visit visit(String resolver) {
        return Visit.to(chromium.browser(), resolver);
    }

    /** Returns a visit whose page is not open yet, so that the test can prepare answers. */
    Visit unopened() {
        return unopened(ColorScheme.LIGHT, 1280, 900);
    }

    Visit unopened(ColorScheme scheme, int width, int height) {
        return new Visit(chromium.browser(), demo.resolver(), scheme, width, height);
    }

    String broker() {
        return demo.broker();
    }

    /**
     * Starts a resolver in this process, with the demo's schema registry. The caller must close it.
     *
     * @param more settings by name
     */
    Resolver startResolver(String broker, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("bootstrap.server", broker);
        settings.put("schema.registry", demo.schemaRegistry());
        settings.putIfAbsent("drain.delay", "0s");
        return Resolver.start(Settings.read(ResolverSettings.class, settings, Map.of(), null));
    }

    static Change created(String shard) {
        return created(shard, Map.of());
    }

    static Change created(String shard, Map<String, String> attributes) {
        return new Change.Created(
                Generators.timeBasedEpochGenerator().generate(),
                new Owner("catalog"),
                new Shard(shard),
                null,
                attributes);
    }

    /** Publishes an event and returns its position. */
    Position publish(String puri, Change change) {
        Event event = new Event(
                Generators.timeBasedEpochGenerator().generate(),
                Puri.parse(puri),
                Instant.now(),
                "page-it",
                null,
                null,
                change);
        return publisher.publish(event).toCompletableFuture().join();
    }

    /** Returns the body of the resolver's response. */
    String get(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(demo.resolver() + path)));
    }

    /** Returns the body of the resolver's response to a batch. */
    String post(Map<String, ?> batch) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(demo.resolver() + "/v1/resolve"))
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(batch))));
    }

    private String send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    @Override
    public void close() {
        http.close();
        publisher.close();
        chromium.close();
        demo.close();
    }
}
