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
 * Encodes and decodes Avro records. Each thread reuses its own buffer, encoder and decoder, because Kafka may call a
 * serializer from many threads.
 */
final class ThreadCodec {
    /** A larger buffer is not reused. */
    private static final int MAX_REUSED_BYTES = 64 * 1024;

    private static final int MAX_REASON_CHARACTERS = 300;

    private static final ThreadLocal<ThreadCodec> THREAD_INSTANCE = ThreadLocal.withInitial(ThreadCodec::new);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    private @Nullable BinaryEncoder encoder;
    private @Nullable BinaryDecoder decoder;

    private ThreadCodec() {}

    /**
     * Encodes header and record.
     *
     * @param recordName name of the record for messages
     */
    static <T> byte[] write(int schemaId, DatumWriter<T> writer, T datum, String recordName) {
        ThreadCodec codec = THREAD_INSTANCE.get();
        boolean isReusable = false;
        try {
            byte[] value = codec.encode(schemaId, writer, datum);
            isReusable = value.length <= MAX_REUSED_BYTES;
            return value;
        } catch (IOException | RuntimeException e) {
            throw new SerializationException(recordName + " cannot be written: " + truncatedText(e), e);
        } finally {
            if (!isReusable) {
                // The buffer is too large, or the encoder may contain part of a record after an exception.
                THREAD_INSTANCE.remove();
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

    /** Converts a record to another schema. It uses new buffers, because speed does not matter here. */
    static <T> T convert(Object datum, DatumWriter<Object> writer, DatumReader<T> reader) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        writer.write(datum, encoder);
        encoder.flush();
        return reader.read(null, DecoderFactory.get().binaryDecoder(bytes.toByteArray(), null));
    }

    /**
     * Decodes the record after the header. No bytes may follow the record.
     *
     * <p>The bytes are untrusted. Avro checks each length against the number of remaining bytes before it allocates
     * memory. But Avro also throws exceptions other than IOException, and with a recursive schema a few kilobytes can
     * overflow the stack.
     *
     * @param recordName name of the record for messages
     */
    static <T> T read(byte[] value, DatumReader<T> reader, String recordName) {
        ThreadCodec codec = THREAD_INSTANCE.get();
        try {
            BinaryDecoder decoder = DecoderFactory.get()
                    .binaryDecoder(
                            value, WireFormat.HEADER_LENGTH, value.length - WireFormat.HEADER_LENGTH, codec.decoder);
            codec.decoder = decoder;
            T datum = reader.read(null, decoder);
            if (!decoder.isEnd()) {
                throw new SerializationException(recordName + " is followed by further bytes, so the " + value.length
                        + " bytes are not a " + recordName);
            }
            return datum;
        } catch (SerializationException e) {
            throw e;
        } catch (IOException | RuntimeException | StackOverflowError e) {
            throw new SerializationException(
                    value.length + " bytes are not a " + recordName + ": " + truncatedText(e), e);
        }
    }

    /** Returns the text of an exception. It is truncated, because it may quote the record. */
    private static String truncatedText(Throwable e) {
        String text = e.toString();
        return text.length() <= MAX_REASON_CHARACTERS ? text : text.substring(0, MAX_REASON_CHARACTERS) + "…";
    }
}
