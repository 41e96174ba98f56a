package dev.puri.cli.verify;

import dev.puri.cli.verify.RecordDecoder.Unreadable;
import dev.puri.registry.RegistrarChangelogs.StoredRegistration;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A partition of {@code puri.documents.v1}, and the changelogs with which {@code puri verify} compares it: the
 * registrations, and the texts, which are the attributes of documents. The position of a document is not compared,
 * because the registrar does not store it.
 */
record DocumentLogs(String registrationsTopic, String textsTopic, int partition, RecordDecoder decoder)
        implements ComparedLogs {
    private static final String ATTRIBUTES = "attributes";

    @Override
    public List<TopicPartition> logs() {
        return List.of(
                new TopicPartition(registrationsTopic, partition),
                new TopicPartition(textsTopic, partition),
                new TopicPartition(Topics.DOCUMENTS, partition));
    }

    @Override
    public @Nullable Object decode(int log, byte[] value) {
        if (log == 0) {
            StoredRegistration registration = RecordDecoder.registration(registrationsTopic, value);
            return registration.hasDocument() ? registration.row() : null;
        }
        return log == 1 ? RecordDecoder.attributes(textsTopic, value) : decoder.document(value);
    }

    @Override
    public long hash(int log, Object value) {
        if (value instanceof Row row) {
            return Hashes.ofDocument(row);
        }
        if (value instanceof Document document) {
            return Hashes.of(document);
        }
        return Hashes.present(
                value instanceof Unreadable unreadable
                        ? RowHash.ofText(unreadable.why())
                        : RowHash.ofText(text(value)));
    }

    @Override
    public long expectedHash(long[] hashes) {
        return hashes[0] == ABSENT ? ABSENT : Hashes.mix(hashes[0], hashes[1]);
    }

    @Override
    public @Nullable Map<String, String> expected(@Nullable Object[] values) {
        if (!(values[0] instanceof Row row)) {
            return null;
        }
        Map<String, String> fields = Fields.ofDocument(row);
        if (values[1] != null) {
            fields.put(ATTRIBUTES, text(values[1]));
        }
        return fields;
    }

    @SuppressWarnings("unchecked")
    private static String text(Object attributes) {
        return Fields.text((Map<String, String>) attributes);
    }

    @Override
    public Map<String, String> found(Object value) {
        return value instanceof Document document
                ? Fields.of(document)
                : Map.of("value", "unreadable: " + ((Unreadable) value).why());
    }
}
