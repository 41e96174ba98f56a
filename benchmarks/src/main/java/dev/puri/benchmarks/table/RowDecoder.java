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
 * Decodes records of {@code puri.identities.v1} to names and rows, for baselines. It reads a value field by field as
 * the schema has them, in half of Avro's time, or baselines would be slower than they can be. Avro decodes whatever
 * differs from the usual form.
 *
 * <p>Used by one thread.
 */
final class RowDecoder {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final Row.Status[] STATUSES = {Row.Status.ACTIVE, Row.Status.MERGED, Row.Status.DELETED};

    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);

    private final Last<Owner> owner = new Last<>(Owner::new);
    private final Last<Shard> shard = new Last<>(Shard::new);
    private final Last<String> topic = new Last<>(text -> text);
    private byte[] in = {};
    private int at;

    static Puri puri(byte[] key) {
        return Puri.parse(new String(key, StandardCharsets.UTF_8));
    }

    /**
     * @param value written with our own schema
     * @throws org.apache.kafka.common.errors.SerializationException when the bytes are no record of it
     * @throws IllegalArgumentException when it is no row that the registry wrote
     */
    Row decode(byte[] value) {
        Row row = byHand(value);
        return row != null ? row : RowAvro.fromAvro(reader.decode(value, Population.schema()));
    }

    /** Returns the row, or null if Avro has to decode or refuse it. */
    @Nullable
    Row byHand(byte[] value) {
        in = value;
        at = WireFormat.HEADER_LENGTH;
        try {
            Row row = row();
            return at == value.length ? row : null;
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return null;
        }
    }

    private Row row() {
        UUID uuid = new UUID((long) LONGS.get(in, at), (long) LONGS.get(in, at + 8));
        at += 16;
        Owner itsOwner = owner.read();
        Shard itsShard = shard.read();
        Handle handle = isThere() ? new Handle(text()) : null;
        Row.Status status = STATUSES[size()];
        long epoch = number();
        Instant created = Instant.ofEpochMilli(number());
        Instant changed = Instant.ofEpochMilli(number());
        Puri survivor = isThere() ? Puri.parse(text()) : null;
        Position position = new Position(topic.read(), partition(), number());
        return new Row(uuid, itsOwner, itsShard, handle, status, epoch, created, changed, survivor, position);
    }

    private int partition() {
        long partition = number();
        if (partition != (int) partition) {
            throw new IllegalArgumentException("no partition: " + partition);
        }
        return (int) partition;
    }

    private boolean isThere() {
        return switch (size()) {
            case 0 -> false;
            case 1 -> true;
            default -> throw new IllegalArgumentException("no branch of a union");
        };
    }

    private int size() {
        long size = number();
        if (size < 0 || size > in.length) {
            throw new IllegalArgumentException("no size: " + size);
        }
        return (int) size;
    }

    private String text() {
        int length = size();
        String text = new String(in, at, length, StandardCharsets.UTF_8);
        at += length;
        return text;
    }

    private long number() {
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = in[at++];
            bits |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return bits >>> 1 ^ -(bits & 1);
            }
        }
        throw new IllegalArgumentException("too long a number");
    }

    /** A text that is mostly the same as in the value before, and is then not made again. */
    private final class Last<T> {
        private final Function<String, T> make;
        private byte[] bytes = {};
        private @Nullable T made;

        Last(Function<String, T> make) {
            this.make = make;
        }

        T read() {
            int length = size();
            T last = made;
            if (last == null || !Arrays.equals(bytes, 0, bytes.length, in, at, at + length)) {
                last = make.apply(new String(in, at, length, StandardCharsets.UTF_8));
                bytes = Arrays.copyOfRange(in, at, at + length);
                made = last;
            }
            at += length;
            return last;
        }
    }
}
