package dev.puri.registry;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.SchemaRegistry;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Encodes rows, documents and rejections. The constructor registers the schemas of these records, so the running
 * topology does not need the schema registry to write them.
 */
final class OutputEncoder {
    private final RecordWriter<dev.puri.schemas.avro.Document> documents =
            RecordWriter.of(dev.puri.schemas.avro.Document.class);
    private final RecordWriter<Rejection> rejections = RecordWriter.of(Rejection.class);
    private final int rowSchemaId;
    private final int documentSchemaId;
    private final int rejectionSchemaId;

    /**
     * Registers the schemas.
     *
     * @throws org.apache.kafka.common.errors.SerializationException if the schema registry is unreachable
     *     or refuses a schema
     */
    OutputEncoder(SchemaRegistry registry) {
        rowSchemaId = registry.register(Topics.IDENTITIES + "-value", RowEncoder.schema());
        documentSchemaId = registry.register(Topics.DOCUMENTS + "-value", documents.schema());
        rejectionSchemaId = registry.register(Topics.REJECTIONS + "-value", rejections.schema());
    }

    byte[] row(Row row) {
        return RowEncoder.encode(rowSchemaId, row);
    }

    byte[] document(Document document) {
        return documents.encode(documentSchemaId, DocumentAvro.toAvro(document));
    }

    byte[] rejection(RawEvent raw, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal, long rejectedAt) {
        Position position = raw.position();
        Refusal.Holder holder = refusal.holder();
        return rejections.encode(
                rejectionSchemaId,
                new Rejection(
                        refusal.reason().name(),
                        refusal.detail(),
                        new EventPosition(position.topic(), position.partition(), position.offset()),
                        Instant.ofEpochMilli(rejectedAt),
                        puri == null ? null : puri.toString(),
                        eventId == null ? null : eventId.toString(),
                        holder == null ? null : holder.owner().text(),
                        holder == null ? null : holder.shard().text(),
                        refusal.survivor() == null ? null : refusal.survivor().toString(),
                        raw.digest(),
                        raw.valueLength(),
                        ByteBuffer.wrap(raw.excerpt())));
    }
}
