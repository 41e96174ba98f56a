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
 * What has to be done to a connection and Vert.x' public interface has no word for. Everything that
 * depends on the inside of Vert.x is here and in {@link StrictRequestDecoder}. All of it is to be called on
 * the connection's event loop.
 */
final class RawConnection {
    private static final String DECODER = "httpDecoder";
    private static final String ENCODER = "httpEncoder";

    private RawConnection() {}

    /**
     * Closes at once. {@link HttpConnection#close} closes behind what is still to be written, which is
     * never when the client does not read.
     */
    static void close(HttpConnection connection) {
        context(connection).close();
    }

    /** Sends what was written, although more is being read. */
    static void flush(HttpConnection connection) {
        context(connection).flush();
    }

    /** Answers a client of HTTP/1.1 that has not asked yet, then closes; others are closed without a word. */
    static void close(HttpConnection connection, byte[] answer) {
        ChannelHandlerContext encoder = context(connection).pipeline().context(ENCODER);
        if (encoder == null) {
            connection.close();
        } else {
            encoder.writeAndFlush(Unpooled.wrappedBuffer(answer)).addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Makes a connection of HTTP/1 refuse requests that Netty accepts and another parser reads differently. */
    static void readStrictly(HttpConnection connection, HttpServerOptions options) {
        ChannelPipeline pipeline = context(connection).pipeline();
        if (pipeline.get(DECODER) != null) {
            pipeline.replace(DECODER, DECODER, new StrictRequestDecoder(options));
        }
    }

    /**
     * Bounds the requests at a time on a connection of HTTP/2. Netty does so only from when the client has
     * acknowledged our settings, which one that means harm never does.
     */
    static void boundStreams(HttpConnection connection, int most) {
        Http2ConnectionHandler handler = context(connection).pipeline().get(Http2ConnectionHandler.class);
        if (handler != null) {
            handler.connection().remote().maxActiveStreams(most);
        }
    }

    private static ChannelHandlerContext context(HttpConnection connection) {
        return ((HttpServerConnection) connection).channelHandlerContext();
    }
}
