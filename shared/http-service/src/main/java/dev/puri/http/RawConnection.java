package dev.puri.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;

/**
 * Connection operations that the public API of Vert.x does not offer. Only this class and {@link StrictRequestDecoder}
 * depend on internals of Vert.x. All methods must be called on the connection's event loop.
 */
final class RawConnection {
    private static final String DECODER = "httpDecoder";
    private static final String ENCODER = "httpEncoder";

    private RawConnection() {}

    /**
     * Closes the connection at once. {@link HttpConnection#close} would first write pending data, which never ends if
     * the client does not read.
     */
    static void close(HttpConnection connection) {
        context(connection).close();
    }

    /** Flushes written data now. By itself, Vert.x flushes after it has handled all data that Netty has read. */
    static void flush(HttpConnection connection) {
        context(connection).flush();
    }

    /** Sends a response although no request was read, then closes the connection. On HTTP/2, sends no response. */
    static void respondAndClose(HttpConnection connection, byte[] response) {
        ChannelHandlerContext encoder = context(connection).pipeline().context(ENCODER);
        if (encoder == null) {
            connection.close();
        } else {
            encoder.writeAndFlush(Unpooled.wrappedBuffer(response)).addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Makes an HTTP/1 connection refuse requests that other parsers may frame differently. */
    static void useStrictDecoder(HttpConnection connection, HttpServerOptions options) {
        ChannelPipeline pipeline = context(connection).pipeline();
        if (pipeline.get(DECODER) != null) {
            pipeline.replace(DECODER, DECODER, new StrictRequestDecoder(options));
        }
    }

    /**
     * Limits the concurrent requests of an HTTP/2 connection. By itself, Netty applies the limit only after the client
     * has acknowledged the server's settings, which a malicious client never does.
     */
    static void limitStreams(HttpConnection connection, int max) {
        Http2ConnectionHandler handler = context(connection).pipeline().get(Http2ConnectionHandler.class);
        if (handler != null) {
            handler.connection().remote().maxActiveStreams(max);
        }
    }

    private static ChannelHandlerContext context(HttpConnection connection) {
        return ((HttpServerConnection) connection).channelHandlerContext();
    }
}
