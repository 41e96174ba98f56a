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
 * A partition of {@code puri.documents.v1}, and the two changelogs from which its content follows: that of the
 * registrations, and that of the texts, which are the attributes of documents. The position of a document is not
 * compared, because the registrar does not store it.
 */
record DocumentLogs(String registrationsTopic, String textsTopic, int partition, RecordDecoder decoder)
        implements ComparedLogs {
    private static final String ATTRIBUTES = "attributes";

    /** Indexes of {@link #logs}. */
    private static final int REGISTRATIONS = 0;

    private static final int TEXTS = 1;

    @Override
    public List<TopicPartition> logs() {
        return List.of(
                new TopicPartition(registrationsTopic, partition),
                new TopicPartition(textsTopic, partition),
                new TopicPartition(Topics.DOCUMENTS, partition));
    }

    @Override
    public @Nullable Object decode(int logIndex, byte[] value) {
        if (logIndex == REGISTRATIONS) {
            StoredRegistration registration = RecordDecoder.registration(registrationsTopic, value);
            return registration.hasDocument() ? registration.row() : null;
        }
        return logIndex == TEXTS ? RecordDecoder.attributes(textsTopic, value) : decoder.document(value);
    }

    @Override
    public long hash(int logIndex, Object value) {
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
        return hashes[REGISTRATIONS] == ABSENT ? ABSENT : Hashes.mix(hashes[REGISTRATIONS], hashes[TEXTS]);
    }

    @Override
    public @Nullable Map<String, String> expected(@Nullable Object[] values) {
        if (!(values[REGISTRATIONS] instanceof Row row)) {
            return null;
        }
        Map<String, String> fields = RowFields.expectedOfDocument(row);
        if (values[TEXTS] != null) {
            fields.put(ATTRIBUTES, text(values[TEXTS]));
        }
        return fields;
    }

    @SuppressWarnings("unchecked")
    private static String text(Object attributes) {
        return RowFields.canonicalText((Map<String, String>) attributes);
    }

    @Override
    public Map<String, String> found(Object value) {
        return value instanceof Document document
                ? RowFields.of(document)
                : Map.of("value", "unreadable: " + ((Unreadable) value).why());
    }
}
