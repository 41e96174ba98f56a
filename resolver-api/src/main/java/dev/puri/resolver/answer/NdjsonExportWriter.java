package dev.puri.resolver.answer;

import static dev.puri.resolver.answer.JsonOut.ascii;

import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.table.RecordView;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Writes an export as lines of JSON. The first line has the cursor. The line of a row has the format of a
 * {@code changed} event of {@code /v1/changes}. The last line has the number of rows and the SHA-256 hash of all lines
 * before it.
 */
public final class NdjsonExportWriter implements ExportWriter {
    private static final byte[] PURI = ascii("{\"puri\":\"");
    private static final byte[] MERGED_INTO = ascii(",\"mergedInto\":\"");
    private static final byte[] POSITION = ascii(",\"position\":\"");

    private final JsonOut out = new JsonOut();
    private final MessageDigest digest = sha256();
    private boolean isAtEnd;

    /** The text of a token before the partition, for the topic of the last row. */
    private byte[] tokenPrefix = {};

    /** The topic of the last row. */
    private String topic = "";

    /**
     * @param cursor the id after which a client continues with {@code GET /v1/changes}
     */
    public NdjsonExportWriter(ChangeId cursor) {
        out.put(ascii("{\"changesFrom\":")).string(cursor.toString()).put('}').put('\n');
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    @Override
    public int length() {
        return out.length();
    }

    @Override
    public byte[] take() {
        byte[] written = Arrays.copyOf(out.bytes(), out.length());
        out.clear();
        if (!isAtEnd) {
            digest.update(written);
        }
        return written;
    }

    @Override
    public void putEnd(long rowCount) {
        digest.update(out.bytes(), 0, out.length());
        String sha256 = HexFormat.of().formatHex(digest.digest());
        out.put(ascii("{\"rows\":" + rowCount + ",\"sha256\":\"" + sha256 + "\"}\n"));
        isAtEnd = true;
    }

    @Override
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
