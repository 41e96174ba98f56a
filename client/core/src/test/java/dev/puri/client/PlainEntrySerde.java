package dev.puri.client;

import dev.puri.schemas.avro.CollectionEntry;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.NamespaceEntry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** Another serde that a user might configure: plain Avro, without a registry. */
final class PlainEntrySerde {
    /** Runs between the reads of an apply and its commit. */
    static volatile Runnable beforeWrite = () -> {};

    private static final Map<String, Class<?>> CLASSES = Map.of(
            CollectionsEntry.class.getName(), CollectionsEntry.class,
            CollectionEntry.class.getName(), CollectionEntry.class,
            NamespaceEntry.class.getName(), NamespaceEntry.class);

    private PlainEntrySerde() {}

    public static final class Out implements Serializer<CollectionsEntry> {
        @Override
        public byte @Nullable [] serialize(String topic, @Nullable CollectionsEntry entry) {
            beforeWrite.run();
            if (entry == null) {
                return null;
            }
            try {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
                new SpecificDatumWriter<>(CollectionsEntry.class).write(entry, encoder);
                return bytes.toByteArray();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static final class In implements Deserializer<CollectionsEntry> {
        /** Names its classes, because Avro makes none from a schema's names unless they are trusted. */
        private static final SpecificData MODEL = new SpecificData() {
            @Override
            @SuppressWarnings("rawtypes") // The overridden method's.
            public Class getClass(Schema schema) {
                Class<?> known = schema.getType() == Schema.Type.RECORD ? CLASSES.get(schema.getFullName()) : null;
                return known == null ? super.getClass(schema) : known;
            }
        };

        @Override
        public @Nullable CollectionsEntry deserialize(String topic, byte @Nullable [] bytes) {
            if (bytes == null) {
                return null;
            }
            try {
                Schema schema = CollectionsEntry.getClassSchema();
                SpecificDatumReader<CollectionsEntry> reader = new SpecificDatumReader<>(schema, schema, MODEL);
                return reader.read(new CollectionsEntry(), DecoderFactory.get().binaryDecoder(bytes, null));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
