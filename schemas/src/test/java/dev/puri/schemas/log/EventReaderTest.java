package dev.puri.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.serde.RecordWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventReaderTest {
    private static final Schema SCHEMA = IdentityEvent.getClassSchema();
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Puri PURI = Puri.parse("soundcloud:tracks:123");

    private final RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
    private final EventReader reader = new EventReader();

    private static Event event(Change change) {
        return new Event(ID, PURI, Instant.ofEpochMilli(1_750_000_000_123L), "catalog", ID, 7L, change);
    }

    @Test
    void everyKindOfChangeRoundTrips() {
        List<Change> changes = List.of(
                new Change.Created(
                        ID,
                        new Owner("catalog"),
                        new Shard("br-1"),
                        Handle.parse("trk_4k7vx9tz2nqr8w3"),
                        Map.of("title", "Fährmann")),
                new Change.Created(ID, new Owner("catalog"), new Shard("br-1"), null, Map.of()),
                new Change.Moved(new Owner("other"), new Shard("br-2")),
                new Change.Moved(null, new Shard("br-2")),
                new Change.Described(Map.of("a", "b")),
                new Change.Merged(Puri.parse("a:b:c")),
                new Change.Deleted(),
                new Change.Erased());
        assertThat(changes.stream().map(Object::getClass).distinct())
                .hasSameElementsAs(List.of(Change.class.getPermittedSubclasses()));
        for (Change change : changes) {
            Event event = event(change);
            byte[] value = writer.encode(1, EventAvro.toAvro(event));
            assertThat(reader.read(PURI, value, SCHEMA)).isEqualTo(event);
            assertThat(EventAvro.fromAvro(EventAvro.toAvro(event))).isEqualTo(event);
        }
    }

    @Test
    void guardsMayBeAbsent() {
        Event event = new Event(ID, PURI, Instant.EPOCH, "s", null, null, new Change.Deleted());
        assertThat(reader.read(PURI, writer.encode(1, EventAvro.toAvro(event)), SCHEMA))
                .isEqualTo(event);
    }

    @Test
    void undecodableBytesAreNotAMalformedEvent() {
        byte[] value = writer.encode(1, EventAvro.toAvro(event(new Change.Deleted())));
        byte[] longer = java.util.Arrays.copyOf(value, value.length + 1);
        assertThatThrownBy(() -> reader.read(PURI, longer, SCHEMA)).isInstanceOf(SerializationException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1-1-1-1-1",
                "1-1-7001-8001-1",
                "0197f3a47c1e7d2b9a550123456789ab",
                "{0197f3a4-7c1e-7d2b-9a55-0123456789ab}",
                "0197f3a4-7c1e-7d2b-9a55-0123456789a",
                "0197f3a4-7c1e-7d2b-9a55-0123456789abc",
                "0197f3a4-7c1e-7d2b-9a55-0123456789ag",
                "0197f3a4-7c1e-7d2b-9a55-0123456789a\u0661",
                "0197f3a47-c1e-7d2b-9a55-0123456789ab",
                "+197f3a4-7c1e-7d2b-9a55-0123456789ab",
                "00000000-0000-0000-0000-000000000000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff"
            })
    void aBadUuidIsMalformedAndNotUndecodable(String uuid) {
        assertMalformed("eventId", e -> e.put("eventId", uuid));
        assertMalformed("uuid", e -> e.put("uuid", uuid));
        assertMalformed("change.uuid", e -> change(e).put("uuid", uuid));
    }

    @Test
    void anUppercaseUuidIsTheSameUuid() throws IOException {
        GenericRecord avro = created();
        avro.put("eventId", ID.toString().toUpperCase(java.util.Locale.ROOT));
        assertThat(reader.read(PURI, bytes(avro), SCHEMA).eventId()).isEqualTo(ID);
    }

    @Test
    void anEventThatBreaksARuleIsMalformedAndTheRuleIsNamed() {
        assertMalformed("puri", e -> e.put("puri", "no puri"));
        assertMalformed("occurredAt", e -> e.put("occurredAt", -1L));
        assertMalformed("occurredAt", e -> e.put("occurredAt", Long.MAX_VALUE));
        assertMalformed("source", e -> e.put("source", ""));
        assertMalformed("source", e -> e.put("source", "a\nb"));
        assertMalformed("change.owner", e -> change(e).put("owner", "white space"));
        assertMalformed("change.shard", e -> change(e).put("shard", ""));
        assertMalformed("change.handle", e -> change(e).put("handle", "trk_short"));
        assertMalformed("change.into", e -> {
            GenericRecord merged = new GenericData.Record(
                    SCHEMA.getField("change").schema().getTypes().get(3));
            merged.put("into", "a:b");
            e.put("change", merged);
        });
    }

    private interface Damage {
        void to(GenericRecord event);
    }

    private void assertMalformed(String field, Damage damage) {
        GenericRecord avro = created();
        damage.to(avro);
        assertThatThrownBy(() -> reader.read(PURI, bytes(avro), SCHEMA))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(field + " ");
    }

    private static GenericRecord change(GenericRecord event) {
        return (GenericRecord) event.get("change");
    }

    /** A well-formed event with plain values, so that it can be damaged. */
    private static GenericRecord created() {
        GenericRecord change = new GenericData.Record(
                SCHEMA.getField("change").schema().getTypes().get(0));
        change.put("uuid", ID.toString());
        change.put("owner", "catalog");
        change.put("shard", "br-1");
        change.put("handle", null);
        change.put("attributes", Map.of());
        GenericRecord event = new GenericData.Record(SCHEMA);
        event.put("eventId", ID.toString());
        event.put("puri", PURI.toString());
        event.put("occurredAt", 0L);
        event.put("source", "catalog");
        event.put("uuid", null);
        event.put("expectedEpoch", null);
        event.put("change", change);
        return event;
    }

    private static byte[] bytes(GenericRecord avro) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(new byte[] {0, 0, 0, 0, 1});
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        new GenericDatumWriter<GenericRecord>(SCHEMA, new GenericData()).write(avro, encoder);
        encoder.flush();
        return bytes.toByteArray();
    }
}
