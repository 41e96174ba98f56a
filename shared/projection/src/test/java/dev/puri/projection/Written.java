package dev.puri.projection;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** Creates records of the topics, as the registry writes them. */
final class Written {
    static final Instant TIME = Instant.parse("2026-03-01T10:00:00Z");
    private static final RecordWriter<Rejection> REJECTIONS = RecordWriter.of(Rejection.class);
    private static final RecordWriter<CollectionsEntry> DECLARATIONS = RecordWriter.of(CollectionsEntry.class);

    private final InMemorySchemaRegistry registry;

    Written(InMemorySchemaRegistry registry) {
        this.registry = registry;
    }

    static Position position(long offset) {
        return new Position(Topics.EVENTS, 1, offset);
    }

    /** Returns a rejection with a holder, the given number of seconds after {@link #TIME}. */
    static Rejection taken(@Nullable String puri, long offset, int seconds) {
        return rejection(Reason.PURI_TAKEN.name(), puri, offset, seconds, "held by catalog");
    }

    static Rejection rejection(String reason, @Nullable String puri, long offset, int seconds, String detail) {
        return new Rejection(
                reason,
                detail,
                new EventPosition(Topics.EVENTS, 1, offset),
                TIME.plusSeconds(seconds),
                puri,
                "01970000-0000-7000-8000-000000000001",
                "catalog",
                "br-2",
                null,
                ByteBuffer.wrap(new byte[32]),
                3L,
                ByteBuffer.wrap(new byte[3]));
    }

    static Collection tracks(boolean isPublic) {
        return new Collection(
                "music",
                "tracks",
                Prefix.parse("trk"),
                Set.of(Owner.parse("search"), Owner.parse("catalog")),
                true,
                isPublic,
                "What can be \"heard\"",
                false);
    }

    static Namespace ownTopic(String name) {
        return new Namespace(name, true);
    }

    byte[] bytes(Rejection rejection) {
        return REJECTIONS.encode(registry.register("r", REJECTIONS.schema()), rejection);
    }

    byte[] bytes(Declaration declaration) {
        return DECLARATIONS.encode(registry.register("c", DECLARATIONS.schema()), DeclarationAvro.toAvro(declaration));
    }

    ProducerRecord<byte[], byte[]> record(Rejection rejection) {
        String key = rejection.getPuri() == null ? "?" : rejection.getPuri();
        return new ProducerRecord<>(Topics.REJECTIONS, utf8(key), bytes(rejection));
    }

    ProducerRecord<byte[], byte[]> record(Declaration declaration) {
        return new ProducerRecord<>(Topics.COLLECTIONS, utf8(declaration.key()), bytes(declaration));
    }

    /** Returns the record as a consumer reads it. */
    static ConsumerRecord<byte[], byte[]> read(ProducerRecord<byte[], byte[]> written) {
        return read(written.topic(), written.key(), written.value());
    }

    static ConsumerRecord<byte[], byte[]> read(String topic, byte[] key, byte @Nullable [] value) {
        return new ConsumerRecord<>(topic, 0, 0, key, value);
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
