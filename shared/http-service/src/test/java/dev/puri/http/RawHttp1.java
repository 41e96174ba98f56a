package dev.puri.http;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** An HTTP/1.1 client that sends any bytes. */
final class RawHttp1 implements Closeable {
    private final Socket socket = new Socket();

    RawHttp1(int port) throws IOException {
        // Small, so that the buffer is full soon.
        socket.setReceiveBufferSize(16 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(20_000);
    }

    /** Sends one request and returns all bytes that the server sends until it closes the connection. */
    static String ask(int port, String request) throws IOException {
        try (RawHttp1 client = new RawHttp1(port)) {
            client.send(request);
            return client.rest();
        }
    }

    /** Sends text, one byte for each character. */
    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns the bytes that the server sends until it closes the connection. */
    String rest() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        InputStream in = socket.getInputStream();
        byte[] part = new byte[8192];
        try {
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                all.write(part, 0, n);
            }
        } catch (SocketException e) {
            // A reset also closes the connection.
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Returns the bytes that the server sends up to the given text. */
    String until(String text) throws IOException {
        StringBuilder all = new StringBuilder();
        InputStream in = socket.getInputStream();
        while (!endsWith(all, text)) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed after: " + all);
            }
            all.append((char) b);
        }
        return all.toString();
    }

    private static boolean endsWith(StringBuilder all, String text) {
        int at = all.length() - text.length();
        return at >= 0 && all.indexOf(text, at) == at;
    }

    /**
     * Sends the pieces with some milliseconds between them, until the server responds or closes the connection.
     *
     * @return the bytes that the server sent; empty if it closed the connection without a response
     */
    String drip(String piece, int millis, int most) throws IOException {
        socket.setSoTimeout(millis);
        for (int i = 0; i < most; i++) {
            try {
                send(piece);
                int b = socket.getInputStream().read();
                socket.setSoTimeout(20_000);
                return b < 0 ? "" : (char) b + rest();
            } catch (SocketTimeoutException e) {
                // No response yet.
            } catch (SocketException e) {
                return "";
            }
        }
        throw new IOException("still open after " + most + " pieces");
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
