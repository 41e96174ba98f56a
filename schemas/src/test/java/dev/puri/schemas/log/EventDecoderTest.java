package dev.puri.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.Any;
import dev.puri.schemas.Property;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventDecoderTest {
    private static final int ROUNDS = 3_000;
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Puri OTHER_KEY = Puri.parse("other:things:1");

    private final RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
    private final RecordReader<GenericRecord> avro = RecordReader.of(IdentityEvent.getClassSchema());

    @Test
    void everyValidEventIsDecodedWithAnyKey() {
        Property.forAll(ROUNDS, random -> {
            Event event = Any.event(random);
            byte[] value = writer.encode(1, EventAvro.toAvro(event));
            assertThat(EventDecoder.decode(value, event.puri())).isEqualTo(event);
            assertThat(EventDecoder.decode(value, OTHER_KEY)).isEqualTo(event);
        });
    }

    @Test
    void damagedBytesAreDecodedAsAvroDecodesThemOrLeftToIt() {
        int[] decoded = new int[1];
        int[] left = new int[1];
        Property.forAll(10 * ROUNDS, random -> {
            Event event = Any.event(random);
            byte[] value = damaged(writer.encode(1, EventAvro.toAvro(event)), random);
            Event byHand = EventDecoder.decode(value, event.puri());
            if (byHand == null) {
                left[0]++;
            } else {
                decoded[0]++;
                assertThat(byHand).isEqualTo(byAvro(value));
            }
        });
        // Both must happen often; otherwise the test would prove nothing.
        assertThat(decoded[0]).isGreaterThan(ROUNDS);
        assertThat(left[0]).isGreaterThan(ROUNDS);
    }

    @Test
    void anOverlongUnionBranchIsLeftToAvro() {
        Event event = new Event(ID, OTHER_KEY, Instant.EPOCH, "test", null, null, new Change.Deleted());
        byte[] value = writer.encode(1, EventAvro.toAvro(event));
        int last = value.length - 1;
        assertThat(EventDecoder.decode(value, OTHER_KEY)).isEqualTo(event);
        // The branch is the last byte. Avro takes at most five bytes for one.
        byte[] padded = Arrays.copyOf(value, value.length + 5);
        padded[last] |= (byte) 0x80;
        Arrays.fill(padded, last + 1, padded.length - 1, (byte) 0x80);
        assertThat(byAvro(padded)).isNull();
        assertThat(EventDecoder.decode(padded, OTHER_KEY)).isNull();
    }

    private static byte[] damaged(byte[] value, Random random) {
        int length = random.nextInt(10) == 0 ? 5 + random.nextInt(value.length - 4) : value.length;
        byte[] damaged = Arrays.copyOf(value, length);
        for (int i = random.nextInt(3); i >= 0 && length > 5; i--) {
            damaged[5 + random.nextInt(length - 5)] = (byte) random.nextInt();
        }
        return damaged;
    }

    private @Nullable Event byAvro(byte[] value) {
        try {
            return EventAvro.fromAvro(avro.decode(value, writer.schema()));
        } catch (SerializationException | IllegalArgumentException e) {
            return null;
        }
    }
}
