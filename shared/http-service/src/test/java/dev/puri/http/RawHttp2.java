package dev.puri.http;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** An HTTP/2 client that sends any frames (RFC 9113), also invalid ones. */
final class RawHttp2 implements Closeable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int GOAWAY = 7;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    private static final int PRIORITY = 0x20;

    private final SSLSocket socket;
    private final DataInputStream in;

    /** A frame, whose payload the test interprets. */
    record Frame(int type, int flags, int stream, byte[] payload) {
        /** Returns the error code of RST_STREAM and GOAWAY. */
        int code() {
            int at = type == GOAWAY ? 4 : 0;
            return (payload[at] & 0xff) << 24
                    | (payload[at + 1] & 0xff) << 16
                    | (payload[at + 2] & 0xff) << 8
                    | payload[at + 3] & 0xff;
        }
    }

    RawHttp2(SSLContext tls, int port) throws IOException {
        socket = (SSLSocket) tls.getSocketFactory().createSocket("127.0.0.1", port);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {"h2"});
        socket.setSSLParameters(parameters);
        socket.setSoTimeout(20_000);
        socket.startHandshake();
        in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        send(SETTINGS, 0, 0, new byte[0]);
    }

    void send(int type, int flags, int stream, byte[] payload) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.writeBytes(
                new byte[] {(byte) (payload.length >> 16), (byte) (payload.length >> 8), (byte) payload.length});
        frame.write(type);
        frame.write(flags);
        frame.writeBytes(
                new byte[] {(byte) (stream >> 24), (byte) (stream >> 16), (byte) (stream >> 8), (byte) stream});
        frame.writeBytes(payload);
        socket.getOutputStream().write(frame.toByteArray());
    }

    /** Sends a complete GET request. */
    void get(int stream, String path) throws IOException {
        send(HEADERS, END_HEADERS | END_STREAM, stream, head(path));
    }

    void get(int stream, String path, String authority) throws IOException {
        send(HEADERS, END_HEADERS | END_STREAM, stream, head(path, authority));
    }

    void reset(int stream) throws IOException {
        send(RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
    }

    /** Encodes headers with names of the static table (RFC 7541, appendix A) and literal values. */
    static byte[] head(String path) {
        return head(path, "127.0.0.1");
    }

    private static byte[] head(String path, String authority) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.write(0x82); // :method GET
        block.write(0x87); // :scheme https
        literal(block, 0x01, authority); // :authority
        literal(block, 0x04, path); // :path
        return block.toByteArray();
    }

    /** Encodes a header with a literal name. */
    static byte[] header(String name, String value) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        literal(block, 0x00, name);
        text(block, value);
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, int index, String value) {
        block.write(index);
        text(block, value);
    }

    private static void text(ByteArrayOutputStream block, String text) {
        int length = text.length();
        if (length < 127) {
            block.write(length);
        } else {
            block.write(127);
            for (length -= 127; length >= 128; length >>= 7) {
                block.write(length & 127 | 128);
            }
            block.write(length);
        }
        block.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /**
     * Returns the next frame of one of these types. Skips other frames and acknowledges settings.
     *
     * @throws EOFException if the connection is closed before
     */
    Frame next(Integer... types) throws IOException {
        while (true) {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int stream = in.readInt();
            if (type == HEADERS && (flags & PRIORITY) != 0) {
                in.readNBytes(5);
                length -= 5;
            }
            Frame frame = new Frame(type, flags, stream, in.readNBytes(length));
            if (type == SETTINGS && (flags & 1) == 0) {
                send(SETTINGS, 1, 0, new byte[0]);
            }
            if (Arrays.asList(types).contains(type)) {
                return frame;
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
