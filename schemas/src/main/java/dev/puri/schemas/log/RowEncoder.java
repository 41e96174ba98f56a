package dev.puri.schemas.log;

import static dev.puri.schemas.serde.AvroBinary.putNumber;
import static dev.puri.schemas.serde.AvroBinary.putText;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.serde.AvroBinary;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.schemas.serde.WireFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Encodes rows as values of {@code puri.identities.v1}. It writes the same bytes as Avro in a quarter of the time
 * ({@code puri bench micro Avro} measures both), because the topology encodes a row for nearly every event.
 */
public final class RowEncoder {
    private static final Schema SCHEMA = RegisteredForm.of(IdentityRow.getClassSchema());

    /** Header, uuid, two union branches, the status, and ten numbers or lengths. */
    private static final int MAX_BYTES_WITHOUT_TEXTS =
            WireFormat.HEADER_LENGTH + 16 + 3 + 10 * AvroBinary.MAX_NUMBER_LENGTH;

    private static final byte[] EMPTY = {};

    private RowEncoder() {}

    /** The writer schema, in its {@linkplain RegisteredForm registered form}. */
    public static Schema schema() {
        return SCHEMA;
    }

    /**
     * Encodes a row.
     *
     * @param schemaId id of {@link #schema()} in the schema registry
     * @return the value of a Kafka record: header and Avro record
     */
    public static byte[] encode(int schemaId, Row row) {
        byte[] owner = utf8(row.owner());
        byte[] shard = utf8(row.shard());
        byte[] handle = utf8(row.handle());
        byte[] mergedInto = utf8(row.mergedInto());
        byte[] topic = utf8(row.position().topic());
        ByteBuffer out = ByteBuffer.allocate(MAX_BYTES_WITHOUT_TEXTS
                + owner.length
                + shard.length
                + handle.length
                + mergedInto.length
                + topic.length);
        WireFormat.putHeader(schemaId, out);
        out.putLong(row.uuid().getMostSignificantBits());
        out.putLong(row.uuid().getLeastSignificantBits());
        putText(owner, out);
        putText(shard, out);
        putOptional(handle, out);
        putNumber(RowAvro.toAvro(row.status()).ordinal(), out);
        putNumber(row.epoch(), out);
        putNumber(row.createdAt().toEpochMilli(), out);
        putNumber(row.changedAt().toEpochMilli(), out);
        putOptional(mergedInto, out);
        putText(topic, out);
        putNumber(row.position().partition(), out);
        putNumber(row.position().offset(), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    /** Returns the bytes of a name; an empty array for null. Names are never empty. */
    private static byte[] utf8(@Nullable Object name) {
        return name == null ? EMPTY : name.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Writes a union of null and a string. An empty text is written as null. */
    private static void putOptional(byte[] text, ByteBuffer out) {
        putNumber(text.length == 0 ? 0 : 1, out);
        if (text.length > 0) {
            putText(text, out);
        }
    }
}
