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

/** Answers every request with the same headers and body, made beforehand, for the cost of Vert.x alone. */
final class BareHandler extends Baseline {
    private static final byte[] END_OF_HEAD = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Map<CharSequence, CharSequence> headers = new LinkedHashMap<>();
    private final Buffer body;

    /**
     * Reads the answer.
     *
     * @param answer a file with an answer as another server gave it, from its status line on
     */
    BareHandler(Path answer) {
        try {
            Buffer all = Buffer.buffer(Files.readAllBytes(answer));
            int end = endOfHead(all);
            for (String line :
                    all.getString(0, end, "ISO-8859-1").lines().skip(1).toList()) {
                int colon = line.indexOf(':');
                headers.put(
                        new AsciiString(line.substring(0, colon)),
                        new AsciiString(line.substring(colon + 1).strip()));
            }
            body = all.getBuffer(end + END_OF_HEAD.length, all.length());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int endOfHead(Buffer all) {
        int at = 0;
        while (!all.getBuffer(at, at + END_OF_HEAD.length).equals(Buffer.buffer(END_OF_HEAD))) {
            at++;
        }
        return at;
    }

    @Override
    void answer(HttpServerRequest request) {
        MultiMap all = request.response().headers();
        for (Map.Entry<CharSequence, CharSequence> header : headers.entrySet()) {
            all.set(header.getKey(), header.getValue());
        }
        request.response().end(body);
    }
}
