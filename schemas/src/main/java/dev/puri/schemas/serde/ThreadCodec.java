package dev.puri.schemas.serde;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes records with a buffer, an encoder and a decoder that are reused per thread. They are thread-local
 * because Kafka may call a serializer from many threads.
 */
final class ThreadCodec {
    /** A buffer that has grown larger than this is not reused. */
    private static final int MAX_REUSED_BYTES = 64 * 1024;

    private static final int MAX_REASON_LENGTH = 300;

    private static final ThreadLocal<ThreadCodec> OF_THREAD = ThreadLocal.withInitial(ThreadCodec::new);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    private @Nullable BinaryEncoder encoder;
    private @Nullable BinaryDecoder decoder;

    private ThreadCodec() {}

    /** Encodes header and record. */
    static <T> byte[] write(int schemaId, DatumWriter<T> writer, T datum, String what) {
        ThreadCodec codec = OF_THREAD.get();
        boolean written = false;
        try {
            byte[] value = codec.encode(schemaId, writer, datum);
            written = value.length <= MAX_REUSED_BYTES;
            return value;
        } catch (IOException | RuntimeException e) {
            throw new SerializationException(what + " cannot be written: " + brief(e), e);
        } finally {
            if (!written) {
                // The encoder may contain part of a record, or the buffer is too large.
                OF_THREAD.remove();
            }
        }
    }

    private <T> byte[] encode(int schemaId, DatumWriter<T> writer, T datum) throws IOException {
        bytes.reset();
        bytes.write(WireFormat.MAGIC);
        bytes.write(schemaId >>> 24);
        bytes.write(schemaId >>> 16);
        bytes.write(schemaId >>> 8);
        bytes.write(schemaId);
        encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
        writer.write(datum, encoder);
        encoder.flush();
        return bytes.toByteArray();
    }

    /** Converts a record to another schema. Not on the hot path, so it uses new buffers. */
    static <T> T translate(Object datum, DatumWriter<Object> writer, DatumReader<T> reader) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        writer.write(datum, encoder);
        encoder.flush();
        byte[] written = bytes.toByteArray();
        return reader.read(null, DecoderFactory.get().binaryDecoder(written, null));
    }

    /**
     * Decodes the record after the header; there must be no further bytes.
     *
     * <p>The bytes are untrusted. Avro checks each length against the remaining bytes before it allocates memory, but
     * throws exceptions other than IOException, and with a recursive schema a few kilobytes can overflow the stack.
     */
    static <T> T read(byte[] value, DatumReader<T> reader, String what) {
        ThreadCodec codec = OF_THREAD.get();
        try {
            BinaryDecoder decoder = DecoderFactory.get()
                    .binaryDecoder(
                            value, WireFormat.HEADER_LENGTH, value.length - WireFormat.HEADER_LENGTH, codec.decoder);
            codec.decoder = decoder;
            T datum = reader.read(null, decoder);
            if (!decoder.isEnd()) {
                throw new SerializationException(
                        what + " ends before its " + value.length + " bytes do: they are something else");
            }
            return datum;
        } catch (SerializationException e) {
            throw e;
        } catch (IOException | RuntimeException | StackOverflowError e) {
            throw new SerializationException(value.length + " bytes are not " + what + ": " + brief(e), e);
        }
    }

    /** Returns the exception's text, truncated because it may quote the record. */
    private static String brief(Throwable e) {
        String text = e.toString();
        return text.length() <= MAX_REASON_LENGTH ? text : text.substring(0, MAX_REASON_LENGTH) + "…";
    }
}
