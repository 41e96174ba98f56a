package dev.puri.search.index;

import java.util.List;
import java.util.Map;

/**
 * Limits the size of one page. A request for a thousand long hits gets fewer hits and a cursor, because the response is
 * in memory until the slowest client has received it. Use one instance for one page.
 */
public final class PageBudget {
    /** Limit of the hits as JSON: about a thousand ordinary hits, or thirty of the longest. */
    public static final int MAX_BYTES = 1024 * 1024;

    /** Bytes of JSON syntax, field names and numbers of a hit, without its attributes. */
    private static final int HIT_OVERHEAD = 220;

    private static final int ATTRIBUTE_OVERHEAD = 8;

    private long remaining = MAX_BYTES;
    private boolean isEmpty = true;

    /**
     * Adds a hit if it fits. The first hit always fits, so every page makes progress.
     *
     * @return false if the page ends before this hit
     */
    public boolean add(SearchResult.Hit hit) {
        remaining -= bytes(hit);
        boolean fits = isEmpty || remaining >= 0;
        isEmpty = false;
        return fits;
    }

    private static long bytes(SearchResult.Hit hit) {
        long bytes = HIT_OVERHEAD
                + 2 * bytes(hit.puri())
                + bytes(hit.owner())
                + bytes(hit.shard())
                + (hit.handle() == null ? 0 : bytes(hit.handle()))
                + (hit.mergedInto() == null ? 0 : bytes(hit.mergedInto()));
        for (Map.Entry<String, String> each : hit.attributes().entrySet()) {
            bytes += ATTRIBUTE_OVERHEAD + bytes(each.getKey()) + bytes(each.getValue());
        }
        for (Map.Entry<String, List<String>> each : hit.highlights().entrySet()) {
            bytes += ATTRIBUTE_OVERHEAD + bytes(each.getKey());
            for (String piece : each.getValue()) {
                bytes += ATTRIBUTE_OVERHEAD + bytes(piece);
            }
        }
        return bytes;
    }

    /** Returns the length of a JSON string in UTF-8 (RFC 8259), never too low. */
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
