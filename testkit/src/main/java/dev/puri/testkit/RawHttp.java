package dev.puri.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** Sends HTTP/1.1 requests as raw bytes, and returns answers decoded as ISO 8859-1, so that each byte is one character. */
public final class RawHttp {
    /** All methods of HTTP, and an unknown one. */
    public static final String[] METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"
    };

    private RawHttp() {}

    /**
     * Returns a request after whose answer the connection ends.
     *
     * @param headers additional headers, each with its line break
     */
    public static byte[] request(String method, String path, String headers, String body) {
        String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
        return (method + ' ' + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + length
                        + "\r\n" + body)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Sends a request without headers and body. */
    public static String ask(int port, String method, String path) throws IOException {
        return exchange(port, request(method, path, "", ""));
    }

    /** Sends bytes to a port of this machine, and returns the whole answer. */
    public static String exchange(int port, byte[] request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketException e) {
            throw new IOException(
                    "at " + new String(request, 0, Math.min(200, request.length), StandardCharsets.ISO_8859_1), e);
        }
    }

    /** The body of an answer. */
    public static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }
}
