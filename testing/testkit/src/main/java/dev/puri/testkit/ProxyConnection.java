package dev.puri.testkit;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.apache.kafka.common.requests.RequestHeader;

/** A client's connection through a {@link TamperingProxy}. If one side ends it, the other side's socket is closed. */
final class ProxyConnection {
    private static final int MAX_IN_FLIGHT = 10_000;

    /** More than a broker's socket.request.max.bytes, 100 MiB, and more than the clients' fetch.max.bytes. */
    private static final int MAX_FRAME_BYTES = 256 << 20;

    private static final int BUFFER_BYTES = 64 << 10;

    private final Socket client;
    private final Socket broker;
    private final ResponseRewriter rewriter;
    private final Consumer<RuntimeException> failures;
    private final Consumer<ProxyConnection> ended;
    private final List<Thread> threads;

    /**
     * The requests whose responses are pending and will be rewritten. A broker responds in the order of the requests.
     */
    private final BlockingQueue<RequestHeader> inFlight = new LinkedBlockingQueue<>(MAX_IN_FLIGHT);

    /**
     * Creates a connection.
     *
     * @param failures receives each exception that is not the end of the connection
     * @param ended is called when the connection has ended, more than once
     */
    ProxyConnection(
            Socket client,
            Socket broker,
            ResponseRewriter rewriter,
            Consumer<RuntimeException> failures,
            Consumer<ProxyConnection> ended) {
        this.client = client;
        this.broker = broker;
        this.rewriter = rewriter;
        this.failures = failures;
        this.ended = ended;
        threads = List.of(thread("requests", this::forwardRequests), thread("responses", this::forwardResponses));
    }

    void start() {
        threads.forEach(Thread::start);
    }

    List<Thread> threads() {
        return threads;
    }

    void close() {
        TamperingProxy.close(client);
        TamperingProxy.close(broker);
    }

    private interface Direction {
        void forward() throws IOException;
    }

    private Thread thread(String name, Direction direction) {
        return TamperingProxy.thread(name + "-" + client.getPort(), () -> {
            try {
                direction.forward();
            } catch (IOException e) {
                // One side has ended the connection.
            } catch (RuntimeException e) {
                failures.accept(e);
            } finally {
                close();
                ended.accept(this);
            }
        });
    }

    private void forwardRequests() throws IOException {
        DataInputStream in = input(client);
        DataOutputStream out = output(broker);
        while (true) {
            ByteBuffer request = read(in);
            RequestHeader header = ResponseRewriter.rewrittenRequest(request.duplicate());
            if (header != null && !inFlight.offer(header)) {
                throw new IllegalStateException("more than " + MAX_IN_FLIGHT + " requests in flight");
            }
            write(out, request);
        }
    }

    private void forwardResponses() throws IOException {
        DataInputStream in = input(broker);
        DataOutputStream out = output(client);
        while (true) {
            ByteBuffer response = read(in);
            RequestHeader next = inFlight.peek();
            if (next != null && next.correlationId() == response.getInt(0)) {
                inFlight.remove();
                response = rewriter.rewrite(next, response);
            }
            write(out, response);
        }
    }

    private static DataInputStream input(Socket socket) throws IOException {
        return new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
    }

    private static DataOutputStream output(Socket socket) throws IOException {
        return new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES));
    }

    /** Reads a request or response. An EOFException is the end of the connection. */
    private static ByteBuffer read(DataInputStream in) throws IOException {
        int length = in.readInt();
        // The shortest request or response is the correlation id of a response.
        if (length < Integer.BYTES || length > MAX_FRAME_BYTES) {
            throw new IllegalStateException("no Kafka request or response has a length of " + length + " bytes");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return ByteBuffer.wrap(frame);
    }

    private static void write(DataOutputStream out, ByteBuffer frame) throws IOException {
        out.writeInt(frame.remaining());
        out.write(frame.array(), frame.arrayOffset() + frame.position(), frame.remaining());
        out.flush();
    }
}
