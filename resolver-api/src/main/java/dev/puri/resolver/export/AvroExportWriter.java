package dev.puri.resolver.export;

import static dev.puri.schemas.serde.AvroBinary.putNumber;
import static dev.puri.schemas.serde.AvroBinary.putText;

import dev.puri.resolver.answer.ExportWriter;
import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.RowStatus;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.serde.RegisteredForm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumWriter;

/**
 * Writes an Avro object container file with the cursor in its metadata, a record for each row, and a last record with
 * the number of rows. Blocks use the codec {@code deflate}, which every Avro library supports.
 */
final class AvroExportWriter implements ExportWriter {
    /** The key of the cursor in the metadata. */
    static final String CHANGES_FROM = "puri.changes-from";

    static final Schema SCHEMA = schema();

    /** The fastest level; RATIONALE.md has figures of other levels. */
    private static final int DEFLATE_LEVEL = 1;

    /** Upper bound of a record: three names of {@link Puri#MAX_BYTES}, topic, owner and shard of 255 bytes, numbers. */
    private static final int MAX_RECORD_BYTES = 4096;

    private static final int[] STATUSES = new int[Row.Status.values().length];

    static {
        for (Row.Status status : Row.Status.values()) {
            STATUSES[status.ordinal()] = RowStatus.valueOf(status.name()).ordinal();
        }
    }

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private final DataFileWriter<Object> writer = new DataFileWriter<>(new GenericDatumWriter<>(SCHEMA));
    private final ByteBuffer record = ByteBuffer.allocate(MAX_RECORD_BYTES);
    private final byte[] text = new byte[Math.max(Puri.MAX_BYTES, Handle.LENGTH)];
    /** The last topic, encoded; most rows have the same topic. */
    private byte[] topicBytes = {};

    private String topicName = "";

    AvroExportWriter(ChangeId cursor) {
        try {
            writer.setCodec(CodecFactory.deflateCodec(DEFLATE_LEVEL))
                    .setMeta(CHANGES_FROM, cursor.toString())
                    .create(SCHEMA, file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Schema schema() {
        return SchemaBuilder.record("ExportedRow")
                .namespace(IdentityRow.class.getPackageName())
                .doc("One row of an export; the last record has no row.")
                .fields()
                .name("puri")
                .doc("The canonical pURI; empty in the last record.")
                .type()
                .stringType()
                .noDefault()
                .name("row")
                .doc("The row of the pURI; null in the last record.")
                .type()
                .optional()
                .type(RegisteredForm.of(IdentityRow.getClassSchema()))
                .name("rows")
                .doc("The number of rows, in the last record only. An export without this record is incomplete.")
                .type()
                .optional()
                .longType()
                .endRecord();
    }

    @Override
    public void put(RecordView row) {
        record.clear();
        putText(text, row.putPuri(text, 0), record);
        putNumber(1, record);
        record.putLong(row.uuidHigh()).putLong(row.uuidLow());
        putText(row.ownerBytes(), record);
        putText(row.shardBytes(), record);
        putNumber(row.hasHandle() ? 1 : 0, record);
        if (row.hasHandle()) {
            putText(text, row.putHandle(text, 0), record);
        }
        putNumber(STATUSES[row.status().ordinal()], record);
        putNumber(row.epoch(), record);
        putNumber(row.createdMillis(), record);
        putNumber(row.changedMillis(), record);
        boolean isMerged = row.status() == Row.Status.MERGED;
        putNumber(isMerged ? 1 : 0, record);
        if (isMerged) {
            putText(row.survivorBytes(), record);
        }
        putText(topicBytes(row.topic()), record);
        putNumber(row.partition(), record);
        putNumber(row.offset(), record);
        putNumber(0, record);
        append();
    }

    @Override
    public void putEnd(long rowCount) {
        record.clear();
        putText(text, 0, record);
        putNumber(0, record);
        putNumber(1, record);
        putNumber(rowCount, record);
        append();
        try {
            writer.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void append() {
        try {
            writer.appendEncoded(record.flip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] topicBytes(String name) {
        if (!name.equals(topicName)) {
            topicBytes = name.getBytes(StandardCharsets.UTF_8);
            topicName = name;
        }
        return topicBytes;
    }

    @Override
    public int length() {
        return file.size();
    }

    @Override
    public byte[] take() {
        byte[] written = file.toByteArray();
        file.reset();
        return written;
    }
}
