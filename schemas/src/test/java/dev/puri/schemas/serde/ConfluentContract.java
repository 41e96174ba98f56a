package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.Any;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.ConfluentSerde.Surroundings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Our serde and Confluent's are compatible: each reads the records of the other, with the same
 * configuration. Written once, run against an in-memory and against a real schema registry.
 */
abstract class ConfluentContract {
    private static final int RECORDS = 50;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String topic = "contract-" + UUID.randomUUID();

    /** The base of a schema registry's Confluent API. */
    abstract String url();

    private Map<String, Object> configs(Object... more) {
        // Confluent's default is false.
        Map<String, Object> configs =
                new HashMap<>(Map.of("schema.registry.url", url(), "avro.remove.java.properties", true));
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        return configs;
    }

    private static AvroSerializer serializer(Map<String, Object> configs) {
        AvroSerializer serializer = new AvroSerializer();
        serializer.configure(configs, false);
        return serializer;
    }

    private static AvroDeserializer deserializer(Map<String, Object> configs) {
        AvroDeserializer deserializer = new AvroDeserializer();
        deserializer.configure(configs, false);
        return deserializer;
    }

    private static byte[] written(AvroSerializer serializer, String topic, Object datum) {
        return Objects.requireNonNull(serializer.serialize(topic, datum));
    }

    private static List<Object> records(Random random) {
        return List.of(EventAvro.toAvro(Any.event(random)), RowAvro.toAvro(Any.row(random)));
    }

    @Test
    void generatedRecordsPassBothWays() throws Exception {
        Map<String, Object> configs = configs("specific.avro.reader", true);
        Random random = new Random(1);
        try (AvroSerializer ours = serializer(configs);
                AvroDeserializer reader = deserializer(configs);
                ConfluentSerde theirs = new ConfluentSerde(Surroundings.OURS, configs)) {
            for (int i = 0; i < RECORDS; i++) {
                for (Object datum : records(random)) {
                    String to = topic + datum.getClass().getSimpleName();
                    byte[] value = written(ours, to, datum);
                    assertThat(theirs.deserialize(to, value)).isEqualTo(datum);
                    assertThat(theirs.serialize(to, datum)).isEqualTo(value);
                    assertThat(reader.deserialize(to, theirs.serialize(to, datum)))
                            .isEqualTo(datum);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Surroundings.class)
    void genericRecordsPassBothWays(Surroundings surroundings) throws Exception {
        Map<String, Object> configs = configs();
        Random random = new Random(2);
        try (AvroSerializer ours = serializer(configs);
                AvroDeserializer reader = deserializer(configs);
                ConfluentSerde theirs = new ConfluentSerde(surroundings, configs)) {
            for (int i = 0; i < RECORDS; i++) {
                for (Object datum : records(random)) {
                    String to = topic + datum.getClass().getSimpleName();
                    byte[] value = written(ours, to, datum);
                    Object generic = theirs.deserialize(to, value);
                    GenericRecord read = (GenericRecord) Objects.requireNonNull(reader.deserialize(to, value));
                    assertThat(JSON.readTree(generic.toString())).isEqualTo(JSON.readTree(read.toString()));
                    byte[] theirValue = theirs.serialize(to, generic);
                    assertThat(theirValue).as("except for the order in maps").hasSameSizeAs(value);
                    assertThat(reader.deserialize(to, theirValue)).isEqualTo(read);
                    assertThat(ours.serialize(to, read)).hasSameSizeAs(value);
                }
            }
        }
    }

    @Test
    void eitherSerializerFindsTheSchemaThatTheOtherRegistered() throws Exception {
        Map<String, Object> registering = configs("specific.avro.reader", true);
        Map<String, Object> finding = configs("auto.register.schemas", false, "specific.avro.reader", true);
        IdentityEvent event = EventAvro.toAvro(Any.event(new Random(3)));
        IdentityRow row = RowAvro.toAvro(Any.row(new Random(3)));
        try (AvroSerializer ours = serializer(registering);
                AvroSerializer oursFinding = serializer(finding);
                ConfluentSerde theirs = new ConfluentSerde(Surroundings.OURS, registering);
                ConfluentSerde theirsFinding = new ConfluentSerde(Surroundings.OURS, finding)) {
            byte[] byTheirs = theirs.serialize(topic + "a", event);
            assertThat(written(oursFinding, topic + "a", event)).isEqualTo(byTheirs);
            byte[] byOurs = written(ours, topic + "b", row);
            assertThat(theirsFinding.serialize(topic + "b", row)).isEqualTo(byOurs);
            assertThatThrownBy(() -> oursFinding.serialize(topic + "nothing", row))
                    .isInstanceOf(UnknownSchemaException.class);
            assertThatThrownBy(() -> theirsFinding.serialize(topic + "nothing", row))
                    .hasMessageContaining("Error retrieving Avro schema");
        }
    }

    @Test
    void bothWriteTheLatestVersionIfConfigured() throws Exception {
        Schema first =
                SchemaBuilder.record("Latest").fields().requiredString("a").endRecord();
        GenericRecord datum = new GenericRecordBuilder(first).set("a", "x").build();
        Map<String, Object> configs = configs("use.latest.version", true, "auto.register.schemas", false);
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(configs);
                AvroSerializer ours = serializer(configs);
                ConfluentSerde theirs = new ConfluentSerde(Surroundings.OURS, configs)) {
            registry.register(topic + "-value", first);
            registry.register(
                    topic + "-value",
                    SchemaBuilder.record("Latest")
                            .fields()
                            .requiredString("a")
                            .optionalInt("b")
                            .endRecord());
            int id = registry.latest(topic + "-value").id();
            assertThat(WireFormat.schemaId(written(ours, topic, datum))).isEqualTo(id);
            GenericRecord current = new GenericRecordBuilder(
                            registry.latest(topic + "-value").schema())
                    .set("a", "x")
                    .build();
            assertThat(theirs.serialize(topic, current)).isEqualTo(written(ours, topic, datum));
        }
    }
}
