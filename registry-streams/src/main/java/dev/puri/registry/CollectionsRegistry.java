package dev.puri.registry;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.WireFormat;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * The declarations of {@code puri.collections.v1} that this instance has read. They may lag behind the topic. So the
 * registrar waits a while before it refuses an event that they do not allow. Thread-safe.
 */
final class CollectionsRegistry {
    private final SchemaLookup schemas;
    private final RecordReader<CollectionsEntry> reader = RecordReader.of(CollectionsEntry.class);
    private final LiveDeclarations declarations = new LiveDeclarations();
    private final AtomicLong version = new AtomicLong();
    private final SkippedRecords skippedRecords;

    CollectionsRegistry(SchemaLookup schemas, SkippedRecords skippedRecords) {
        this.schemas = schemas;
        this.skippedRecords = skippedRecords;
    }

    /** Returns a number that increases when this instance reads that a declaration was changed or removed. */
    long version() {
        return version.get();
    }

    CollectionRules rulesOf(Puri puri) {
        Namespace namespace = declarations.namespace(puri.namespace());
        Collection collection = declarations.collection(puri.qualifiedCollection());
        return namespace == null && collection == null
                ? CollectionRules.UNREGISTERED
                : new CollectionRules(namespace, collection);
    }

    /** Returns a refusal if the topic is not the events topic of the pURI's namespace, else null. */
    @Nullable
    Refusal objectionTo(Puri puri, String topic) {
        String namespace = puri.namespace();
        String expected = Topics.eventsTopicOf(namespace, declarations.ownsTopic(namespace));
        if (topic.equals(expected)) {
            return null;
        }
        return Refusal.of(
                Reason.MALFORMED,
                "events of the namespace " + namespace + " belong on topic " + expected + "; this event came on "
                        + topic);
    }

    /** Creates the processor of the global store. It reads the whole topic at every start. */
    Processor<byte[], byte[], Void, Void> newProcessor() {
        return new DeclarationProcessor();
    }

    private final class DeclarationProcessor extends ContextualProcessor<byte[], byte[], Void, Void> {
        @Override
        public void process(Record<byte[], byte[]> record) {
            try {
                apply(record.key(), record.value());
            } catch (IllegalArgumentException | SerializationException e) {
                context()
                        .recordMetadata()
                        .ifPresent(metadata -> skippedRecords.skip(metadata, String.valueOf(e.getMessage())));
            }
        }
    }

    private void apply(byte @Nullable [] key, byte @Nullable [] value) {
        if (key == null) {
            throw new IllegalArgumentException("a declaration must have a key");
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
