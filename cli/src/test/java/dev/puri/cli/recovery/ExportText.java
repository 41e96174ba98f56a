package dev.puri.cli.recovery;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Makes the text of exports. */
public final class ExportText {
    private ExportText() {}

    /** Returns a complete export with these rows, lines that end in a line feed. */
    public static String complete(String... rows) {
        String before = "{\"changesFrom\":\"x\"}\n" + String.join("", rows);
        return before + "{\"rows\":" + rows.length + ",\"sha256\":\""
                + HexFormat.of().formatHex(sha256(before)) + "\"}\n";
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
