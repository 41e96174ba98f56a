package dev.puri.benchmarks;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** New identities of one collection, as a service would create them, no two alike. */
final class Creations {
    private static final Prefix PREFIX = new Prefix("trk");
    private static final Owner OWNER = new Owner("catalog");
    private static final int SHARDS = 3;

    /** What has to be declared before they may carry handles. */
    static final Collection COLLECTION =
            new Collection("soundcloud", "tracks", PREFIX, Set.of(OWNER), false, true, "What is measured.", false);

    private final IdentityMinter minter = new IdentityMinter();
    private long made;

    /** The next one. */
    Event next(boolean withHandle) {
        long number = 1_000_000_000L + made++;
        IdentityMinter.Minted ids = minter.mint(withHandle ? PREFIX : null);
        @Nullable Handle handle = ids.handle();
        return new Event(
                minter.uuid(),
                Puri.parse("soundcloud:tracks:" + number),
                Instant.now(),
                "catalog",
                null,
                null,
                new Change.Created(
                        ids.uuid(),
                        OWNER,
                        new Shard("br-" + number % SHARDS),
                        handle,
                        Map.of("title", "Track number " + number)));
    }

    /** Records of the events topic, made once for all rounds so that each gets the same bytes. */
    static final class Encoded {
        private final byte[][] keys;
        private final byte[][] values;

        Encoded(int count, int schemaId) {
            RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
            Creations creations = new Creations();
            keys = new byte[count][];
            values = new byte[count][];
            for (int i = 0; i < count; i++) {
                Event event = creations.next(true);
                keys[i] = event.puri().toBytes();
                values[i] = writer.encode(schemaId, EventAvro.toAvro(event));
            }
        }

        int count() {
            return keys.length;
        }

        /** Puts all of them into the events topic. */
        void publish(String bootstrapServers) throws Exception {
            // One request at a time: the topic was made a moment ago, see IdentityPublisher.
            Map<String, Object> config = Map.of(
                    "bootstrap.servers",
                    bootstrapServers,
                    "linger.ms",
                    20,
                    "batch.size",
                    1 << 17,
                    "max.in.flight.requests.per.connection",
                    1);
            try (KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                @Nullable Future<RecordMetadata> last = null;
                for (int i = 0; i < keys.length; i++) {
                    last = producer.send(new ProducerRecord<>(Topics.EVENTS, keys[i], values[i]));
                }
                producer.flush();
                if (last != null) {
                    last.get();
                }
            }
        }
    }
}
