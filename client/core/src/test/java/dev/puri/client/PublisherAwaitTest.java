package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a resolver answers of a published event, as a publisher passes it on. */
class PublisherAwaitTest {
    private HttpServer server;
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
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private Fate await() throws Exception {
        Map<String, String> properties = Map.of(
                "bootstrap.servers",
                "127.0.0.1:1",
                "schema.registry.url",
                "http://127.0.0.1:1",
                IdentityPublisher.RESOLVER_URL,
                "http://127.0.0.1:" + server.getAddress().getPort() + "/");
        try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
            return publisher
                    .await(Puri.parse("a:b:c"), new Position("puri.events.v1", 0, 7), Duration.ofSeconds(1))
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS);
        }
    }

    private void result(String rest) {
        body = "{\"results\":[{\"ref\":\"a:b:c\"," + rest + "}]}";
    }

    @Test
    void everyVerdictHasItsFate() throws Exception {
        result("\"verdict\":\"unknown\"");
        assertThat(await()).isEqualTo(new Fate.Settled());
        result("\"verdict\":\"not-caught-up\"");
        assertThat(await()).isEqualTo(new Fate.NotCaughtUp());
        result("\"verdict\":\"refused\",\"reason\":\"PURI_TAKEN\",\"detail\":\"why\","
                + "\"holder\":{\"owner\":\"catalog\",\"shard\":\"br-1\"}");
        assertThat(await()).isEqualTo(new Fate.Refused("PURI_TAKEN", "why", "catalog", "br-1"));
        result("\"verdict\":\"refused\",\"reason\":\"ID_REUSED\"");
        assertThat(await()).isEqualTo(new Fate.Refused("ID_REUSED", null, null, null));
        result("\"verdict\":\"malformed\",\"detail\":\"another object's token\"");
        assertThatThrownBy(this::await).cause().isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aTableThatIsNotCompleteAndAWrongServerAreSaidSo() {
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
    void aResolverOutOfReachIsAnIoException() {
        server.stop(0);
        assertThatThrownBy(this::await).cause().isInstanceOf(IOException.class);
    }
}
