package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.Any;
import dev.puri.schemas.Property;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.EventSerializer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventSerializerTest {
    private static final String TOPIC = "puri.events.v1";

    private final FakeRegistry fake = new FakeRegistry();

    @AfterEach
    void close() {
        fake.close();
    }

    @Test
    void writesTheBytesOfTheAvroSerializer() {
        assertSameBytes(Map.of("schema.registry.url", fake.url()));
    }

    @Test
    void writesTheSubjectsLatestSchemaWhenItIsAnother() {
        fake.add(TOPIC + "-value", withAnotherField());
        assertSameBytes(Map.of("schema.registry.url", fake.url(), "use.latest.version", "true"));
    }

    @Test
    void asksTheSchemaRegistryOnce() {
        try (EventSerializer serializer = new EventSerializer()) {
            serializer.configure(Map.of("schema.registry.url", fake.url()), false);
            Property.forAll(3, random -> serializer.serialize(TOPIC, Any.event(random)));
        }
        assertThat(fake.requests).hasSize(1);
    }

    @Test
    void passesNullOn() {
        try (EventSerializer serializer = new EventSerializer()) {
            serializer.configure(Map.of("schema.registry.url", fake.url()), false);
            assertThat(serializer.serialize(TOPIC, null)).isNull();
        }
    }

    private static void assertSameBytes(Map<String, String> configs) {
        try (EventSerializer serializer = new EventSerializer();
                AvroSerializer avro = new AvroSerializer()) {
            serializer.configure(configs, false);
            avro.configure(configs, false);
            Property.forAll(300, random -> {
                Event event = Any.event(random);
                assertThat(serializer.serialize(TOPIC, event))
                        .isEqualTo(avro.serialize(TOPIC, EventAvro.toAvro(event)));
            });
        }
    }

    private static Schema withAnotherField() {
        Schema own = RegisteredForm.of(IdentityEvent.getClassSchema());
        List<Schema.Field> fields = new ArrayList<>();
        own.getFields().forEach(field -> fields.add(new Schema.Field(field, field.schema())));
        Schema text = Schema.createUnion(Schema.create(Schema.Type.NULL), Schema.create(Schema.Type.STRING));
        fields.add(0, new Schema.Field("tenant", text, null, Schema.Field.NULL_DEFAULT_VALUE));
        return Schema.createRecord(own.getName(), own.getDoc(), own.getNamespace(), false, fields);
    }
}
