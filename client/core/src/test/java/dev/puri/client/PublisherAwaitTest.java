package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Outcomes of published events, which a publisher derives from a resolver's responses. */
class PublisherAwaitTest {
    private static final Puri PURI = Puri.parse("a:b:c");
    private static final Position TOKEN = new Position("puri.events.v1", 0, 7);
    private static final Duration WAIT = Duration.ofSeconds(1);

    private HttpServer server;
    private IdentityPublisher publisher;
    private volatile int status = 200;
    private volatile String body = "";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        publisher = new IdentityPublisher(Map.of(
                "bootstrap.servers",
                "127.0.0.1:1",
                "schema.registry.url",
                "http://127.0.0.1:1",
                IdentityPublisher.RESOLVER_URL,
                "http://127.0.0.1:" + server.getAddress().getPort() + "/"));
    }

    @AfterEach
    void stop() {
        publisher.close();
        server.stop(0);
    }

    @Test
    void anApplicationSharesItsResolverClientAndKeepsIt() throws Exception {
        Map<String, String> properties =
                Map.of("bootstrap.servers", "127.0.0.1:1", "schema.registry.url", "http://127.0.0.1:1");
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        try (ResolverClient client = ResolverClient.open(ResolverOptions.at(url).build())) {
            result("\"verdict\":\"unknown\"");
            try (IdentityPublisher sharing = new IdentityPublisher(properties, namespace -> false, client)) {
                assertThat(sharing.awaitSync(PURI, TOKEN, WAIT)).isEqualTo(new PublishOutcome.Accepted());
            }
            assertThat(client.requestStatistics().requests()).isEqualTo(1);
            assertThat(client.resolve("a:b:c")).isInstanceOf(Verdict.Unknown.class);
        }
    }

    private PublishOutcome await() throws Exception {
        return publisher.await(PURI, TOKEN, WAIT).toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    private void result(String rest) {
        body = "{\"results\":[{\"ref\":\"a:b:c\"," + rest + "}]}";
    }

    @Test
    void everyVerdictHasItsOutcome() throws Exception {
        result("\"verdict\":\"unknown\"");
        assertThat(await()).isEqualTo(new PublishOutcome.Accepted());
        result("\"verdict\":\"not-caught-up\"");
        assertThat(await()).isEqualTo(new PublishOutcome.NotCaughtUp());
        result("\"verdict\":\"malformed\",\"detail\":\"another object's token\"");
        assertThatThrownBy(this::await).cause().isInstanceOf(IllegalStateException.class);
    }

    private PublishOutcome refused(String reason, String rest) throws Exception {
        result("\"verdict\":\"refused\",\"reason\":\"" + reason + "\",\"detail\":\"why\"" + rest);
        return await();
    }

    @Test
    void aRefusalHasItsTypeAndTheConflictingIdentity() throws Exception {
        String holder = ",\"holder\":{\"owner\":\"catalog\",\"shard\":\"br-1\"}";
        String survivor = ",\"survivor\":\"a:b:d\"";
        assertThat(refused("PURI_TAKEN", holder))
                .isEqualTo(new PublishOutcome.Refused.PuriTaken("why", new Owner("catalog"), new Shard("br-1"), null));
        assertThat(refused("MERGED", holder + survivor))
                .isEqualTo(new PublishOutcome.Refused.Merged("why", Puri.parse("a:b:d")));
        result("\"verdict\":\"refused\",\"reason\":\"PURI_TAKEN\"");
        assertThat(await())
                .as("an event that the resolver has discarded")
                .isEqualTo(new PublishOutcome.Refused.PuriTaken(null, null, null, null));
    }

    @Test
    void everyReasonKeepsItsNameAlsoOneOfALaterRegistry() throws Exception {
        Set<String> others = new HashSet<>();
        for (Reason reason : Reason.values()) {
            PublishOutcome.Refused refused = (PublishOutcome.Refused) refused(reason.name(), "");
            assertThat(refused.reason()).isEqualTo(reason.name());
            assertThat(refused.detail()).isEqualTo("why");
            if (refused instanceof PublishOutcome.Refused.Other) {
                others.add(reason.name());
            }
        }
        assertThat(others)
                .containsExactlyInAnyOrder(
                        "UNDECODABLE",
                        "MALFORMED",
                        "TOO_LARGE",
                        "WRONG_PREFIX",
                        "HANDLE_FIXED",
                        "ID_REUSED",
                        "SELF_MERGE");
        assertThat(refused("QUOTA_EXCEEDED", "")).isEqualTo(new PublishOutcome.Refused.Other("QUOTA_EXCEEDED", "why"));
    }

    @Test
    void waitingInTheCallingThreadEndsAlike() throws Exception {
        result("\"verdict\":\"unknown\"");
        assertThat(publisher.awaitSync(PURI, TOKEN, WAIT)).isEqualTo(new PublishOutcome.Accepted());
        result("\"verdict\":\"malformed\",\"detail\":\"another object's token\"");
        assertThatThrownBy(() -> publisher.awaitSync(PURI, TOKEN, WAIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("another object's token");
        server.stop(0);
        assertThatThrownBy(() -> publisher.awaitSync(PURI, TOKEN, WAIT)).isInstanceOf(IOException.class);
    }

    @Test
    void reportsAnIncompleteTableAndAWrongServer() {
        status = 503;
        body = "{\"title\":\"The table is not complete yet\"}";
        assertThatThrownBy(this::await)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("503")
                .hasMessageContaining("not complete yet");
        status = 404;
        assertThatThrownBy(this::await)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("404");
    }

    @Test
    void acceptsAWaitOfAnyLength() throws Exception {
        result("\"verdict\":\"unknown\"");
        assertThat(publisher.awaitSync(PURI, TOKEN, Duration.ofSeconds(Long.MAX_VALUE)))
                .isEqualTo(new PublishOutcome.Accepted());
    }

    @Test
    void anUnreachableResolverIsAnIoException() {
        server.stop(0);
        assertThatThrownBy(this::await).cause().isInstanceOf(IOException.class);
    }
}
