package dev.puri.benchmarks.serve;

import io.netty.util.AsciiString;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Answers every request with the same prepared headers and body, to show the cost of Vert.x alone. */
final class BareHandler extends Baseline {
    private static final byte[] END_OF_HEAD = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Map<CharSequence, CharSequence> headers = new LinkedHashMap<>();
    private final Buffer body;

    /**
     * Reads the answer from a file.
     *
     * @param answer a file with the bytes of an HTTP response, from the status line on
     */
    BareHandler(Path answer) {
        try {
            Buffer bytes = Buffer.buffer(Files.readAllBytes(answer));
            int end = endOfHead(bytes);
            for (String line :
                    bytes.getString(0, end, "ISO-8859-1").lines().skip(1).toList()) {
                int colon = line.indexOf(':');
                headers.put(
                        new AsciiString(line.substring(0, colon)),
                        new AsciiString(line.substring(colon + 1).strip()));
            }
            body = bytes.getBuffer(end + END_OF_HEAD.length, bytes.length());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int endOfHead(Buffer bytes) {
        int index = 0;
        while (!bytes.getBuffer(index, index + END_OF_HEAD.length).equals(Buffer.buffer(END_OF_HEAD))) {
            index++;
        }
        return index;
    }

    @Override
    void answer(HttpServerRequest request) {
        MultiMap responseHeaders = request.response().headers();
        for (Map.Entry<CharSequence, CharSequence> header : headers.entrySet()) {
            responseHeaders.set(header.getKey(), header.getValue());
        }
        request.response().end(body);
    }
}
