package dev.puri.resolver.hostile;

import java.nio.charset.StandardCharsets;

/**
 * The bytes that are sent over one connection.
 *
 * @param seed reproduces the same request
 * @param text each character is a byte
 * @param answers the number of expected responses; 0 if it is so invalid that there need not be any
 * @param isHead whether its answer has no body
 */
record HostileRequest(long seed, String text, int answers, boolean isHead) {
    private static final int SHOWN = 1500;

    byte[] bytes() {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Whether it may be answered that the event was not seen in time. */
    boolean mayWait() {
        return text.contains("at=") || text.contains("\"at\"");
    }

    /** Whether the requested resource may not be available yet, or be used by too many clients. */
    boolean mayBeBusy() {
        return mayWait()
                || text.contains("/v1/changes")
                || text.contains("/v1/export")
                || text.contains("/v1/collections");
    }

    @Override
    public String toString() {
        StringBuilder shown = new StringBuilder("seed " + seed + ", " + text.length() + " bytes: ");
        for (char c : text.substring(0, Math.min(SHOWN, text.length())).toCharArray()) {
            if (c >= ' ' && c < 0x7f) {
                shown.append(c);
            } else {
                shown.append(c == '\n' ? "\\n\n" : String.format("\\x%02x", (int) c));
            }
        }
        return shown.toString();
    }
}
