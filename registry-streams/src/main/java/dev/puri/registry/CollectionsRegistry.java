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
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code puri.collections.v1} says, as far as this instance has heard it. That may be a moment
 * behind, so an objection raised here is looked at again before it becomes a refusal. Thread-safe.
 */
final class CollectionsRegistry {
    private static final Logger LOG = LoggerFactory.getLogger(CollectionsRegistry.class);

    private final SchemaLookup schemas;
    private final RecordReader<CollectionsEntry> reader = RecordReader.of(CollectionsEntry.class);
    private final LiveDeclarations declarations = new LiveDeclarations();
    private final AtomicLong version = new AtomicLong();
    private final AtomicLong unreadable = new AtomicLong();

    CollectionsRegistry(SchemaLookup schemas) {
        this.schemas = schemas;
    }

    /** Grows with every declaration heard. */
    long version() {
        return version.get();
    }

    /** Records of the topic that were passed over because they are no declarations. */
    long unreadable() {
        return unreadable.get();
    }

    Terms termsOf(Puri puri) {
        Collection collection = declarations.collection(puri.qualifiedCollection());
        return collection == null ? Terms.UNREGISTERED : new Terms(collection);
    }

    /** Why events of this pURI may not come on that topic; null when they may. */
    @Nullable
    Refusal objectionTo(Puri puri, String topic) {
        String namespace = puri.namespace();
        String rightful = declarations.ownsTopic(namespace) ? Topics.eventsOf(namespace) : Topics.EVENTS;
        if (topic.equals(rightful)) {
            return null;
        }
        return Refusal.of(
                Reason.MALFORMED,
                "events of the namespace " + namespace + " belong on " + rightful + ", this one came on " + topic);
    }

    /** Feeds the registry from its topic, on restore as well as live; the global thread runs it. */
    Processor<byte[], byte[], Void, Void> feed() {
        return this::accept;
    }

    private void accept(Record<byte[], byte[]> record) {
        try {
            String key = new String(record.key(), StandardCharsets.UTF_8);
            if (record.value() == null) {
                declarations.remove(key);
            } else {
                declarations.put(DeclarationAvro.fromAvro(read(record.value())));
            }
            version.incrementAndGet();
        } catch (IllegalArgumentException | org.apache.kafka.common.errors.SerializationException e) {
            unreadable.incrementAndGet();
            LOG.warn("A record of {} is no declaration and is passed over: {}", Topics.COLLECTIONS, e.getMessage());
        }
    }

    private CollectionsEntry read(byte[] value) {
        return switch (schemas.await(WireFormat.schemaId(value))) {
            case SchemaLookup.Known known -> reader.decode(value, known.schema());
            case SchemaLookup.Unknown unknown -> throw new IllegalArgumentException(unknown.detail());
        };
    }
}
