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
 * Parses records of {@code puri.identities.v1} to a {@link RawRow}. It creates no intermediate objects, because a
 * restore parses millions of records. The caller passes only values that were written with the schema of this build.
 * Avro decodes the few records that this class does not parse: those with escapes in their keys, and merged rows.
 *
 * <p>Used only by the thread that packs rows, see {@link Dictionary}.
 */
final class RecordParser {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    /** Any number of 18 digits fits into a long. */
    private static final int MAX_DIGITS = 18;

    private static final int STATUS_COUNT = Row.Status.values().length;

    private static final byte[] SHARED_TOPIC = Topics.EVENTS.getBytes(StandardCharsets.US_ASCII);

    private final Dictionaries dictionaries;

    /** The code of the events topic of each namespace. */
    private final WordCache topicsOfNamespaces;

    /** The offset in the value from which the parser reads next. */
    private int offset;

    RecordParser(Dictionaries dictionaries) {
        this.dictionaries = dictionaries;
        topicsOfNamespaces = new WordCache(text -> dictionaries.topics.intern(Topics.eventsTopicOf(text)));
    }

    /**
     * Parses a record. The private methods pass the value as a parameter, because a reference from a field of an old
     * object to a young object would cost a barrier of the garbage collector.
     *
     * @param value a value written with the schema of this build
     * @param token the text of the row's position, from the header
     * @param row receives the row
     * @return false if Avro must decode the record; the row is then incomplete
     */
    boolean parse(byte[] key, byte[] value, byte[] token, RawRow row) {
        boolean isPuriSet = row.setDecimalOfSameCollection(key);
        int identifierOffset = isPuriSet ? 0 : Puri.identifierIndexIfUnescaped(key);
        if (identifierOffset < 0) {
            return false;
        }
        offset = WireFormat.HEADER_LENGTH;
        try {
            if (!parseValue(value, row) || offset != value.length || !parseToken(token, row)) {
                return false;
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return false;
        }
        if (!isPuriSet) {
            row.setPuri(key, identifierOffset);
        }
        return true;
    }

    private boolean parseValue(byte[] in, RawRow row) {
        row.uuidHigh = (long) LONGS.get(in, offset);
        row.uuidLow = (long) LONGS.get(in, offset + 8);
        offset += 16;
        row.owner = parseWord(in, dictionaries.owners);
        row.shard = parseWord(in, dictionaries.shards);
        long handleBranch = parseNumber(in);
        row.hasHandle = false;
        if (handleBranch == 1 ? !parseHandle(in, row) : handleBranch != 0) {
            return false;
        }
        long status = parseNumber(in);
        row.epoch = parseNumber(in);
        row.createdMillis = parseNumber(in);
        row.changedMillis = parseNumber(in);
        // Avro decodes merged rows: they are few, and have a survivor.
        if (status < 0 || status >= STATUS_COUNT || status == Row.Status.MERGED.ordinal() || row.epoch < 1) {
            return false;
        }
        row.status = (int) status;
        row.survivor = null;
        boolean hasSurvivor = parseNumber(in) != 0;
        if (hasSurvivor) {
            return false;
        }
        row.topic = parseWord(in, dictionaries.topics);
        long partition = parseNumber(in);
        row.partition = (int) partition;
        row.offset = parseNumber(in);
        return partition >= 0 && partition <= Integer.MAX_VALUE && row.offset >= 0;
    }

    /** Parses the text of a position, {@code [namespace-]partition-offset}, backwards from its end. */
    private boolean parseToken(byte[] token, RawRow row) {
        int offsetStart = numberStart(token, token.length);
        long tokenOffset = parseDecimal(token, offsetStart, token.length);
        int partitionStart = numberStart(token, offsetStart - 1);
        long partition = parseDecimal(token, partitionStart, offsetStart - 1);
        if (tokenOffset < 0 || partition < 0 || partition > Integer.MAX_VALUE || partitionStart == 1) {
            return false;
        }
        row.topic = partitionStart == 0
                ? dictionaries.topics.intern(SHARED_TOPIC, 0, SHARED_TOPIC.length)
                : topicsOfNamespaces.code(token, 0, partitionStart - 1);
        row.partition = (int) partition;
        row.offset = tokenOffset;
        return true;
    }

    /** Returns the offset after the last hyphen in text[0..end). */
    private static int numberStart(byte[] text, int end) {
        int from = end;
        while (from > 0 && text[from - 1] != '-') {
            from--;
        }
        return from;
    }

    /** Parses a decimal number without leading zeros. Returns a negative number if the text is anything else. */
    private static long parseDecimal(byte[] text, int from, int to) {
        int digits = to - from;
        if (digits < 1 || digits > MAX_DIGITS || text[from] == '0' && digits > 1) {
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
        if (parseNumber(in) != Handle.LENGTH) {
            return false;
        }
        int from = offset;
        offset += Handle.LENGTH;
        return HandleKey.parse(in, from, row);
    }

    private int parseWord(byte[] in, Dictionary<?> dictionary) {
        long length = parseNumber(in);
        if (length < 0 || length > in.length - offset) {
            throw new IndexOutOfBoundsException();
        }
        int from = offset;
        offset += (int) length;
        return dictionary.intern(in, from, offset);
    }

    private long parseNumber(byte[] in) {
        byte first = in[offset++];
        if (first >= 0) {
            return first >>> 1 ^ -(first & 1);
        }
        long bits = first & 0x7F;
        for (int shift = 7; shift < 64; shift += 7) {
            byte next = in[offset++];
            bits |= (next & 0x7FL) << shift;
            if (next == 0) {
                // A number with superfluous bytes. Avro refuses it if it is an int of more than 5 bytes.
                throw new IllegalArgumentException("the number is not encoded in the shortest form");
            }
            if (next > 0) {
                return Varint.unzigzag(bits);
            }
        }
        throw new IllegalArgumentException("the number has more than 64 bits");
    }
}
