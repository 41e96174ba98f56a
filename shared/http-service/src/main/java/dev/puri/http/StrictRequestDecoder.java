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
 * Decodes HTTP/1 and refuses messages that another parser could frame differently (RFC 9112), but that Netty accepts.
 * If a proxy and Netty disagree about the end of a request, a client can write the start of another client's request
 * (request smuggling).
 *
 * <p>After a refused message the decoder discards all further bytes, because the start of the next message is unknown.
 *
 * <p>The decoder copies bodies to the heap. Vert.x would copy them later, but if the client disconnects it never
 * releases the network buffers of requests that are queued behind another request.
 */
final class StrictRequestDecoder extends VertxHttpRequestDecoder {
    private static final int TRANSFER_ENCODING_LENGTH = HttpHeaderNames.TRANSFER_ENCODING.length();
    private static final int HOST_LENGTH = HttpHeaderNames.HOST.length();

    /**
     * The index of the byte that Vert.x 5.0.10 does not compare when it looks up a header name. So it mistakes
     * Content-Xength for Content-Length.
     */
    private static final int UNCOMPARED_INDEX = "content-".length();

    private static final int LINE_BREAK_LENGTH = 2;

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

    /** The number of bytes until the next chunk size: the rest of the chunk and its line break. */
    private long bytesToChunkSize;

    private int hostHeaderCount;
    private int transferEncodingCount;
    /** Whether a header or trailer of the current message is on a line with an invalid start. */
    private boolean hasInvalidLineStart;

    /** Thrown for a message that violates a rule of HTTP. */
    static final class FramingException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        /**
         * @param violation describes the violated rule; a sentence for the client
         */
        FramingException(String violation) {
            super(violation);
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
        int start = bytes.readerIndex();
        int firstNewIndex = decoded.size();
        int chunkSizeBytes = 0;
        if (part == Part.CHUNKS && bytesToChunkSize == 0) {
            int end = bytes.indexOf(start, bytes.writerIndex(), (byte) '\n');
            if (end >= 0) {
                long size = parseChunkSize(bytes, start, end);
                if (size < 0) {
                    refuseBody("The size of a chunk is not a valid hexadecimal number.", bytes, decoded);
                    return;
                }
                chunkSizeBytes = end + 1 - start;
                bytesToChunkSize = size + LINE_BREAK_LENGTH;
                part = size == 0 ? Part.TRAILERS : Part.CHUNKS;
            }
        }
        boolean isInChunks = part == Part.CHUNKS;
        boolean hasHeaders = part == Part.HEAD || part == Part.TRAILERS && chunkSizeBytes == 0;
        super.decode(context, bytes, decoded);
        if (isInChunks) {
            bytesToChunkSize -= bytes.readerIndex() - start - chunkSizeBytes;
        } else if (hasHeaders) {
            hasInvalidLineStart |= hasInvalidLineStart(bytes, start, bytes.readerIndex());
        }
        for (int i = firstNewIndex; i < decoded.size(); i++) {
            String violation = onDecoded(decoded, i);
            if (violation != null) {
                refuse(violation, decoded, i);
            }
        }
    }

    /**
     * Updates the state after a part of a message was decoded.
     *
     * @return the rule that the message violates; null if none
     */
    private @Nullable String onDecoded(List<Object> decoded, int i) {
        Object message = decoded.get(i);
        if (message instanceof HttpRequest request) {
            if (request.decoderResult().isFailure()) {
                return null;
            }
            part = transferEncodingCount == 0 ? Part.BODY : Part.CHUNKS;
            bytesToChunkSize = 0;
            return findViolation(request);
        }
        if (message instanceof HttpContent content) {
            if (content.content().isReadable()) {
                decoded.set(i, content.replace(Unpooled.copiedBuffer(content.content())));
                content.release();
            }
            if (message instanceof LastHttpContent && content.decoderResult().isSuccess()) {
                boolean hadInvalidLineStart = hasInvalidLineStart;
                part = Part.HEAD;
                hostHeaderCount = 0;
                transferEncodingCount = 0;
                hasInvalidLineStart = false;
                return hadInvalidLineStart ? "A trailer continues on a second line." : null;
            }
        }
        return null;
    }

    /** Returns the rule that the headers of a request violate; null if none. */
    private @Nullable String findViolation(HttpRequest request) {
        boolean isHttp10 = request.protocolVersion() == HttpVersion.HTTP_1_0;
        HttpHeaders headers = request.headers();
        if (hasInvalidLineStart) {
            return "A header line begins with white space.";
        }
        if (hostHeaderCount > 1 || hostHeaderCount == 0 && !isHttp10) {
            return "The request must have exactly one Host header.";
        }
        if (transferEncodingCount > 0) {
            if (isHttp10) {
                return "HTTP/1.0 does not allow Transfer-Encoding.";
            }
            String coding = headers.get(HttpHeaderNames.TRANSFER_ENCODING);
            if (transferEncodingCount > 1 || coding == null || !coding.strip().equalsIgnoreCase("chunked")) {
                return "The Transfer-Encoding must be chunked alone.";
            }
            if (headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
                return "The request has both a Transfer-Encoding and a Content-Length.";
            }
        }
        return null;
    }

    private void refuse(String violation, List<Object> decoded, int index) {
        Object message = decoded.get(index);
        DecoderResult failure = DecoderResult.failure(new FramingException(violation));
        for (int i = decoded.size() - 1; i > index; i--) {
            ReferenceCountUtil.release(decoded.remove(i));
        }
        if (message instanceof HttpRequest request) {
            request.setDecoderResult(failure);
        } else {
            ReferenceCountUtil.release(message);
            decoded.set(index, failedContent(failure));
        }
        part = Part.REFUSED;
    }

    private void refuseBody(String violation, ByteBuf bytes, List<Object> decoded) {
        bytes.skipBytes(bytes.readableBytes());
        decoded.add(failedContent(DecoderResult.failure(new FramingException(violation))));
        part = Part.REFUSED;
    }

    private static HttpContent failedContent(DecoderResult failure) {
        HttpContent content = new DefaultHttpContent(Unpooled.EMPTY_BUFFER);
        content.setDecoderResult(failure);
        return content;
    }

    /**
     * Returns whether any line begins with white space or a control character. Such a line could continue the previous
     * line (obs-fold).
     */
    private static boolean hasInvalidLineStart(ByteBuf bytes, int start, int end) {
        for (int line = start; line < end; ) {
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
     * Parses the size of a chunk. Netty would accept a space after the digits, and ignore digits beyond 32 bits.
     *
     * @param end the index of the line's LF
     * @return -1 if the size is invalid
     */
    private static long parseChunkSize(ByteBuf line, int start, int end) {
        long size = 0;
        int index = start;
        for (; index < end; index++) {
            int digit = Character.digit(line.getByte(index), 16);
            if (digit < 0) {
                break;
            }
            size = 16 * size + digit;
            if (size > Integer.MAX_VALUE) {
                return -1;
            }
        }
        boolean isSize =
                index > start && (line.getByte(index) == ';' || line.getByte(index) == '\r' && index + 1 == end);
        return isSize ? size : -1;
    }

    @Override
    protected AsciiString splitHeaderName(byte[] line, int start, int length) {
        if (length == 0) {
            throw new FramingException("A header has no name.");
        }
        AsciiString name = super.splitHeaderName(line, start, length);
        if (length > UNCOMPARED_INDEX
                && (name.byteAt(UNCOMPARED_INDEX) | 0x20) != (line[start + UNCOMPARED_INDEX] | 0x20)) {
            name = new AsciiString(line, start, length, true);
        }
        if (length == HOST_LENGTH && HttpHeaderNames.HOST.contentEqualsIgnoreCase(name)) {
            hostHeaderCount++;
        } else if (length == TRANSFER_ENCODING_LENGTH
                && HttpHeaderNames.TRANSFER_ENCODING.contentEqualsIgnoreCase(name)) {
            transferEncodingCount++;
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
        // Netty would remove the Content-Length, and findViolation() could not detect the conflict.
    }
}
