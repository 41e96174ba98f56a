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
 * Rows, documents and rejections as the bytes of their topics. Their schemas are registered before the topology
 * starts, so that no record waits for the schema registry.
 */
final class OutputEncoder {
    private final RecordWriter<dev.puri.schemas.avro.Document> documents =
            RecordWriter.of(dev.puri.schemas.avro.Document.class);
    private final RecordWriter<Rejection> rejections = RecordWriter.of(Rejection.class);
    private final int rowId;
    private final int documentId;
    private final int rejectionId;

    /**
     * Registers what will be written.
     *
     * @throws org.apache.kafka.common.errors.SerializationException when the registry is out of reach or
     *     refuses
     */
    OutputEncoder(SchemaRegistry registry) {
        rowId = registry.register(Topics.IDENTITIES + "-value", RowEncoder.schema());
        documentId = registry.register(Topics.DOCUMENTS + "-value", documents.schema());
        rejectionId = registry.register(Topics.REJECTIONS + "-value", rejections.schema());
    }

    byte[] row(Row row) {
        return RowEncoder.encode(rowId, row);
    }

    byte[] document(Document document) {
        return documents.encode(documentId, DocumentAvro.toAvro(document));
    }

    byte[] rejection(Arrival arrival, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal, long rejectedAt) {
        Position position = arrival.position();
        Refusal.Holder holder = refusal.holder();
        return rejections.encode(
                rejectionId,
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
                        arrival.digest(),
                        arrival.length(),
                        ByteBuffer.wrap(arrival.kept())));
    }
}
