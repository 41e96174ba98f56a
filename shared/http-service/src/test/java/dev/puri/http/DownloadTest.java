package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class DownloadTest {
    private static final int MANY = 1_000_000;

    /** More pieces of 256 KiB than the socket buffers of both sides hold, and one piece that waits. */
    private static final int HELD = 200;

    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private final BlockingQueue<Download.End> ended = new LinkedBlockingQueue<>();
    private final AtomicInteger made = new AtomicInteger();
    private volatile Duration stallTimeout = Duration.ofMinutes(1);
    private volatile boolean isWanted = true;
    private volatile Maker maker = number -> null;
    private Listener listener;

    /** Creates the piece with this number. */
    private interface Maker {
        byte @Nullable [] make(int number) throws Exception;
    }

    private final class Pieces implements Download.Source {
        private boolean isOver;

        @Override
        public synchronized byte @Nullable [] next() throws Exception {
            assertThat(isOver).as("requested after the end").isFalse();
            return maker.make(made.getAndIncrement());
        }

        @Override
        public boolean isWanted() {
            return isWanted;
        }

        @Override
        public synchronized void ended(Download.End end) {
            isOver = true;
            ended.add(end);
        }
    }

    @BeforeEach
    void start() {
        Route all = Route.get(
                "/all", Scope.NONE, exchange -> exchange.download("application/x-all", stallTimeout, new Pieces()));
        Route other = Route.get(
                "/other",
                Scope.NONE,
                exchange -> exchange.jsonFromWorker(200, json -> {
                    json.writeStartObject();
                    json.writeEndObject();
                }));
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0).onOneThread(), List.of(all, other), metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
        client.close();
    }

    @Test
    void allPiecesArriveInTheirOrder() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        // No piece may end the response early, not even an empty one.
        List<byte[]> pieces = List.of(
                bytes(random, 1), bytes(random, 0), bytes(random, 300_000), bytes(random, 128 << 10), bytes(random, 7));
        pieces.forEach(all::writeBytes);
        maker = number -> number < pieces.size() ? pieces.get(number) : null;

        HttpResponse<byte[]> response = client.send(request(), HttpResponse.BodyHandlers.ofByteArray());

        assertThat(response.headers().firstValue("Content-Type")).contains("application/x-all");
        assertThat(response.body()).as("seed %d", seed).isEqualTo(all.toByteArray());
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(Download.End.COMPLETE);
        assertThat(ended).isEmpty();
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void producesNothingForAHeadRequest() throws Exception {
        HttpResponse<byte[]> response =
                client.send(HttpRequest.newBuilder(uri()).HEAD().build(), HttpResponse.BodyHandlers.ofByteArray());

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(Download.End.GONE);
        assertThat(made).hasValue(0);
    }

    @Test
    void producesNoMoreThanTheClientReads() throws Exception {
        byte[] piece = new byte[256 << 10];
        maker = number -> number < MANY ? piece : null;
        try (Socket reader = connect()) {
            reader.getInputStream().readNBytes(100 * piece.length);
        }
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(Download.End.GONE);
        assertThat(made.get()).isBetween(100, 100 + HELD);
    }

    @Test
    void aClientThatReadsNothingIsDisconnected() throws Exception {
        stallTimeout = Duration.ofMillis(200);
        byte[] piece = new byte[256 << 10];
        maker = number -> number < MANY ? piece : null;
        try (Socket stalled = connect()) {
            assertThat(ended.poll(30, TimeUnit.SECONDS)).isEqualTo(Download.End.STALLED);
            assertThat(made.get()).isLessThan(HELD);
            assertThat(isWhole(stalled)).isFalse();
        }
    }

    @Test
    void aClientThatReadsNothingIsDisconnectedWhenTheSourceCancels() throws Exception {
        byte[] piece = new byte[256 << 10];
        maker = number -> number < MANY ? piece : null;
        try (Socket stalled = connect()) {
            assertThat(stalled.getInputStream().read()).isEqualTo('H');
            isWanted = false;
            assertThat(ended.poll(30, TimeUnit.SECONDS)).isEqualTo(Download.End.CANCELLED);
            assertThat(isWhole(stalled)).isFalse();
        }
    }

    @Test
    void waitsForASlowSource() throws Exception {
        stallTimeout = Duration.ofMillis(20);
        maker = number -> {
            if (number == 3) {
                return null;
            }
            Thread.sleep(200);
            return new byte[] {1};
        };

        assertThat(client.send(request(), HttpResponse.BodyHandlers.ofByteArray())
                        .body())
                .hasSize(3);
    }

    @Test
    void aSlowPieceDoesNotDelayOtherBlockingWork() throws Exception {
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        maker = number -> {
            making.countDown();
            goOn.await(60, TimeUnit.SECONDS);
            return null;
        };
        CompletableFuture<HttpResponse<byte[]>> all =
                client.sendAsync(request(), HttpResponse.BodyHandlers.ofByteArray());
        try {
            assertThat(making.await(20, TimeUnit.SECONDS)).isTrue();
            HttpRequest other = HttpRequest.newBuilder(uri().resolve("/other")).build();
            HttpResponse<String> answer = client.sendAsync(other, HttpResponse.BodyHandlers.ofString())
                    .get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).isEqualTo(200);
        } finally {
            goOn.countDown();
        }
        assertThat(all.get(20, TimeUnit.SECONDS).body()).isEmpty();
    }

    @Test
    void anAbandonedDownloadIsIncomplete() throws Exception {
        maker = number -> {
            if (number == 2) {
                throw new CancellationException();
            }
            return new byte[] {1};
        };
        try (Socket socket = connect()) {
            assertThat(isWhole(socket)).isFalse();
        }
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(Download.End.CANCELLED);
        assertThatThrownBy(() -> {
                    made.set(0);
                    client.send(request(), HttpResponse.BodyHandlers.ofByteArray());
                })
                .isInstanceOf(IOException.class);
    }

    @Test
    void aFailedDownloadIsIncomplete() throws Exception {
        maker = number -> {
            throw new IllegalStateException("meant to");
        };
        try (Socket socket = connect()) {
            assertThat(isWhole(socket)).isFalse();
        }
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo(Download.End.FAILED);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(16 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write("GET /all HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Reads the rest of the response and returns whether it ends with the last chunk. */
    private static boolean isWhole(Socket socket) {
        try {
            byte[] rest = socket.getInputStream().readAllBytes();
            return new String(rest, StandardCharsets.ISO_8859_1).endsWith("\r\n0\r\n\r\n");
        } catch (IOException e) {
            return false;
        }
    }

    private URI uri() {
        return URI.create("http://127.0.0.1:" + listener.port() + "/all");
    }

    private HttpRequest request() {
        return HttpRequest.newBuilder(uri()).build();
    }
}
