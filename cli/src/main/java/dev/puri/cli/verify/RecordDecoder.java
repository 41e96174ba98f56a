package dev.puri.cli.verify;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.RecordKey;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.registry.RegistrarChangelogs.StoredRegistration;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventReader;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.WireFormat;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Decodes the values of the registry's topics. */
final class RecordDecoder implements AutoCloseable {
    private final SchemaRegistry schemas;
    private final AvroValueDecoder<IdentityRow> rows;
    private final AvroValueDecoder<dev.puri.schemas.avro.Document> documents;
    private final AvroValueDecoder<Rejection> rejections;
    private final EventReader events = new EventReader();

    /** A value that is no row, document or event. */
    record Unreadable(String why) {}

    /**
     * @param schemas closed by {@link #close}
     */
    RecordDecoder(SchemaRegistry schemas) {
        this.schemas = schemas;
        this.rows = new AvroValueDecoder<>(IdentityRow.class, schemas);
        this.documents = new AvroValueDecoder<>(dev.puri.schemas.avro.Document.class, schemas);
        this.rejections = new AvroValueDecoder<>(Rejection.class, schemas);
    }

    /** Returns a {@link Row} or an {@link Unreadable}. */
    Object row(byte[] value) {
        return decoded(() -> RowAvro.fromAvro(rows.read(value)));
    }

    /** Returns a {@link Document} or an {@link Unreadable}. */
    Object document(byte[] value) {
        return decoded(() -> DocumentAvro.fromAvro(documents.read(value)));
    }

    /** Returns the {@link Position} of the event that a rejection refuses, or an {@link Unreadable}. */
    Object rejection(byte[] value) {
        return decoded(() -> {
            EventPosition position = rejections.read(value).getPosition();
            return new Position(position.getTopic(), position.getPartition(), position.getOffset());
        });
    }

    /** Returns an {@link Event} or an {@link Unreadable}. */
    Object event(byte @Nullable [] key, byte[] value) {
        return decoded(() -> events.read(RecordKey.puri(key), value, schemas.byId(WireFormat.schemaId(value))));
    }

    /**
     * Decodes a value of a changelog of registrations.
     *
     * @throws VerifyException if this release cannot read it
     */
    static StoredRegistration registration(String topic, byte[] value) {
        return ofChangelog(topic, value, RegistrarChangelogs::registration);
    }

    /**
     * Decodes a value of a changelog of texts.
     *
     * @throws VerifyException if this release cannot read it
     */
    static Map<String, String> attributes(String topic, byte[] value) {
        return ofChangelog(topic, value, RegistrarChangelogs::attributes);
    }

    private static <T> T ofChangelog(String topic, byte[] value, Function<byte[], T> decode) {
        try {
            return decode.apply(value);
        } catch (RuntimeException e) {
            throw new VerifyException("a value of " + topic + " cannot be read: " + e.getMessage(), e);
        }
    }

    private interface Decoding {
        Object decode() throws UnreadableException;
    }

    private static Object decoded(Decoding decoding) {
        try {
            return decoding.decode();
        } catch (SchemaRegistryUnavailableException e) {
            throw new VerifyException("the schema registry is unavailable: " + e.getMessage(), e);
        } catch (UnreadableException | SerializationException | IllegalArgumentException e) {
            return new Unreadable(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        schemas.close();
    }
}
