package dev.puri.search.index;

import java.util.List;
import java.util.Map;

/**
 * How much one page may show. Whoever asks for a thousand results gets fewer where they are long, and a cursor:
 * an answer is made in memory, and stays there until the slowest reader has it. Used for one page.
 */
public final class PageBudget {
    /** Bytes of a page's results as JSON at most: some thousand ordinary ones, or thirty of the longest there may be. */
    public static final int MAX_BYTES = 1024 * 1024;

    /** Of the names, signs and numbers of a result; those of attributes are counted beside. */
    private static final int OF_A_HIT = 220;

    private static final int OF_AN_ATTRIBUTE = 8;

    private long left = MAX_BYTES;
    private boolean isEmpty = true;

    /**
     * Takes a hit, if the page has room for it; the first it always takes, so that every page goes on.
     *
     * @return false when the page ends before this hit
     */
    public boolean takes(SearchResult.Hit hit) {
        left -= bytes(hit);
        boolean taken = isEmpty || left >= 0;
        isEmpty = false;
        return taken;
    }

    private static long bytes(SearchResult.Hit hit) {
        long bytes = OF_A_HIT
                + 2 * bytes(hit.puri())
                + bytes(hit.owner())
                + bytes(hit.shard())
                + (hit.handle() == null ? 0 : bytes(hit.handle()))
                + (hit.mergedInto() == null ? 0 : bytes(hit.mergedInto()));
        for (Map.Entry<String, String> each : hit.attributes().entrySet()) {
            bytes += OF_AN_ATTRIBUTE + bytes(each.getKey()) + bytes(each.getValue());
        }
        for (Map.Entry<String, List<String>> each : hit.highlights().entrySet()) {
            bytes += OF_AN_ATTRIBUTE + bytes(each.getKey());
            for (String piece : each.getValue()) {
                bytes += OF_AN_ATTRIBUTE + bytes(piece);
            }
        }
        return bytes;
    }

    /** As a JSON string in UTF-8 (RFC 8259), rather too many than too few. */
    private static long bytes(Object value) {
        String text = value.toString();
        long bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ') {
                bytes += 6;
            } else if (c < 0x80) {
                bytes += c == '"' || c == '\\' ? 2 : 1;
            } else {
                bytes += c < 0x800 ? 2 : 3;
            }
        }
        return bytes;
    }
}
