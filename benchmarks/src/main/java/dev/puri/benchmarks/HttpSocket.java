package dev.puri.benchmarks;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One connection of HTTP/1.1 that sends bytes as they are, and gives answers as they came. Not thread-safe. */
final class HttpSocket implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket;
    private final InputStream in;

    HttpSocket(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    /**
     * An answer of known length.
     *
     * @param head from the status line to the empty line
     */
    record Answer(int status, String head, byte[] body) {
        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /** As it came. */
        byte[] bytes() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
            all.writeBytes(body);
            return all.toByteArray();
        }
    }

    static byte[] get(String path) {
        return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    static byte[] post(String path, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: " + bytes.length + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        all.writeBytes(bytes);
        return all.toByteArray();
    }

    Answer ask(byte[] request) throws IOException {
        send(request);
        return receive();
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    Answer receive() throws IOException {
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
        int length = length(text);
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("closed within the body of: " + head);
        }
        return new Answer(Integer.parseInt(text.substring(9, 12)), text, body);
    }

    /** Of the body that an answer's head announces. */
    static int length(String head) {
        String name = "\r\ncontent-length:";
        int at = head.toLowerCase(Locale.ROOT).indexOf(name);
        if (at < 0) {
            throw new IllegalStateException("an answer without a length: " + head);
        }
        int from = at + name.length();
        return Integer.parseInt(head.substring(from, head.indexOf('\r', from)).strip());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
