package dev.puri.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/**
 * Sends HTTP/1.1 requests as raw bytes. Responses are decoded as ISO 8859-1, so that each byte becomes one character.
 */
public final class RawHttp {
    /** Most methods of HTTP, and one unknown method. */
    public static final String[] METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"
    };

    private RawHttp() {}

    /**
     * Returns the bytes of a request. The server closes the connection after its response.
     *
     * @param headers additional headers, each followed by a line break
     * @param body empty for no body
     */
    public static byte[] request(String method, String path, String headers, String body) {
        String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
        return (method + ' ' + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + length
                        + "\r\n" + body)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Sends a request without additional headers and without body, and returns the whole response. */
    public static String ask(int port, String method, String path) throws IOException {
        return exchange(port, request(method, path, "", ""));
    }

    /** Sends bytes to a port of the loopback interface, and returns the whole response. */
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

    /** Returns the body of a response. */
    public static String body(String response) {
        return response.substring(response.indexOf("\r\n\r\n") + 4);
    }
}
