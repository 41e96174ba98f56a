package dev.puri.benchmarks.load;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/** An HTTP/1.1 connection that sends and returns raw bytes. Not thread-safe. */
public final class HttpSocket implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 30_000;

    /** Maximum number of pipelined requests; with more, both sides could block on full socket buffers. */
    private static final int MAX_PIPELINED = 100;

    private final Socket socket;
    private final InputStream in;

    /** Connects to a port of this machine. */
    public HttpSocket(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    /**
     * An HTTP response with a content length.
     *
     * @param head from the status line to the empty line
     */
    public record Response(int status, String head, byte[] body) {
        /** Returns the body. */
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /** Returns the bytes of head and body as received. */
        public byte[] bytes() {
            return concatenated(head, body);
        }
    }

    /** Returns a GET request. */
    public static byte[] get(String path) {
        return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns a POST request with a body of JSON. */
    public static byte[] post(String path, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: " + bytes.length + "\r\n\r\n";
        return concatenated(head, bytes);
    }

    private static byte[] concatenated(String head, byte[] body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
        bytes.writeBytes(body);
        return bytes.toByteArray();
    }

    /** Sends a request over a new connection, and returns the answer. */
    public static Response askOnce(int port, byte[] request) throws IOException {
        try (HttpSocket socket = new HttpSocket(port)) {
            return socket.ask(request);
        }
    }

    /** Sends a request, and returns the answer. */
    public Response ask(byte[] request) throws IOException {
        socket.getOutputStream().write(request);
        return receive();
    }

    /**
     * Sends a request, and returns the answer.
     *
     * @throws IllegalStateException if the answer has another status
     */
    public Response ask(byte[] request, int status) throws IOException {
        Response answer = ask(request);
        if (answer.status != status) {
            throw new IllegalStateException("answered with " + answer.head + answer.text());
        }
        return answer;
    }

    /**
     * Sends GET requests as a pipeline; the server answers them in order (RFC 9112 §9.3.2).
     *
     * @param statuses receives the status of each answer, in the order of the paths
     */
    public void getAll(List<String> paths, IntConsumer statuses) throws IOException {
        for (int from = 0; from < paths.size(); from += MAX_PIPELINED) {
            List<String> batch = paths.subList(from, Math.min(from + MAX_PIPELINED, paths.size()));
            ByteArrayOutputStream requests = new ByteArrayOutputStream(batch.size() * 128);
            batch.forEach(path -> requests.writeBytes(get(path)));
            requests.writeTo(socket.getOutputStream());
            for (int i = 0; i < batch.size(); i++) {
                statuses.accept(receive().status);
            }
        }
    }

    private Response receive() throws IOException {
        StringBuilder head = new StringBuilder(256);
        int lineFeeds = 0;
        while (lineFeeds < 2) {
            int b = in.read();
            if (b < 0) {
                throw new EOFException("closed after: " + head);
            }
            head.append((char) b);
            lineFeeds = b == '\n' ? lineFeeds + 1 : b == '\r' ? lineFeeds : 0;
        }
        String text = head.toString();
        int length = bodyLength(text);
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("closed within the body of: " + head);
        }
        return new Response(Integer.parseInt(text.substring(9, 12)), text, body);
    }

    /** Returns the content length in the head of an answer. */
    static int bodyLength(String head) {
        String name = "\r\ncontent-length:";
        int nameIndex = head.toLowerCase(Locale.ROOT).indexOf(name);
        if (nameIndex < 0) {
            throw new IllegalStateException("an answer without a content length: " + head);
        }
        int valueIndex = nameIndex + name.length();
        return Integer.parseInt(
                head.substring(valueIndex, head.indexOf('\r', valueIndex)).strip());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
