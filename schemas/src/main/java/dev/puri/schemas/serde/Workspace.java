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
 * What one thread reads and writes with, kept between records so that neither a buffer nor a coder is
 * made for each. Kafka calls one serializer from many threads, so this hangs on the thread.
 */
final class Workspace {
    /** A buffer that one large record has grown past this is given back. */
    private static final int KEPT_BYTES = 64 * 1024;

    private static final int MAX_REASON_LENGTH = 300;

    private static final ThreadLocal<Workspace> OF_THREAD = ThreadLocal.withInitial(Workspace::new);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    private @Nullable BinaryEncoder encoder;
    private @Nullable BinaryDecoder decoder;

    private Workspace() {}

    /** Header and record as bytes. */
    static <T> byte[] write(int schemaId, DatumWriter<T> writer, T datum, String what) {
        Workspace workspace = OF_THREAD.get();
        boolean written = false;
        try {
            byte[] value = workspace.encode(schemaId, writer, datum);
            written = value.length <= KEPT_BYTES;
            return value;
        } catch (IOException | RuntimeException e) {
            throw new SerializationException(what + " cannot be written: " + brief(e), e);
        } finally {
            if (!written) {
                // Half a record may be left in the encoder, or the buffer is too large to keep.
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

    /** A record as another schema has it. Off the hot path, so without what the thread keeps. */
    static <T> T translate(Object datum, DatumWriter<Object> writer, DatumReader<T> reader) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        writer.write(datum, encoder);
        encoder.flush();
        byte[] written = bytes.toByteArray();
        return reader.read(null, DecoderFactory.get().binaryDecoder(written, null));
    }

    /**
     * The record behind the header; the bytes must hold it exactly.
     *
     * <p>Bytes are anybody's. Avro checks every claimed length against the bytes that are left before
     * it allocates, and throws much besides IOException; a schema that contains itself lets a few
     * kilobytes nest deeper than the stack.
     */
    static <T> T read(byte[] value, DatumReader<T> reader, String what) {
        Workspace workspace = OF_THREAD.get();
        try {
            BinaryDecoder decoder = DecoderFactory.get()
                    .binaryDecoder(
                            value,
                            WireFormat.HEADER_LENGTH,
                            value.length - WireFormat.HEADER_LENGTH,
                            workspace.decoder);
            workspace.decoder = decoder;
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

    /** What went wrong, without as much of the record as an exception likes to quote. */
    private static String brief(Throwable e) {
        String text = e.toString();
        return text.length() <= MAX_REASON_LENGTH ? text : text.substring(0, MAX_REASON_LENGTH) + "…";
    }
}
