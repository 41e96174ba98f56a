package dev.puri.benchmarks.data;

import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.client.IdentityMinter;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Creates the events that create identities of one collection, as a service does. All identities differ. */
public final class Creations {
    private static final Prefix PREFIX = new Prefix("trk");
    private static final Owner OWNER = new Owner("catalog");
    private static final int SHARDS = 3;

    private final IdentityMinter minter = new IdentityMinter();
    private final LongFunction<Map<String, String>> attributes;
    private long createdCount;

    /** Creates identities whose only attribute is a title. */
    public Creations() {
        this(number -> Map.of("title", "Track number " + (Population.FIRST + number)));
    }

    /**
     * Creates identities with attributes.
     *
     * @param attributes returns the attributes of the identity with a number; numbers start at 0
     */
    public Creations(LongFunction<Map<String, String>> attributes) {
        this.attributes = attributes;
    }

    /** Returns the collection; it must be declared before its identities may have handles. */
    public static Collection collection(boolean isSearched) {
        return new Collection(
                "soundcloud", "tracks", PREFIX, Set.of(OWNER), isSearched, true, "Identities of a benchmark.", false);
    }

    /** Returns the event that creates the next identity. */
    public Event next(boolean withHandle) {
        long number = createdCount++;
        IdentityMinter.Minted ids = minter.mint(withHandle ? PREFIX : null);
        return new Event(
                minter.uuid(),
                Population.puri(number),
                Instant.now(),
                OWNER.text(),
                null,
                null,
                new Change.Created(
                        ids.uuid(),
                        OWNER,
                        new Shard("br-" + (Population.FIRST + number) % SHARDS),
                        ids.handle(),
                        attributes.apply(number)));
    }

    /** Returns the events that create the next identities, which have handles. */
    public List<Event> next(int count) {
        return Stream.generate(() -> next(true)).limit(count).toList();
    }

    /** Creates the next identities, which have handles, and publishes their events. */
    public void publish(FreshBroker broker, int count, int schemaId) {
        RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
        // One request at a time, because the topic is new: see IdentityPublisher.
        Population.send(
                broker.bootstrapServers(),
                "max.in.flight.requests.per.connection",
                1,
                Stream.generate(() -> next(true))
                        .limit(count)
                        .map(event -> new ProducerRecord<>(
                                Topics.EVENTS,
                                event.puri().toBytes(),
                                writer.encode(schemaId, EventAvro.toAvro(event)))));
    }
}
