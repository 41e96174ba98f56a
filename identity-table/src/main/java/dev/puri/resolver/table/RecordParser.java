package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.WireFormat;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Parses records of {@code puri.identities.v1} to rows without intermediate objects, because a table is filled with
 * millions. It reads records with a canonical key without escapes, and a value written with this program's own schema,
 * as nearly all are. It rejects all others, which Avro then decodes.
 *
 * <p>Used by one thread, not necessarily the one that writes the table.
 */
final class RecordParser {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    /** The most digits of a decimal that always fits into a long. */
    private static final int MOST_DIGITS = 18;

    private static final int STATUSES = Row.Status.values().length;

    private static final byte[] SHARED = Topics.EVENTS.getBytes(StandardCharsets.US_ASCII);

    private final Words words;

    /** By namespace, the number of its topic. */
    private final WordCache namespaces;

    private int at;

    RecordParser(Words words) {
        this.words = words;
        namespaces = new WordCache(text -> words.topics.intern(Topics.eventsOf(text)));
    }

    /**
     * Parses a record. The value is a parameter and not a field, because a reference from an old object to a young one
     * costs the collector's barrier.
     *
     * @param value written with this program's own schema
     * @param token the text of the row's position
     * @return false if Avro must decode the record; the row is then incomplete
     */
    boolean parse(byte[] key, byte[] value, byte[] token, RawRow row) {
        boolean isNamed = row.setNumberOfSameCollection(key);
        int identifierAt = isNamed ? 0 : Puri.identifierOfPlain(key);
        if (identifierAt < 0) {
            return false;
        }
        at = WireFormat.HEADER_LENGTH;
        try {
            if (!parseValue(value, row) || at != value.length || !parseToken(token, row)) {
                return false;
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return false;
        }
        if (!isNamed) {
            row.setName(key, identifierAt);
        }
        return true;
    }

    private boolean parseValue(byte[] in, RawRow row) {
        row.uuidHigh = (long) LONGS.get(in, at);
        row.uuidLow = (long) LONGS.get(in, at + 8);
        at += 16;
        row.owner = word(in, words.owners);
        row.shard = word(in, words.shards);
        long handle = number(in);
        row.hasHandle = false;
        if (handle == 1 ? !parseHandle(in, row) : handle != 0) {
            return false;
        }
        long status = number(in);
        row.epoch = number(in);
        row.createdMillis = number(in);
        row.changedMillis = number(in);
        // Merged rows are few, and contain another pURI.
        if (status < 0 || status >= STATUSES || status == Row.Status.MERGED.ordinal() || row.epoch < 1) {
            return false;
        }
        row.status = (int) status;
        row.survivor = null;
        if (number(in) != 0) {
            return false;
        }
        row.topic = word(in, words.topics);
        long partition = number(in);
        row.partition = (int) partition;
        row.offset = number(in);
        return partition >= 0 && partition <= Integer.MAX_VALUE && row.offset >= 0;
    }

    /** Parses the text of {@link Position#toString}, backwards from its end. */
    private boolean parseToken(byte[] token, RawRow row) {
        int offsetAt = numberBefore(token, token.length);
        long offset = decimal(token, offsetAt, token.length);
        int partitionAt = numberBefore(token, offsetAt - 1);
        long partition = decimal(token, partitionAt, offsetAt - 1);
        if (offset < 0 || partition < 0 || partition > Integer.MAX_VALUE || partitionAt == 1) {
            return false;
        }
        row.topic = partitionAt == 0
                ? words.topics.intern(SHARED, 0, SHARED.length)
                : namespaces.number(token, 0, partitionAt - 1);
        row.partition = (int) partition;
        row.offset = offset;
        return true;
    }

    /** Returns the offset after the last hyphen before an end. */
    private static int numberBefore(byte[] text, int end) {
        int from = end;
        while (from > 0 && text[from - 1] != '-') {
            from--;
        }
        return from;
    }

    /** Parses a number in canonical form; negative if there is none, or if it has too many digits. */
    private static long decimal(byte[] text, int from, int to) {
        int digits = to - from;
        if (digits < 1 || digits > MOST_DIGITS || text[from] == '0' && digits > 1) {
            return -1;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = text[i] - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = 10 * number + digit;
        }
        return number;
    }

    private boolean parseHandle(byte[] in, RawRow row) {
        if (number(in) != Handle.LENGTH) {
            return false;
        }
        int from = at;
        at += Handle.LENGTH;
        return HandleKey.parse(in, from, row);
    }

    private int word(byte[] in, Dictionary<?> words) {
        long length = number(in);
        if (length < 0 || length > in.length - at) {
            throw new IndexOutOfBoundsException();
        }
        int from = at;
        at += (int) length;
        return words.intern(in, from, at);
    }

    private long number(byte[] in) {
        byte first = in[at++];
        if (first >= 0) {
            return first >>> 1 ^ -(first & 1);
        }
        long bits = first & 0x7F;
        for (int shift = 7; shift < 64; shift += 7) {
            byte next = in[at++];
            bits |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return Varint.unzigzag(bits);
            }
        }
        throw new IllegalArgumentException("too long a number");
    }
}
