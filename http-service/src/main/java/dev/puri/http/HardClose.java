package dev.puri.http;

import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;

/**
 * Closes a connection at once. {@link HttpConnection#close} closes it behind what is still to be written,
 * which is never when the client does not read; Vert.x' public interface has nothing else.
 */
final class HardClose {
    private HardClose() {}

    /** To be called on the connection's event loop. */
    static void of(HttpConnection connection) {
        ((HttpServerConnection) connection).channelHandlerContext().close();
    }
}
