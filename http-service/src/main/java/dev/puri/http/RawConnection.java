package dev.puri.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerConnection;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.util.List;

/**
 * What has to be done to a connection and Vert.x' public interface has no word for. Everything that
 * depends on the inside of Vert.x is here. All of it is to be called on the connection's event loop.
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

    /** Answers a client of HTTP/1.1 that has not asked yet, then closes; others are closed without a word. */
    static void close(HttpConnection connection, byte[] answer) {
        ChannelHandlerContext encoder = context(connection).pipeline().context(ENCODER);
        if (encoder == null) {
            connection.close();
        } else {
            encoder.writeAndFlush(Unpooled.wrappedBuffer(answer)).addListener(ChannelFutureListener.CLOSE);
        }
    }

    /**
     * Refuses two kinds of requests that Netty lets pass. Of those that tell their length in two ways it
     * believes the chunks and forgets the other, as RFC 9112, 6.3, has it; but whoever stands before us
     * may have believed the other, and then sees one request where we see two. Those of a protocol that is
     * not HTTP/1 would be answered by Vert.x with 501, in the name of whatever protocol they say.
     *
     * <p>Bodies leave the decoder as copies on the heap. Vert.x makes these copies a step later, and never of
     * those that wait behind a request under way when their client goes: each such client would leave a buffer
     * of the network's for ever.
     */
    static void readStrictly(HttpConnection connection, HttpServerOptions options) {
        ChannelPipeline pipeline = context(connection).pipeline();
        if (pipeline.get(DECODER) != null) {
            pipeline.replace(DECODER, DECODER, new Strict(options));
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

    private static final class Strict extends VertxHttpRequestDecoder {
        Strict(HttpServerOptions options) {
            super(options);
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded) throws Exception {
            int before = decoded.size();
            super.decode(context, bytes, decoded);
            for (int i = before; i < decoded.size(); i++) {
                if (decoded.get(i) instanceof HttpContent content
                        && content.content().isReadable()) {
                    decoded.set(i, content.replace(Unpooled.copiedBuffer(content.content())));
                    content.release();
                }
            }
        }

        @Override
        protected HttpMessage createMessage(String[] initialLine) {
            String protocol = initialLine[2];
            if (!protocol.equals("HTTP/1.1") && !protocol.equals("HTTP/1.0")) {
                throw new IllegalArgumentException("neither HTTP/1.1 nor HTTP/1.0");
            }
            return super.createMessage(initialLine);
        }

        /** Netty takes an unknown coding for none, and the body for the next request (RFC 9112, 6.1 and 6.3). */
        @Override
        protected boolean isContentAlwaysEmpty(HttpMessage message) {
            List<String> codings = message.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
            if (!codings.isEmpty()
                    && !(codings.size() == 1 && codings.getFirst().strip().equalsIgnoreCase("chunked"))) {
                throw new IllegalArgumentException("a transfer coding that is not chunked");
            }
            return super.isContentAlwaysEmpty(message);
        }

        @Override
        protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
            throw new IllegalArgumentException("both chunked and of a given length");
        }
    }
}
