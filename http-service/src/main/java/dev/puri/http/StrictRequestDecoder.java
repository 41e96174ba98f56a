package dev.puri.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes HTTP/1 and refuses messages that another parser could frame differently (RFC 9112). Netty accepts them. If a
 * proxy and Netty disagree about the end of a request, a client can write the beginning of another client's request
 * (request smuggling).
 *
 * <p>After a refused message nothing more is read, because the beginning of the next message is unknown.
 *
 * <p>The decoder copies bodies to the heap. Vert.x copies them later, but never releases the network buffers of
 * requests that are queued behind another one when the client disconnects.
 */
final class StrictRequestDecoder extends VertxHttpRequestDecoder {
    private static final int TRANSFER_ENCODING_LENGTH = HttpHeaderNames.TRANSFER_ENCODING.length();
    private static final int HOST_LENGTH = HttpHeaderNames.HOST.length();

    /** Index of the byte that Vert.x 5.0.10 does not compare: it reads the name Content-Xength as Content-Length. */
    private static final int UNCOMPARED = "content-".length();

    private static final int LINE_BREAK = 2;

    /** The part of a message that the next bytes belong to. */
    private enum Part {
        HEAD,
        /** A body of a known length. */
        BODY,
        CHUNKS,
        TRAILERS,
        /** Bytes after a refused message. */
        REFUSED
    }

    private Part part = Part.HEAD;

    /** Number of bytes until the next chunk size: the rest of a chunk and its line break. */
    private long bytesToChunkSize;

    private int hosts;
    private int transferEncodings;
    private boolean isFolded;

    /** Thrown for a message that breaks a rule of HTTP. */
    static final class FramingException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        /**
         * @param rule a sentence for the client
         */
        FramingException(String rule) {
            super(rule);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            // The exception describes the client's bytes; a stack trace is useless.
            return this;
        }
    }

    StrictRequestDecoder(HttpServerOptions options) {
        super(options);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> decoded) throws Exception {
        if (part == Part.REFUSED) {
            bytes.skipBytes(bytes.readableBytes());
            return;
        }
        int begin = bytes.readerIndex();
        int first = decoded.size();
        int chunkSizeBytes = 0;
        if (part == Part.CHUNKS && bytesToChunkSize == 0) {
            int end = bytes.indexOf(begin, bytes.writerIndex(), (byte) '\n');
            if (end >= 0) {
                long size = chunkSize(bytes, begin, end);
                if (size < 0) {
                    refuseBody("A chunk's size is not hexadecimal digits.", bytes, decoded);
                    return;
                }
                chunkSizeBytes = end + 1 - begin;
                bytesToChunkSize = size + LINE_BREAK;
                part = size == 0 ? Part.TRAILERS : Part.CHUNKS;
            }
        }
        boolean wasChunks = part == Part.CHUNKS;
        boolean hasHeaders = part == Part.HEAD || part == Part.TRAILERS && chunkSizeBytes == 0;
        super.decode(context, bytes, decoded);
        if (wasChunks) {
            bytesToChunkSize -= bytes.readerIndex() - begin - chunkSizeBytes;
        } else if (hasHeaders) {
            isFolded |= anyLineBeginsWithSpace(bytes, begin, bytes.readerIndex());
        }
        for (int i = first; i < decoded.size(); i++) {
            String rule = onDecoded(decoded, i);
            if (rule != null) {
                refuse(rule, decoded, i);
            }
        }
    }

    /**
     * Updates the state for a decoded part of a message.
     *
     * @return the rule that the message breaks; null if none
     */
    private @Nullable String onDecoded(List<Object> decoded, int i) {
        Object message = decoded.get(i);
        if (message instanceof HttpRequest request) {
            if (request.decoderResult().isFailure()) {
                return null;
            }
            part = transferEncodings == 0 ? Part.BODY : Part.CHUNKS;
            bytesToChunkSize = 0;
            return brokenRule(request);
        }
        if (message instanceof HttpContent content) {
            if (content.content().isReadable()) {
                decoded.set(i, content.replace(Unpooled.copiedBuffer(content.content())));
                content.release();
            }
            if (message instanceof LastHttpContent && content.decoderResult().isSuccess()) {
                boolean wasFolded = isFolded;
                part = Part.HEAD;
                hosts = 0;
                transferEncodings = 0;
                isFolded = false;
                return wasFolded ? "A trailer goes on in a second line." : null;
            }
        }
        return null;
    }

    private @Nullable String brokenRule(HttpRequest request) {
        boolean isHttp10 = request.protocolVersion() == HttpVersion.HTTP_1_0;
        HttpHeaders headers = request.headers();
        if (isFolded) {
            return "A line of the head begins with white space.";
        }
        if (hosts > 1 || hosts == 0 && !isHttp10) {
            return "There is not exactly one Host header.";
        }
        if (transferEncodings > 0) {
            if (isHttp10) {
                return "HTTP/1.0 knows no Transfer-Encoding.";
            }
            String coding = headers.get(HttpHeaderNames.TRANSFER_ENCODING);
            if (transferEncodings > 1 || coding == null || !coding.strip().equalsIgnoreCase("chunked")) {
                return "The Transfer-Encoding is not chunked alone.";
            }
            if (headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
                return "There are both a Transfer-Encoding and a Content-Length.";
            }
        }
        return null;
    }

    private void refuse(String rule, List<Object> decoded, int at) {
        Object message = decoded.get(at);
        DecoderResult failure = DecoderResult.failure(new FramingException(rule));
        for (int i = decoded.size() - 1; i > at; i--) {
            ReferenceCountUtil.release(decoded.remove(i));
        }
        if (message instanceof HttpRequest request) {
            request.setDecoderResult(failure);
        } else {
            ReferenceCountUtil.release(message);
            decoded.set(at, failedContent(failure));
        }
        part = Part.REFUSED;
    }

    private void refuseBody(String rule, ByteBuf bytes, List<Object> decoded) {
        bytes.skipBytes(bytes.readableBytes());
        decoded.add(failedContent(DecoderResult.failure(new FramingException(rule))));
        part = Part.REFUSED;
    }

    private static HttpContent failedContent(DecoderResult failure) {
        HttpContent content = new DefaultHttpContent(Unpooled.EMPTY_BUFFER);
        content.setDecoderResult(failure);
        return content;
    }

    /** Whether a line begins with white space, which continues the previous line (obs-fold), or a control character. */
    private static boolean anyLineBeginsWithSpace(ByteBuf bytes, int begin, int end) {
        for (int line = begin; line < end; ) {
            byte first = bytes.getByte(line);
            if (first >= 0 && first <= ' ' && first != '\r' && first != '\n') {
                return true;
            }
            int lineEnd = bytes.indexOf(line, end, (byte) '\n');
            if (lineEnd < 0) {
                return false;
            }
            line = lineEnd + 1;
        }
        return false;
    }

    /**
     * Parses the size of a chunk. Netty accepts a space after the digits, and ignores the digits beyond 32 bits.
     *
     * @param end index of the line's LF
     * @return -1 if it is not a valid size
     */
    private static long chunkSize(ByteBuf line, int begin, int end) {
        long size = 0;
        int at = begin;
        for (; at < end; at++) {
            int digit = Character.digit(line.getByte(at), 16);
            if (digit < 0) {
                break;
            }
            size = 16 * size + digit;
            if (size > Integer.MAX_VALUE) {
                return -1;
            }
        }
        boolean isSize = at > begin && (line.getByte(at) == ';' || line.getByte(at) == '\r' && at + 1 == end);
        return isSize ? size : -1;
    }

    @Override
    protected AsciiString splitHeaderName(byte[] line, int start, int length) {
        if (length == 0) {
            throw new FramingException("A header has no name.");
        }
        AsciiString name = super.splitHeaderName(line, start, length);
        if (length > UNCOMPARED && (name.byteAt(UNCOMPARED) | 0x20) != (line[start + UNCOMPARED] | 0x20)) {
            name = new AsciiString(line, start, length, true);
        }
        if (length == HOST_LENGTH && HttpHeaderNames.HOST.contentEqualsIgnoreCase(name)) {
            hosts++;
        } else if (length == TRANSFER_ENCODING_LENGTH
                && HttpHeaderNames.TRANSFER_ENCODING.contentEqualsIgnoreCase(name)) {
            transferEncodings++;
        }
        return name;
    }

    @Override
    protected HttpMessage createMessage(String[] initialLine) {
        // For other protocols Vert.x would respond 501 with the protocol name of the request.
        String protocol = initialLine[2];
        if (!protocol.equals("HTTP/1.1") && !protocol.equals("HTTP/1.0")) {
            throw new FramingException("The protocol is neither HTTP/1.1 nor HTTP/1.0.");
        }
        return super.createMessage(initialLine);
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        // Netty would remove the Content-Length, and brokenRule() could not detect the conflict.
    }
}
