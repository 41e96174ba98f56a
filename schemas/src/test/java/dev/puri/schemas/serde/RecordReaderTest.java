package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.IdentityEvent;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;

class RecordReaderTest {
    private static final EventPosition POSITION = new EventPosition("puri.events.v1", 3, 1042L);
    private static final Schema SCHEMA = EventPosition.getClassSchema();

    private final RecordWriter<EventPosition> writer = RecordWriter.of(EventPosition.class);
    private final RecordReader<EventPosition> reader = RecordReader.of(EventPosition.class);

    @Test
    void aWrittenRecordIsReadBack() {
        byte[] value = writer.encode(0x01020304, POSITION);
        assertThat(value).startsWith(0, 1, 2, 3, 4);
        assertThat(reader.decode(value, writer.schema())).isEqualTo(POSITION);
    }

    @Test
    void everyTruncationIsUndecodable() {
        byte[] value = writer.encode(1, POSITION);
        for (int length = 0; length < value.length; length++) {
            byte[] cut = Arrays.copyOf(value, length);
            assertThatThrownBy(() -> reader.decode(cut, SCHEMA))
                    .as("%d bytes", length)
                    .isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void bytesLeftOverAreUndecodable() {
        byte[] value = writer.encode(1, POSITION);
        byte[] longer = Arrays.copyOf(value, value.length + 1);
        assertThatThrownBy(() -> reader.decode(longer, SCHEMA))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("EventPosition");
        assertThat(reader.decode(value, SCHEMA)).isEqualTo(POSITION);
    }

    @Test
    void anotherMagicByteIsUndecodable() {
        byte[] value = writer.encode(1, POSITION);
        value[0] = 1;
        assertThatThrownBy(() -> reader.decode(value, SCHEMA))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("0x01");
        assertThatThrownBy(() -> WireFormat.schemaId(new byte[4])).isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> WireFormat.schemaId(new byte[0])).isInstanceOf(SerializationException.class);
    }

    @Test
    void aClaimedLengthAllocatesNothing() {
        // 80 bytes whose string says that it has 1 GiB; likewise bytes, an array and a map.
        Schema all = SchemaBuilder.record("All")
                .fields()
                .name("s")
                .type()
                .unionOf()
                .stringType()
                .and()
                .bytesType()
                .and()
                .array()
                .items()
                .longType()
                .and()
                .map()
                .values()
                .longType()
                .endUnion()
                .noDefault()
                .endRecord();
        RecordReader<GenericRecord> generic = RecordReader.of(all);
        for (int branch = 0; branch < 4; branch++) {
            byte[] value = ByteBuffer.allocate(80)
                    .put(new byte[] {0, 0, 0, 0, 1})
                    .put((byte) (branch * 2))
                    .put(varint(1L << 30))
                    .array();
            long before = allocated();
            assertThatThrownBy(() -> generic.decode(value, all)).isInstanceOf(SerializationException.class);
            assertThat(allocated() - before)
                    .as("bytes allocated, branch %d", branch)
                    .isLessThan(4 << 20);
        }
    }

    @Test
    void negativeLengthsAndBranchesAreUndecodable() {
        for (long length : new long[] {-1, Long.MIN_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE}) {
            byte[] value = ByteBuffer.allocate(40)
                    .put(new byte[] {0, 0, 0, 0, 1})
                    .put(varint(length))
                    .array();
            assertThatThrownBy(() -> reader.decode(value, SCHEMA)).isInstanceOf(SerializationException.class);
        }
    }

    @Test
    void nestingDeeperThanTheStackIsUndecodable() {
        Schema node = SchemaBuilder.record("Node")
                .fields()
                .name("next")
                .type()
                .unionOf()
                .nullType()
                .and()
                .type("Node")
                .endUnion()
                .nullDefault()
                .endRecord();
        byte[] deep = new byte[1_000_000];
        Arrays.fill(deep, (byte) 2);
        Arrays.fill(deep, 0, WireFormat.HEADER_LENGTH, (byte) 0);
        RecordReader<GenericRecord> generic = RecordReader.of(node);
        assertThatThrownBy(() -> generic.decode(deep, node)).isInstanceOf(SerializationException.class);
        // The same where the reader has no such field and skips it.
        RecordReader<GenericRecord> skipping =
                RecordReader.of(SchemaBuilder.record("Node").fields().endRecord());
        assertThatThrownBy(() -> skipping.decode(deep, node)).isInstanceOf(SerializationException.class);
        // The thread continues as before.
        assertThat(reader.decode(writer.encode(1, POSITION), SCHEMA)).isEqualTo(POSITION);
    }

    @Test
    void aWriterSchemaThatDoesNotFitIsUndecodable() {
        Schema other = SchemaBuilder.record("EventPosition")
                .namespace("dev.puri.schemas.avro")
                .fields()
                .requiredBoolean("topic")
                .endRecord();
        assertThatThrownBy(() -> reader.decode(new byte[] {0, 0, 0, 0, 1, 1}, other))
                .isInstanceOf(SerializationException.class);
        assertThatThrownBy(() -> reader.decode(new byte[] {0, 0, 0, 0, 1, 1}, Schema.create(Schema.Type.STRING)))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void randomBytesAreReadOrUndecodableAndNothingElse() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        RecordReader<IdentityEvent> events = RecordReader.of(IdentityEvent.class);
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] value = new byte[WireFormat.HEADER_LENGTH + random.nextInt(120)];
            for (int j = WireFormat.HEADER_LENGTH; j < value.length; j++) {
                value[j] = (byte) random.nextInt(random.nextBoolean() ? 8 : 256);
            }
            try {
                events.decode(value, IdentityEvent.getClassSchema());
                read++;
            } catch (SerializationException expected) {
                // Any other exception fails the test.
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + ", round " + i + ": " + Arrays.toString(value), e);
            }
        }
        assertThat(read)
                .as("seed %d: random bytes are hardly ever events", seed)
                .isLessThan(100);
    }

    private static byte[] varint(long number) {
        ByteBuffer bytes = ByteBuffer.allocate(10);
        long zigzag = number << 1 ^ number >> 63;
        while ((zigzag & ~0x7FL) != 0) {
            bytes.put((byte) (zigzag & 0x7F | 0x80));
            zigzag >>>= 7;
        }
        return Arrays.copyOf(bytes.put((byte) zigzag).array(), bytes.position());
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
