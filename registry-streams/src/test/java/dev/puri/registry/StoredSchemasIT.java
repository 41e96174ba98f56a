package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The sample of stored schema ids; {@code SchemaRegistryDrillIT} in {@code cli} tests the whole check. */
class StoredSchemasIT {
    private static final byte[] VALUE_WITH_UNKNOWN_ID = {0, 0, 0, 0, 99, 1};

    private final InMemorySchemaRegistry schemaRegistry = new InMemorySchemaRegistry();
    private RestartableBroker broker;
    private Map<String, Object> configs;
    private KafkaProducer<byte[], byte[]> producer;

    @BeforeEach
    void start() {
        broker = Broker.start();
        configs = Map.of("bootstrap.servers", broker.bootstrapServers());
        try (Admin admin = Admin.create(configs)) {
            RegistryTopics.create(admin, 2, (short) 1, Set.of());
        }
        producer = new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
        schemaRegistry.register("rows", IdentityRow.getClassSchema());
    }

    @AfterEach
    void stop() {
        producer.close();
        broker.close();
    }

    private void write(int count, byte @Nullable [] value) throws Exception {
        Future<RecordMetadata> last = null;
        for (int i = 0; i < count; i++) {
            last = producer.send(new ProducerRecord<>(Topics.IDENTITIES, 1, new byte[] {1}, value));
        }
        producer.flush();
        last.get(60, TimeUnit.SECONDS);
    }

    @Test
    void findsTheLastSchemaIdOfAPartitionThatGotOnlyDigestsSince() throws Exception {
        write(1_000, null);
        assertThat(StoredSchemas.check(configs, schemaRegistry, () -> false)).isEmpty();
        write(1, VALUE_WITH_UNKNOWN_ID);
        write(3_500, null);

        assertThat(StoredSchemas.check(configs, schemaRegistry, () -> false))
                .singleElement()
                .asString()
                .startsWith(
                        "puri.identities.v1 has records with the schema id 99 (offset 1000 of partition 1), which the"
                                + " schema registry does not have");
    }

    @Test
    void endsWhenItIsStopped() throws Exception {
        write(1, VALUE_WITH_UNKNOWN_ID);
        assertThatThrownBy(() -> StoredSchemas.check(configs, schemaRegistry, () -> true))
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("stopped");
    }
}
