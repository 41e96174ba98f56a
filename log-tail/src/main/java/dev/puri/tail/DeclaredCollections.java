package dev.puri.tail;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.AvroValues.UnreadableException;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is declared of collections, as far as this instance has heard. Thread-safe; no look-up takes a
 * lock.
 *
 * <p>What may be named in public is decided on the safe side. Nothing may before the topic was read to
 * its end, nor when it is not known for too long that no word was missed; and a declaration that
 * cannot be read takes back the one before.
 */
public final class DeclaredCollections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DeclaredCollections.class);

    private final AvroValues<CollectionsEntry> values;
    private final Duration maxAge;

    /** Another for each reading from the beginning. */
    private volatile LiveDeclarations declarations = new LiveDeclarations();

    private final Follower follower;

    /**
     * @param follow begins to follow the topic with the given handler
     */
    DeclaredCollections(SchemaRegistry registry, Duration maxAge, Function<TopicFollower.Handler, Follower> follow) {
        this.values = new AvroValues<>(CollectionsEntry.class, registry);
        this.maxAge = maxAge;
        this.follower = follow.apply(new RecordHandler());
    }

    /**
     * Begins to read; the topic and the brokers need not be there yet.
     *
     * @param registry of which schemas are asked; not closed
     * @param maxAge how long the topic may be silent before nothing may be named in public
     */
    public static DeclaredCollections start(
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            Duration maxAge,
            InstantSource clock,
            MeterRegistry meters) {
        return new DeclaredCollections(
                registry,
                maxAge,
                handler -> TopicFollower.start(Topics.COLLECTIONS, Long.MAX_VALUE, consumers, handler, clock, meters));
    }

    /** Whether the pURIs of a {@code namespace:collection} may be named to the public. What is not known for sure may not. */
    public boolean isPublic(String qualified) {
        if (!isFresh()) {
            return false;
        }
        Collection collection = declarations.collection(qualified);
        return collection != null && collection.isPublic();
    }

    /** Whether all of the topic was read, and it is known since no longer than the bound that no word was missed. */
    public boolean isFresh() {
        Duration age = follower.staleness();
        return follower.hasCaughtUp() && age != null && age.compareTo(maxAge) <= 0;
    }

    /** Whether all was read that there was at the start; before, what is declared is not known in part. */
    public boolean hasCaughtUp() {
        return follower.hasCaughtUp();
    }

    /** How long ago it was known that no record was missing; null before it ever was. */
    public @Nullable Duration staleness() {
        return follower.staleness();
    }

    /** Why the topic is not followed, for people; null when it is. */
    public @Nullable String trouble() {
        return follower.trouble();
    }

    /**
     * What is declared of a {@code namespace:collection}, as far as it was read; null when nothing is. Takes no copy of all,
     * so it may be asked for every record.
     */
    public @Nullable Collection collection(String qualified) {
        return declarations.collection(qualified);
    }

    /** All that was heard. */
    public Declarations declarations() {
        return declarations.snapshot();
    }

    private final class RecordHandler implements TopicFollower.Handler {
        @Override
        public void reset() {
            declarations = new LiveDeclarations();
        }

        @Override
        public void handle(ConsumerRecord<byte[], byte[]> record) {
            if (record.key() == null) {
                return;
            }
            String key = new String(record.key(), StandardCharsets.UTF_8);
            if (record.value() == null) {
                declarations.remove(key);
                return;
            }
            try {
                declarations.put(DeclarationAvro.fromAvro(values.read(record.value())));
            } catch (UnreadableException | IllegalArgumentException e) {
                declarations.remove(key);
                log.warn(
                        "The record at {}-{}@{} is no declaration and leaves nothing declared under its key: {}",
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        e.getMessage());
            }
        }
    }

    /** Hears no more, so that soon nothing may be named. */
    @Override
    public void close() {
        follower.close();
    }
}
