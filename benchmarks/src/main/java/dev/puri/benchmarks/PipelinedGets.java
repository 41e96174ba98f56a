package dev.puri.benchmarks;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * Many GETs over one kept connection, sent at once and answered in order (RFC 9112 §9.3.2). What asks
 * thousands of times a second must cost next to nothing, or it measures itself. Not thread-safe.
 */
final class PipelinedGets implements AutoCloseable {
    /** So few that neither side's socket buffer fills while the other still writes. */
    private static final int AT_ONCE = 100;

    private static final int BUFFER = 1 << 16;

    private final Socket socket;
    private final InputStream in;
    private final String host;

    PipelinedGets(String host, int port) throws IOException {
        this.host = host + ':' + port;
        socket = new Socket(host, port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(10_000);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER);
    }

    /**
     * Asks for all paths.
     *
     * @param answered told the status of each in their order, as it comes
     */
    void get(List<String> paths, IntConsumer answered) throws IOException {
        for (int from = 0; from < paths.size(); from += AT_ONCE) {
            List<String> some = paths.subList(from, Math.min(from + AT_ONCE, paths.size()));
            ByteArrayOutputStream requests = new ByteArrayOutputStream(some.size() * 128);
            for (String path : some) {
                requests.writeBytes(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
            }
            requests.writeTo(socket.getOutputStream());
            for (int i = 0; i < some.size(); i++) {
                answered.accept(readAnswer());
            }
        }
    }

    /** Reads one answer, its body too, and returns its status. */
    private int readAnswer() throws IOException {
        String statusLine = readLine();
        int length = -1;
        for (String header = readLine(); !header.isEmpty(); header = readLine()) {
            int colon = header.indexOf(':');
            if (header.substring(0, Math.max(colon, 0)).toLowerCase(Locale.ROOT).equals("content-length")) {
                length = Integer.parseInt(header.substring(colon + 1).strip());
            }
        }
        if (!statusLine.startsWith("HTTP/1.1 ") || length < 0) {
            throw new IOException("an answer that is not understood: " + statusLine);
        }
        in.skipNBytes(length);
        return Integer.parseInt(statusLine, 9, 12, 10);
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the resolver closed the connection");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
