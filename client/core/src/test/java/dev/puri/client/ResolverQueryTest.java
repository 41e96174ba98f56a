package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ResolverQueryTest {
    private static final Puri NAME = Puri.parse("a:b:c");
    private static final Position TOKEN = new Position("puri.events.v1", 0, 7);
    private static final Duration WAIT = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch asked = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    private ResolverQuery query() {
        return new ResolverQuery("http://127.0.0.1:" + server.getAddress().getPort(), null);
    }

    private static Fate get(CompletableFuture<Fate> fate) throws Exception {
        return fate.get(60, TimeUnit.SECONDS);
    }

    private static CompletableFuture<Fate> ask(ResolverQuery query) {
        return query.await(NAME, TOKEN, WAIT).toCompletableFuture();
    }

    @Test
    void anAnswerIsRead() throws Exception {
        server.createContext("/", exchange -> {
            byte[] body = "{\"verdict\":\"found\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        try (ResolverQuery query = query()) {
            assertThat(get(ask(query))).isEqualTo(new Fate.Settled());
        }
    }

    @Test
    void anAnswerWithoutEndIsCutOffAndSaysSo() {
        server.createContext("/", ResolverQueryTest::writeForEver);
        try (ResolverQuery query = query()) {
            CompletableFuture<Fate> fate = ask(query);
            assertThatThrownBy(() -> get(fate))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("more than " + ResolverQuery.MAX_BODY_BYTES + " bytes");
        }
    }

    private static void writeForEver(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        byte[] piece = new byte[8192];
        while (true) {
            exchange.getResponseBody().write(piece);
        }
    }

    @Test
    void closingFailsWhatIsUnderWayAndLeavesNoThread() throws Exception {
        server.createContext("/", exchange -> asked.countDown());
        Set<Thread> before = clientThreads();
        ResolverQuery query = query();
        CompletableFuture<Fate> fate = ask(query);
        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        Set<Thread> ours = clientThreads();
        ours.removeAll(before);
        assertThat(ours).isNotEmpty();

        query.close();
        assertThatThrownBy(() -> get(fate))
                .cause()
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the publisher was closed");
        assertThatThrownBy(() -> get(ask(query))).cause().isInstanceOf(IOException.class);
        for (Thread each : ours) {
            each.join(60_000);
            assertThat(each.isAlive()).as(each.getName()).isFalse();
        }
    }

    /** Those that select; the others are of pools and end by themselves. */
    private static Set<Thread> clientThreads() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !thread.getName().matches("HttpClient-\\d+-SelectorManager"));
        return threads;
    }
}
