package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.WireFormat;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A fast decoder of records of {@code puri.identities.v1} for the baselines. It reads the fields of a value in the
 * order of the schema, in half of Avro's time, so that the baselines are as fast as they can be. Avro decodes values in
 * any other form.
 *
 * <p>Used by one thread.
 */
final class RowDecoder {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final Row.Status[] STATUSES = {Row.Status.ACTIVE, Row.Status.MERGED, Row.Status.DELETED};

    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);

    private final LastText<Owner> lastOwner = new LastText<>(Owner::new);
    private final LastText<Shard> lastShard = new LastText<>(Shard::new);
    private final LastText<String> lastTopic = new LastText<>(text -> text);
    private byte[] in = {};
    private int index;

    static Puri puri(byte[] key) {
        return Puri.parse(new String(key, StandardCharsets.UTF_8));
    }

    /**
     * @param value must be written with the schema {@link Population#schema}
     * @throws org.apache.kafka.common.errors.SerializationException if the bytes are no record of this schema
     * @throws IllegalArgumentException if the record is no valid row
     */
    Row decode(byte[] value) {
        Row row = decodeByHand(value);
        return row != null ? row : RowAvro.fromAvro(reader.decode(value, Population.schema()));
    }

    /** Returns the row, or null if the value has another form, which only Avro can decode or refuse. */
    @Nullable
    Row decodeByHand(byte[] value) {
        in = value;
        index = WireFormat.HEADER_LENGTH;
        try {
            Row row = readRow();
            return index == value.length ? row : null;
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return null;
        }
    }

    private Row readRow() {
        UUID uuid = new UUID((long) LONGS.get(in, index), (long) LONGS.get(in, index + 8));
        index += 16;
        Owner owner = lastOwner.read();
        Shard shard = lastShard.read();
        Handle handle = readIsPresent() ? new Handle(readText()) : null;
        Row.Status status = STATUSES[readSize()];
        long epoch = readNumber();
        Instant created = Instant.ofEpochMilli(readNumber());
        Instant changed = Instant.ofEpochMilli(readNumber());
        Puri survivor = readIsPresent() ? Puri.parse(readText()) : null;
        Position position = new Position(lastTopic.read(), readPartition(), readNumber());
        return new Row(uuid, owner, shard, handle, status, epoch, created, changed, survivor, position);
    }

    private int readPartition() {
        long partition = readNumber();
        if (partition != (int) partition) {
            throw new IllegalArgumentException("not a partition: " + partition);
        }
        return (int) partition;
    }

    private boolean readIsPresent() {
        return switch (readSize()) {
            case 0 -> false;
            case 1 -> true;
            default -> throw new IllegalArgumentException("not a branch of the union");
        };
    }

    private int readSize() {
        long size = readNumber();
        if (size < 0 || size > in.length) {
            throw new IllegalArgumentException("not a size: " + size);
        }
        return (int) size;
    }

    private String readText() {
        int length = readSize();
        String text = new String(in, index, length, StandardCharsets.UTF_8);
        index += length;
        return text;
    }

    private long readNumber() {
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = in[index++];
            bits |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return bits >>> 1 ^ -(bits & 1);
            }
        }
        throw new IllegalArgumentException("a number of more than 10 bytes");
    }

    /** A text field that usually has the same value in consecutive records. It then returns the same object again. */
    private final class LastText<T> {
        private final Function<String, T> parse;
        private byte[] bytes = {};
        private @Nullable T value;

        LastText(Function<String, T> parse) {
            this.parse = parse;
        }

        T read() {
            int length = readSize();
            T last = value;
            if (last == null || !Arrays.equals(bytes, 0, bytes.length, in, index, index + length)) {
                last = parse.apply(new String(in, index, length, StandardCharsets.UTF_8));
                bytes = Arrays.copyOfRange(in, index, index + length);
                value = last;
            }
            index += length;
            return last;
        }
    }
}
