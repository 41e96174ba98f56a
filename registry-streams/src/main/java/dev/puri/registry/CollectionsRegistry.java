package dev.puri.registry;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.WireFormat;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * The declarations of {@code puri.collections.v1} that this instance has read. They may lag behind the topic, so the
 * registrar rechecks an objection before it refuses an event. Thread-safe.
 */
final class CollectionsRegistry {
    private final SchemaLookup schemas;
    private final RecordReader<CollectionsEntry> reader = RecordReader.of(CollectionsEntry.class);
    private final LiveDeclarations declarations = new LiveDeclarations();
    private final AtomicLong version = new AtomicLong();
    private final SkippedRecords skipped;

    CollectionsRegistry(SchemaLookup schemas, SkippedRecords skipped) {
        this.schemas = schemas;
        this.skipped = skipped;
    }

    /** Increases with every declaration that is read. */
    long version() {
        return version.get();
    }

    CollectionRules rulesOf(Puri puri) {
        Collection collection = declarations.collection(puri.qualifiedCollection());
        return collection == null ? CollectionRules.UNREGISTERED : new CollectionRules(collection);
    }

    /** Returns a refusal if events of this pURI do not belong on the topic, else null. */
    @Nullable
    Refusal objectionTo(Puri puri, String topic) {
        String namespace = puri.namespace();
        String expected = Topics.eventsOf(namespace, declarations.ownsTopic(namespace));
        if (topic.equals(expected)) {
            return null;
        }
        return Refusal.of(
                Reason.MALFORMED,
                "events of the namespace " + namespace + " belong on " + expected + ", this one came on " + topic);
    }

    /** Creates the processor of the global store, which reads the topic, also while it is restored. */
    Processor<byte[], byte[], Void, Void> newProcessor() {
        return new DeclarationProcessor();
    }

    private final class DeclarationProcessor implements Processor<byte[], byte[], Void, Void> {
        private @Nullable ProcessorContext<Void, Void> context;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            this.context = context;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            try {
                apply(record.key(), record.value());
            } catch (IllegalArgumentException | SerializationException e) {
                Initialized.require(context)
                        .recordMetadata()
                        .ifPresent(metadata -> skipped.skip(metadata, String.valueOf(e.getMessage())));
            }
        }
    }

    private void apply(byte @Nullable [] key, byte @Nullable [] value) {
        if (key == null) {
            throw new IllegalArgumentException("a record without a key declares nothing");
        }
        if (value == null) {
            declarations.remove(new String(key, StandardCharsets.UTF_8));
        } else {
            declarations.put(DeclarationAvro.fromAvro(read(value)));
        }
        version.incrementAndGet();
    }

    private CollectionsEntry read(byte[] value) {
        return switch (schemas.await(WireFormat.schemaId(value))) {
            case SchemaLookup.Known known -> reader.decode(value, known.schema());
            case SchemaLookup.Unknown unknown -> throw new IllegalArgumentException(unknown.detail());
        };
    }
}
