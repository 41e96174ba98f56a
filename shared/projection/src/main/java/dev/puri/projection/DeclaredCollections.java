package dev.puri.projection;

import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
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
 * The collections that {@code puri.collections.v1} declares, as far as this instance has read the topic. Thread-safe;
 * no look-up takes a lock.
 *
 * <p>If it is uncertain whether a name is public, the name is not public. No name is public before the topic was read
 * to its end, or when the declarations are stale. A declaration that cannot be decoded removes the previous declaration
 * of its collection. After {@link #close} readers still find the declarations, but no name is public once the staleness
 * exceeds its limit.
 */
public final class DeclaredCollections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DeclaredCollections.class);

    private final AvroValueDecoder<CollectionsEntry> values;
    private final Duration maxStaleness;

    /** Replaced with an empty object when the topic is read from its beginning. */
    private volatile LiveDeclarations declarations = new LiveDeclarations();

    private final Follower follower;

    /**
     * @param follow starts a follower of the topic that passes the records to the given handler
     */
    DeclaredCollections(
            SchemaRegistry registry, Duration maxStaleness, Function<TopicFollower.Handler, Follower> follow) {
        this.values = new AvroValueDecoder<>(CollectionsEntry.class, registry);
        this.maxStaleness = maxStaleness;
        this.follower = follow.apply(new RecordHandler());
    }

    /**
     * Starts to follow the topic. The topic may not exist yet, and the brokers may be unavailable.
     *
     * @param registry resolves schema ids; this class does not close it
     * @param maxStaleness the limit of the staleness; beyond it no name is public
     */
    public static DeclaredCollections start(
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            Duration maxStaleness,
            InstantSource clock,
            MeterRegistry meters) {
        return new DeclaredCollections(
                registry,
                maxStaleness,
                handler -> TopicFollower.start(
                        Topics.COLLECTIONS, TopicFollower.ALL_RECORDS, consumers, handler, clock, meters));
    }

    /** Returns whether the pURIs of a {@code namespace:collection} are public; false while that is uncertain. */
    public boolean isPublic(String qualified) {
        if (!isFresh()) {
            return false;
        }
        Collection collection = declarations.collection(qualified);
        return collection != null && collection.isPublic();
    }

    /** Returns whether the topic was read to its end and the staleness is within its limit. */
    public boolean isFresh() {
        Duration staleness = follower.staleness();
        return follower.hasCaughtUp() && staleness != null && staleness.compareTo(maxStaleness) <= 0;
    }

    /** Returns the follower that reads the topic. */
    public Follower follower() {
        return follower;
    }

    /** Stops reading the topic. Readers still find the declarations that were read. */
    @Override
    public void close() {
        follower.close();
    }

    /**
     * Returns the declaration of a {@code namespace:collection}; null if none was read. Copies nothing, so it may be
     * called for every record.
     */
    public @Nullable Collection collection(String qualified) {
        return declarations.collection(qualified);
    }

    /**
     * Returns a snapshot of all declarations that were read. The call is cheap, see {@link LiveDeclarations#snapshot}.
     */
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
                        "The record at {}-{}@{} is not a valid declaration; its collection counts as undeclared: {}",
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        e.getMessage());
            }
        }
    }
}
