package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.security.MessageDigest;
import java.util.Arrays;

/** Writes rows as JSON, one a line, like the data of events {@code changed}. Used by one thread at a time. */
public final class RowLines {
    private static final byte[] PURI = ascii("{\"puri\":\"");
    private static final byte[] MERGED_INTO = ascii(",\"mergedInto\":\"");
    private static final byte[] POSITION = ascii(",\"position\":\"");

    private final JsonOut out = new JsonOut();

    /** The prefix of tokens of the last topic. */
    private byte[] tokensBegin = {};

    private String topic = "";

    /** The number of bytes that were written and not taken. */
    public int length() {
        return out.length();
    }

    /** Returns the bytes that were written since the last call. */
    public byte[] take() {
        byte[] taken = Arrays.copyOf(out.bytes(), out.length());
        out.clear();
        return taken;
    }

    /** Adds the bytes that were not taken to a digest. */
    public void addTo(MessageDigest digest) {
        digest.update(out.bytes(), 0, out.length());
    }

    /**
     * Writes a line with an object of one member.
     *
     * @param name of the member, in letters
     * @param value any text
     */
    public void put(String name, String value) {
        out.put(ascii("{\"" + name + "\":")).string(value).put('}').put('\n');
    }

    /** Writes the last line: the number of rows, and the digest of all bytes before it in hexadecimal digits. */
    public void putEnd(long rows, String sha256) {
        out.put(ascii("{\"rows\":" + rows + ",\"sha256\":\"" + sha256 + "\"}\n"));
    }

    /** Writes a row. */
    public void put(RecordView row) {
        out.put(PURI).name(row).put('"');
        if (row.status() == Row.Status.MERGED) {
            out.put(MERGED_INTO).put(row.survivor()).put('"');
        }
        if (row.hasHandle()) {
            out.put(ResultWriter.HANDLE).handle(row).put('"');
        }
        out.put(InternalAnswer.OWNER).put(row.owner()).put(InternalAnswer.SHARD).put(row.shard());
        out.put(InternalAnswer.UUID).uuid(row.uuidHigh(), row.uuidLow()).put('"');
        out.put(InternalAnswer.STATUSES[row.status().ordinal()]).number(row.epoch());
        out.put(InternalAnswer.CREATED_AT).time(row.createdMillis());
        out.put(InternalAnswer.CHANGED_AT).time(row.changedMillis()).put('"');
        out.put(POSITION).put(tokensBegin(row.topic())).number(row.partition());
        out.put('-').number(row.offset()).put('"').put('}').put('\n');
    }

    private byte[] tokensBegin(String of) {
        if (!of.equals(topic)) {
            String token = new Position(of, 0, 0).toString();
            tokensBegin = ascii(token.substring(0, token.length() - "0-0".length()));
            topic = of;
        }
        return tokensBegin;
    }
}
