package dev.puri.resolver.hostile;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes that were received over a connection, each byte a character.
 *
 * @param head of the first answer, up to its empty line; empty when there was none
 * @param text all of it
 */
record RawAnswer(String head, String text) {
    private static final int TIMEOUT_MILLIS = 15_000;

    /** A stream is endless, and while it lasts, the server does not read on and notice a disconnected client. */
    private static final int STREAM_MILLIS = 200;

    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: (\\d+)\r\n");

    /** The number of bytes to read, because streams are endless. */
    private static final int MOST = 4 << 20;

    int status() {
        return Integer.parseInt(head.substring(9, 12));
    }

    String body() {
        return text.substring(head.length());
    }

    /** Sends all of it; returns the one expected response, or all bytes until the server closes. */
    static RawAnswer to(HostileRequest request, int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            boolean mayStream = request.answers() == 0 && request.text().contains("/v1/changes");
            socket.setSoTimeout(mayStream ? STREAM_MILLIS : TIMEOUT_MILLIS);
            // Reset at the end, so that thousands of ports do not linger.
            socket.setSoLinger(true, 0);
            InputStream in = new BufferedInputStream(socket.getInputStream());
            try {
                socket.getOutputStream().write(request.bytes());
                if (request.answers() == 0) {
                    socket.shutdownOutput();
                }
            } catch (SocketException e) {
                // The server has received enough, and responds.
            }
            return request.answers() == 0 ? rest(in, mayStream) : one(in, request.isHead());
        }
    }

    private static RawAnswer one(InputStream in, boolean isHead) throws IOException {
        String head = head(in);
        while (head.startsWith("HTTP/1.1 100 ")) {
            head = head(in);
        }
        Matcher length = LENGTH.matcher(head);
        if (isHead || !length.find()) {
            return new RawAnswer(head, head);
        }
        byte[] body = in.readNBytes(Integer.parseInt(length.group(1)));
        return new RawAnswer(head, head + new String(body, StandardCharsets.ISO_8859_1));
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed after: " + head);
            }
            head.append((char) b);
        }
        return head.toString();
    }

    private static RawAnswer rest(InputStream in, boolean mayStream) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        try {
            for (int n = in.read(part); n >= 0 && all.size() < MOST; n = in.read(part)) {
                all.write(part, 0, n);
            }
        } catch (SocketException e) {
            // Reset: closed all the same.
        } catch (SocketTimeoutException e) {
            if (!mayStream) {
                throw e;
            }
        }
        String text = all.toString(StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        return new RawAnswer(end < 0 ? text : text.substring(0, end + 4), text);
    }
}
