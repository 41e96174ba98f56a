package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

class ParkingTest {
    private static final Puri PURI = Puri.parse("people:persons:johanna");

    private final KeyValueStore<byte[], byte[]> store = store();

    @Test
    void storeKeysDoNotContainTheName() {
        Parking parking = new Parking(store);
        parking.parkFirst(new PendingEvent(PURI, raw(0), 7), WaitReason.FOR_SCHEMA);
        parking.append(PURI, raw(1), 8);
        try (KeyValueIterator<byte[], byte[]> all = store.all()) {
            assertThat(all)
                    .toIterable()
                    .hasSize(2)
                    .allSatisfy(entry -> assertThat(new String(entry.key, StandardCharsets.ISO_8859_1))
                            .doesNotContain("johanna"))
                    .allSatisfy(entry -> assertThat(RegistrarChangelogs.keyOfParked(entry.key))
                            .isEqualTo(RegistrarChangelogs.key(PURI.toBytes())));
        }
    }

    @Test
    void eventsKeepTheirOrderOverARestart() {
        Parking before = new Parking(store);
        before.parkFirst(new PendingEvent(PURI, raw(0), 10), WaitReason.FOR_SCHEMA);
        before.append(PURI, raw(1), 11);
        before.append(PURI, raw(2), 12);
        before.removeHead(PURI);

        Parking parking = new Parking(store);
        for (int sequence : List.of(1, 2)) {
            PendingEvent head = parking.head(PURI);
            assertThat(head.raw().position().offset()).isEqualTo(sequence);
            assertThat(head.receivedAt()).isEqualTo(10 + sequence);
            assertThat(head.raw().valueHead()).containsExactly(1, 2, 3);
            parking.removeHead(PURI);
        }
        assertThat(parking.hasQueue(PURI)).isFalse();
        try (KeyValueIterator<byte[], byte[]> all = store.all()) {
            assertThat(all).toIterable().isEmpty();
        }
    }

    /** A call may decide one event more than its budget, because it must use a grant. */
    @Test
    void anOverdrawnBudgetSelectsNoQueues() {
        Parking parking = new Parking(store);
        parking.parkFirst(new PendingEvent(PURI, raw(0), 7), WaitReason.FOR_SCHEMA);
        assertThat(parking.waitingForSchemas(1)).containsExactly(PURI);
        for (int budget = -1; budget <= 0; budget++) {
            assertThat(parking.waitingForSchemas(budget)).isEmpty();
        }
    }

    private static RawEvent raw(int offset) {
        return RawEvent.of(new Position(Topics.EVENTS, 0, offset), PURI.toBytes(), new byte[] {1, 2, 3});
    }

    private static KeyValueStore<byte[], byte[]> store() {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:0");
        MockProcessorContext<byte[], byte[]> context =
                new MockProcessorContext<>(config, new TaskId(0, 0), new File("/nonexistent"));
        KeyValueStore<byte[], byte[]> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("parked"), Serdes.ByteArray(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        store.init(context.getStateStoreContext(), store);
        return store;
    }
}
