package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("measures times of a tenth of a second")
@Timeout(60)
final class EventStreamTest {
    private static final int MAX_PENDING = 1 << 20;

    private final Metrics metrics = new Metrics();
    private final BlockingQueue<EventStream> opened = new LinkedBlockingQueue<>();
    private final BlockingQueue<EventStream.End> ended = new LinkedBlockingQueue<>();
    private volatile Duration heartbeat = Duration.ofMinutes(1);
    private Listener listener;

    @BeforeEach
    void start() {
        Route changes = Route.get("/changes", Scope.CHANGES, exchange -> {
            EventStream stream = exchange.events(new EventStream.Options(MAX_PENDING, heartbeat), ended::add);
            exchange.after(
                    heartbeat.multipliedBy(3).dividedBy(2),
                    () -> stream.send(ServerSentEvent.of(null, null, "after one heartbeat and a half")));
            opened.add(stream);
        });
        ListenerOptions options = ListenerOptions.at("127.0.0.1", 0)
                .onOneThread()
                .with(RunningListener.http(Map.of("body.timeout", "500ms", "idle.timeout", "5s")));
        listener = Listener.start(options, List.of(changes), metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
    }

    @Test
    void eventsArriveAsTheyAreSent() throws Exception {
        try (Reader reader = new Reader("GET")) {
            EventStream stream = opened.take();

            assertThat(stream.send(ServerSentEvent.of("7", "change", "{\"a\":1}")))
                    .isTrue();
            assertThat(stream.send(ServerSentEvent.of(null, null, "two\r\nlines")))
                    .isTrue();

            assertThat(reader.head()).startsWith("HTTP/1.1 200 ").contains("content-type: text/event-stream");
            assertThat(reader.event()).isEqualTo("id: 7|event: change|data: {\"a\":1}");
            assertThat(reader.event()).isEqualTo("data: two|data: lines");
        }
        assertThat(ended.poll(10, TimeUnit.SECONDS)).isEqualTo(EventStream.End.GONE);
    }

    @Test
    void eachThreadsEventsArriveInItsOrderAndNoneIsLost() throws Exception {
        int threads = 4;
        int each = 2_000;
        try (Reader reader = new Reader("GET")) {
            EventStream stream = opened.take();
            List<Thread> senders = IntStream.range(0, threads)
                    .mapToObj(thread -> Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < each; i++) {
                            stream.send(ServerSentEvent.of(null, null, thread + " " + i));
                        }
                    }))
                    .toList();
            reader.head();
            int[] next = new int[threads];
            for (int i = 0; i < threads * each; i++) {
                String[] event = String.valueOf(reader.event())
                        .substring("data: ".length())
                        .split(" ");
                int thread = Integer.parseInt(event[0]);
                assertThat(Integer.parseInt(event[1])).isEqualTo(next[thread]++);
            }
            for (Thread sender : senders) {
                sender.join();
            }
        }
    }

    @Test
    void anEndIsSentLast() throws Exception {
        ServerSentEvent bye = ServerSentEvent.of(null, "bye", "stopping");
        try (Reader reader = new Reader("GET")) {
            EventStream stream = opened.take();
            stream.send(bye);
            stream.send(ServerSentEvent.of(null, null, "before"));
            stream.end(bye);
            stream.end(bye);

            assertThat(stream.send(ServerSentEvent.of(null, null, "after"))).isFalse();
            assertThat(stream.isOpen()).isFalse();
            reader.head();
            assertThat(reader.rest())
                    .containsExactly("event: bye|data: stopping", "data: before", "event: bye|data: stopping");
        }
        assertThat(ended.take()).isEqualTo(EventStream.End.BY_SERVER);
        assertThat(ended).isEmpty();
    }

    @Test
    void aSlowReaderIsDroppedWithAReason() throws Exception {
        String data = "x".repeat(10_000);
        try (Reader reader = new Reader("GET")) {
            EventStream stream = opened.take();
            int sent = 0;
            while (stream.send(ServerSentEvent.of(null, null, data))) {
                sent++;
                assertThat(stream.pendingBytes()).isLessThanOrEqualTo(MAX_PENDING);
                assertThat(sent).as("never dropped").isLessThan(10_000);
            }
            assertThat(ended.poll(10, TimeUnit.SECONDS)).isEqualTo(EventStream.End.SLOW);

            reader.head();
            List<String> events = reader.rest();
            assertThat(events).hasSize(sent + 1).last().isEqualTo("event: dropped|data: {\"reason\":\"slow-reader\"}");
        }
    }

    @Test
    void aReaderThatNeverReadsIsDisconnected() throws Exception {
        ServerSentEvent much = ServerSentEvent.of(null, null, "x".repeat(10_000));
        try (Reader reader = new Reader("GET")) {
            EventStream stream = opened.take();
            fillTheSocket(stream, much);
            while (stream.send(much)) {
                assertThat(stream.pendingBytes()).isLessThanOrEqualTo(MAX_PENDING);
            }
            assertThat(ended.poll(10, TimeUnit.SECONDS)).isEqualTo(EventStream.End.SLOW);
            // Pending bytes can disappear only if the connection is closed.
            await("no pending bytes", () -> stream.pendingBytes() == 0);
            assertThat(reader.restOrReset()).isFalse();
        }
    }

    /** Sends until the socket buffers of both sides are full. */
    private static void fillTheSocket(EventStream stream, ServerSentEvent event) throws InterruptedException {
        long lastTaken = System.nanoTime();
        while (System.nanoTime() - lastTaken < 300_000_000L) {
            if (stream.pendingBytes() < MAX_PENDING / 2) {
                assertThat(stream.send(event)).isTrue();
                lastTaken = System.nanoTime();
            } else {
                Thread.sleep(1);
            }
        }
    }

    static void await(String what, BooleanSupplier condition) {
        for (long until = System.nanoTime() + 20_000_000_000L; !condition.getAsBoolean(); ) {
            assertThat(System.nanoTime()).as("still waiting for: " + what).isLessThan(until);
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void aHeartbeatIsSentInEachPeriodWithoutEvents() throws Exception {
        heartbeat = Duration.ofMillis(400);
        try (Reader reader = new Reader("GET")) {
            reader.head();

            assertThat(reader.chunkLines(5))
                    .as("the start, the first period, the event, no heartbeat at the end of its period, the third one")
                    .containsExactly(":", ":", "data: after one heartbeat and a half", ":", ":");
        }
    }

    @Test
    void headIsAnsweredAndEnds() throws Exception {
        try (Reader reader = new Reader("HEAD")) {
            assertThat(reader.head()).startsWith("HTTP/1.1 200 ").contains("text/event-stream");
        }
        assertThat(ended.poll(10, TimeUnit.SECONDS)).isEqualTo(EventStream.End.GONE);
    }

    @Test
    void aLineBreakInAnIdOrNameIsOurBug() {
        for (String forged : List.of("1\nevent: x", "1\r", "\0")) {
            assertThatThrownBy(() -> ServerSentEvent.of(forged, null, "")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> ServerSentEvent.of(null, forged, "")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** A client that reads only when the test calls it. */
    private final class Reader implements AutoCloseable {
        private final Socket socket = new Socket();
        private final BufferedReader lines;

        Reader(String method) throws IOException {
            socket.setReceiveBufferSize(16 << 10);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));
            socket.setSoTimeout(20_000);
            String request = method + " /changes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        String head() throws IOException {
            StringBuilder head = new StringBuilder();
            for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
                head.append(line).append('\n');
            }
            return head.toString();
        }

        /** Returns the lines of the next event, without chunk sizes and comments; null at the end. */
        @Nullable
        String event() throws IOException {
            List<String> event = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.isEmpty() && !event.isEmpty()) {
                    return String.join("|", event);
                }
                if (line.matches("(id|event|data): .*")) {
                    event.add(line);
                }
            }
            return null;
        }

        List<String> rest() throws IOException {
            List<String> events = new ArrayList<>();
            for (String event = event(); event != null; event = event()) {
                events.add(event);
            }
            return events;
        }

        /** Returns whether the response was complete. */
        boolean restOrReset() {
            try {
                return rest().stream().anyMatch(event -> event.contains("dropped"));
            } catch (IOException e) {
                return false;
            }
        }

        /** Returns the next lines that are neither empty nor a chunk size. */
        List<String> chunkLines(int count) throws IOException {
            List<String> found = new ArrayList<>();
            while (found.size() < count) {
                String line = lines.readLine();
                if (!line.isEmpty() && !line.matches("[0-9a-f]+")) {
                    found.add(line);
                }
            }
            return found;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
