package dev.puri.resolver.export;

import dev.puri.resolver.answer.RowLines;
import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.table.RecordView;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Writes lines of JSON: the cursor, rows as in {@code /v1/changes}, and a last line with a row count and a digest. */
final class NdjsonExportWriter implements ExportWriter {
    private final RowLines lines = new RowLines();
    private final MessageDigest digest = sha256();
    private boolean isAtEnd;

    NdjsonExportWriter(ChangeId cursor) {
        lines.put("changesFrom", cursor.toString());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    @Override
    public void put(RecordView row) {
        lines.put(row);
    }

    @Override
    public void putEnd(long rowCount) {
        lines.addTo(digest);
        lines.putEnd(rowCount, HexFormat.of().formatHex(digest.digest()));
        isAtEnd = true;
    }

    @Override
    public int length() {
        return lines.length();
    }

    @Override
    public byte[] take() {
        byte[] written = lines.take();
        if (!isAtEnd) {
            digest.update(written);
        }
        return written;
    }
}
