package dev.puri.resolver.hostile;

import java.nio.charset.StandardCharsets;

/**
 * What is sent over one connection.
 *
 * @param seed makes the same one again
 * @param text each character is a byte
 * @param answers how many answers it has to get; 0 where it is so broken that there need not be any
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

    /** Whether it asks for what may not be there yet, or be taken up by too many. */
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
