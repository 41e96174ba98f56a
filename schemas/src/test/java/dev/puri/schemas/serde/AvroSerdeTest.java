package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.Created;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.RowStatus;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.util.Utf8;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AvroSerdeTest {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final IdentityEvent EVENT = new IdentityEvent(
            ID,
            "soundcloud:tracks:123",
            Instant.ofEpochMilli(1_750_000_000_123L),
            "catalog",
            ID,
            7L,
            new Created(ID, "catalog", "br-1", "trk_4k7vx9tz2nqr8w3", Map.of("title", "Fährmann")));
    private static final IdentityRow ROW = new IdentityRow(
            ID,
            "catalog",
            "br-1",
            null,
            RowStatus.ACTIVE,
            1L,
            Instant.ofEpochMilli(5),
            Instant.ofEpochMilli(6),
            null,
            new EventPosition("puri.events.v1", 3, 99L));

    private final FakeRegistry fake = new FakeRegistry();

    @AfterEach
    void stop() {
        fake.close();
    }

    private Map<String, Object> configs(Object... more) {
        Map<String, Object> configs = new HashMap<>(Map.of("schema.registry.url", fake.url(), "max.retries", 0));
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        return configs;
    }

    private AvroSerializer serializer(Object... more) {
        AvroSerializer serializer = new AvroSerializer();
        serializer.configure(configs(more), false);
        return serializer;
    }

    private AvroDeserializer deserializer(Object... more) {
        AvroDeserializer deserializer = new AvroDeserializer();
        deserializer.configure(configs(more), false);
        return deserializer;
    }

    private static byte[] written(AvroSerializer serializer, String topic, Object datum) {
        return Objects.requireNonNull(serializer.serialize(topic, datum));
    }

    private static GenericRecord generic(AvroDeserializer deserializer, byte[] value) {
        return (GenericRecord) Objects.requireNonNull(deserializer.deserialize("t", value));
    }

    @Test
    void generatedRecordsRoundTrip() {
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer("specific.avro.reader", "true")) {
            for (Object datum : List.of(EVENT, ROW)) {
                byte[] value = written(serializer, datum.getClass().getSimpleName(), datum);
                assertThat(deserializer.deserialize("t", value)).isEqualTo(datum);
            }
        }
    }

    @Test
    void theHeaderIsAZeroByteAndTheIdBigEndian() {
        fake.add("\"string\"");
        try (AvroSerializer serializer = serializer()) {
            byte[] value = written(serializer, "t", EVENT);
            assertThat(value).startsWith(0, 0, 0, 0, 2);
            assertThat(WireFormat.schemaId(value)).isEqualTo(2);
            ByteBuffer within =
                    ByteBuffer.allocate(value.length + 3).position(3).put(value).position(3);
            assertThat(WireFormat.schemaId(within)).isEqualTo(2);
            assertThat(within.position()).isEqualTo(3);
        }
    }

    @Test
    void genericRecordsContainPlainValuesUnlessConversionsAreRequested() {
        try (AvroSerializer serializer = serializer();
                AvroDeserializer plain = deserializer();
                AvroDeserializer converting = deserializer("avro.use.logical.type.converters", true)) {
            byte[] value = written(serializer, "t", EVENT);
            GenericRecord raw = generic(plain, value);
            assertThat(raw.get("eventId")).hasToString(ID.toString()).isNotInstanceOf(UUID.class);
            assertThat(raw.get("occurredAt")).isEqualTo(1_750_000_000_123L);
            GenericRecord converted = generic(converting, value);
            assertThat(converted.get("eventId")).isEqualTo(ID);
            assertThat(converted.get("uuid")).isEqualTo(ID);
            assertThat(converted.get("occurredAt")).isEqualTo(Instant.ofEpochMilli(1_750_000_000_123L));
            assertThat(serializer.serialize("t", raw)).isEqualTo(value);
            assertThat(serializer.serialize("t", converted)).isEqualTo(value);
            byte[] row = written(serializer, "rows", ROW);
            assertThat(generic(converting, row).get("uuid")).isEqualTo(ID);
            assertThat(generic(plain, row).get("uuid")).isInstanceOf(GenericData.Fixed.class);
        }
    }

    @Test
    void aGeneratedClassIsReadByItsOwnSchema() {
        Schema older = SchemaBuilder.record("EventPosition")
                .namespace("dev.puri.schemas.avro")
                .fields()
                .requiredLong("offset")
                .requiredString("gone")
                .requiredString("topic")
                .requiredInt("partition")
                .endRecord();
        GenericRecord written = new GenericRecordBuilder(older)
                .set("offset", 5L)
                .set("gone", "x")
                .set("topic", "t")
                .set("partition", 2)
                .build();
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer("specific.avro.reader", true)) {
            byte[] value = written(serializer, "t", written);
            assertThat(deserializer.deserialize("t", value)).isEqualTo(new EventPosition("t", 2, 5L));
        }
    }

    @Test
    void aNameWithoutAGeneratedClassIsRefusedAndItsStaticCodeDoesNotRun() {
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer("specific.avro.reader", true)) {
            for (String name : List.of("Trap", "Nobody")) {
                Schema schema = SchemaBuilder.record(name)
                        .namespace("dev.puri.schemas.serde")
                        .fields()
                        .endRecord();
                byte[] value = written(serializer, name, new GenericRecordBuilder(schema).build());
                assertThatThrownBy(() -> deserializer.deserialize("t", value))
                        .isInstanceOf(SerializationException.class)
                        .hasMessageContaining("dev.puri.schemas.serde." + name);
            }
        }
        assertThat(System.getProperty("trap.sprung")).isNull();
    }

    @Test
    void nullIsNull() {
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer()) {
            assertThat(serializer.serialize("t", null)).isNull();
            assertThat(deserializer.deserialize("t", null)).isNull();
        }
    }

    @Test
    void aValueThatIsNoAvroRecordIsRefused() {
        try (AvroSerializer serializer = serializer()) {
            assertThatThrownBy(() -> serializer.serialize("t", "text"))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("java.lang.String");
        }
    }

    @Test
    void aRecordThatDoesNotMatchItsSchemaIsRefusedAndTheNextIsWrittenCompletely() {
        try (AvroSerializer serializer = serializer()) {
            byte[] good = serializer.serialize("t", EVENT);
            IdentityEvent bad = IdentityEvent.newBuilder(EVENT).build();
            bad.setChange("no change");
            assertThatThrownBy(() -> serializer.serialize("t", bad)).isInstanceOf(SerializationException.class);
            assertThat(serializer.serialize("t", EVENT)).isEqualTo(good);
        }
    }

    @Test
    void subjectsAreTopicKeyAndTopicValue() {
        try (AvroSerializer value = serializer();
                AvroSerializer key = new AvroSerializer()) {
            key.configure(configs(), true);
            value.serialize("t", EVENT);
            key.serialize("t", EVENT);
        }
        assertThat(fake.requests)
                .extracting(FakeRegistry.Request::path)
                .containsExactly("/subjects/t-value/versions", "/subjects/t-key/versions");
    }

    @Test
    void withoutAutomaticRegistrationTheSchemaMustBeThere() {
        try (AvroSerializer serializer = serializer("auto.register.schemas", false)) {
            assertThatThrownBy(() -> serializer.serialize("t", EVENT))
                    .isInstanceOf(UnknownSchemaException.class)
                    .hasMessageContainingAll("t-value", fake.url());
            int id = fake.add("t-value", RegisteredForm.of(IdentityEvent.getClassSchema()));
            assertThat(WireFormat.schemaId(written(serializer, "t", EVENT))).isEqualTo(id);
        }
    }

    @Test
    void generatedClassesAreRegisteredWithoutJavaPropertiesUnlessRequested() {
        Schema ofClass = IdentityEvent.getClassSchema();
        try (AvroSerializer plain = serializer();
                AvroSerializer java = serializer("avro.remove.java.properties", false)) {
            int id = WireFormat.schemaId(written(plain, "t", EVENT));
            int javaId = WireFormat.schemaId(written(java, "t", EVENT));
            assertThat(id).isEqualTo(fake.add("t-value", RegisteredForm.of(ofClass)));
            assertThat(javaId).isEqualTo(fake.add("t-value", ofClass)).isNotEqualTo(id);
        }
    }

    @Test
    void theLatestVersionIsWrittenWhenAskedFor() {
        Schema own = SchemaBuilder.record("R")
                .fields()
                .requiredString("a")
                .requiredInt("b")
                .endRecord();
        Schema latest = SchemaBuilder.record("R")
                .fields()
                .name("c")
                .type()
                .stringType()
                .stringDefault("new")
                .requiredLong("b")
                .requiredString("a")
                .endRecord();
        int id = fake.add("t-value", latest);
        GenericRecord datum =
                new GenericRecordBuilder(own).set("a", "x").set("b", 3).build();
        try (AvroSerializer serializer = serializer("use.latest.version", true, "auto.register.schemas", false);
                AvroDeserializer deserializer = deserializer()) {
            byte[] value = written(serializer, "t", datum);
            assertThat(WireFormat.schemaId(value)).isEqualTo(id);
            assertThat(deserializer.deserialize("t", value))
                    .isEqualTo(new GenericRecordBuilder(latest)
                            .set("a", new Utf8("x"))
                            .set("b", 3L)
                            .set("c", new Utf8("new"))
                            .build());
            serializer.serialize("t", datum);
        }
        assertThat(fake.requests).hasSize(2);
    }

    @Test
    void aLatestVersionThatCannotReadTheRecordIsRefused() {
        fake.add(
                "t-value",
                SchemaBuilder.record("R").fields().requiredString("other").endRecord());
        Schema own = SchemaBuilder.record("R").fields().requiredString("a").endRecord();
        try (AvroSerializer serializer = serializer("use.latest.version", "true")) {
            assertThatThrownBy(() -> serializer.serialize(
                            "t", new GenericRecordBuilder(own).set("a", "x").build()))
                    .isInstanceOf(IncompatibleSchemaException.class)
                    .hasMessageContainingAll("t-value", "other");
        }
    }

    @Test
    void otherSubjectNamesAreRefusedAtOnce() {
        AvroSerializer serializer = new AvroSerializer();
        String other = "io.confluent.kafka.serializers.subject.RecordNameStrategy";
        assertThatThrownBy(() -> serializer.configure(configs("value.subject.name.strategy", other), false))
                .isInstanceOf(ConfigException.class)
                .hasMessageContainingAll("value.subject.name.strategy", other);
        serializer.configure(configs("key.subject.name.strategy", other), false);
        serializer.close();
        serializer.configure(
                configs("value.subject.name.strategy", "io.confluent.kafka.serializers.subject.TopicNameStrategy"),
                false);
        serializer.close();
    }

    @Test
    void flagsAreTrueOrFalse() {
        assertThatThrownBy(() -> new AvroSerializer().configure(configs("auto.register.schemas", "yes"), false))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("auto.register.schemas");
    }

    @Test
    void aRegistryThatIsDownIsNamedWithTheSubjectOrTheId() {
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer()) {
            byte[] known = written(serializer, "known", EVENT);
            assertThat(deserializer.deserialize("known", known)).isNotNull();
            String url = fake.url();
            fake.close();
            assertThatThrownBy(() -> serializer.serialize("t", EVENT))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("t-value", url);
            assertThatThrownBy(() -> deserializer.deserialize("t", new byte[] {0, 0, 0, 0, 9, 1}))
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageContainingAll("id 9", url);
            assertThat(serializer.serialize("known", EVENT))
                    .as("a known schema needs no registry")
                    .isEqualTo(known);
            assertThat(deserializer.deserialize("known", known)).isNotNull();
        }
    }

    @Test
    void anUnknownIdIsNamed() {
        try (AvroDeserializer deserializer = deserializer()) {
            assertThatThrownBy(() -> deserializer.deserialize("t", new byte[] {0, 0, 0, 0, 9, 1}))
                    .isInstanceOf(UnknownSchemaException.class)
                    .hasMessageContainingAll("id 9", fake.url());
        }
    }

    @Test
    void oneSerializerServesManyThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (AvroSerializer serializer = serializer();
                AvroDeserializer deserializer = deserializer("specific.avro.reader", true)) {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int thread = t;
                results.add(threads.submit(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        EventPosition position = new EventPosition("t" + thread, i, i * 7L);
                        byte[] value = written(serializer, "t", position);
                        if (!position.equals(deserializer.deserialize("t", value))) {
                            return false;
                        }
                    }
                    return true;
                }));
            }
            for (Future<Boolean> result : results) {
                assertThat(result.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
