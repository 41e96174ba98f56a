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
 * What {@code puri.collections.v1} says, as far as this instance has heard it. That may be a moment
 * behind, so an objection raised here is looked at again before it becomes a refusal. Thread-safe.
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

    /** Grows with every declaration heard. */
    long version() {
        return version.get();
    }

    Terms termsOf(Puri puri) {
        Collection collection = declarations.collection(puri.qualifiedCollection());
        return collection == null ? Terms.UNREGISTERED : new Terms(collection);
    }

    /** Why events of this pURI may not come on that topic; null when they may. */
    @Nullable
    Refusal objectionTo(Puri puri, String topic) {
        String namespace = puri.namespace();
        String rightful = Topics.eventsOf(namespace, declarations.ownsTopic(namespace));
        if (topic.equals(rightful)) {
            return null;
        }
        return Refusal.of(
                Reason.MALFORMED,
                "events of the namespace " + namespace + " belong on " + rightful + ", this one came on " + topic);
    }

    /** Feeds the registry from its topic, on restore as well as live; the global thread runs it. */
    Processor<byte[], byte[], Void, Void> feed() {
        return new Feed();
    }

    private final class Feed implements Processor<byte[], byte[], Void, Void> {
        private @Nullable ProcessorContext<Void, Void> context;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            this.context = context;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            try {
                take(record.key(), record.value());
            } catch (IllegalArgumentException | SerializationException e) {
                Started.with(context)
                        .recordMetadata()
                        .ifPresent(from -> skipped.skip(from, String.valueOf(e.getMessage())));
            }
        }
    }

    private void take(byte @Nullable [] key, byte @Nullable [] value) {
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
