package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.security.MessageDigest;
import java.util.Arrays;

/** Writes rows as lines of JSON, like the data of the events {@code changed}. Used by one thread at a time. */
public final class RowLines {
    private static final byte[] PURI = ascii("{\"puri\":\"");
    private static final byte[] MERGED_INTO = ascii(",\"mergedInto\":\"");
    private static final byte[] POSITION = ascii(",\"position\":\"");

    private final JsonOut out = new JsonOut();

    /** The text of a token before the partition, for the topic of the last row. */
    private byte[] tokenPrefix = {};

    /** The topic of the last row. */
    private String topic = "";

    /** Returns the number of bytes that {@link #take} would return. */
    public int length() {
        return out.length();
    }

    /** Returns and removes the written bytes. */
    public byte[] take() {
        byte[] taken = Arrays.copyOf(out.bytes(), out.length());
        out.clear();
        return taken;
    }

    /** Updates a digest with the bytes that {@link #take} would return. */
    public void addTo(MessageDigest digest) {
        digest.update(out.bytes(), 0, out.length());
    }

    /**
     * Writes a line with an object that has one field.
     *
     * @param name of the field; only letters
     * @param value any text
     */
    public void put(String name, String value) {
        out.put(ascii("{\"" + name + "\":")).string(value).put('}').put('\n');
    }

    /** Writes the last line: the number of rows, and the digest of all bytes before it, in hexadecimal digits. */
    public void putEnd(long rowCount, String sha256) {
        out.put(ascii("{\"rows\":" + rowCount + ",\"sha256\":\"" + sha256 + "\"}\n"));
    }

    /** Writes a row. */
    public void put(RecordView row) {
        out.put(PURI).name(row).put('"');
        if (row.status() == Row.Status.MERGED) {
            out.put(MERGED_INTO).put(row.survivorBytes()).put('"');
        }
        if (row.hasHandle()) {
            out.put(ResultWriter.HANDLE).handle(row).put('"');
        }
        out.put(InternalResultWriter.OWNER)
                .put(row.ownerBytes())
                .put(InternalResultWriter.SHARD)
                .put(row.shardBytes());
        out.put(InternalResultWriter.UUID).uuid(row.uuidHigh(), row.uuidLow()).put('"');
        out.put(InternalResultWriter.STATUSES[row.status().ordinal()]).number(row.epoch());
        out.put(InternalResultWriter.CREATED_AT).time(row.createdMillis());
        out.put(InternalResultWriter.CHANGED_AT).time(row.changedMillis()).put('"');
        out.put(POSITION).put(tokenPrefix(row.topic())).number(row.partition());
        out.put('-').number(row.offset()).put('"').put('}').put('\n');
    }

    private byte[] tokenPrefix(String rowTopic) {
        if (!rowTopic.equals(topic)) {
            String token = new Position(rowTopic, 0, 0).toString();
            tokenPrefix = ascii(token.substring(0, token.length() - "0-0".length()));
            topic = rowTopic;
        }
        return tokenPrefix;
    }
}
