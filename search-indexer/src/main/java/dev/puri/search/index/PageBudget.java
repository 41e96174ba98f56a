package dev.puri.search.index;

import java.util.List;
import java.util.Map;

/**
 * Limits the size of one page in bytes, because the response stays in memory until the client has received it. A
 * request for a thousand long hits gets fewer hits and a cursor. Use a new instance for each page.
 */
public final class PageBudget {
    /** Maximum size of the page's hits as JSON: about a thousand ordinary hits, or thirty of the longest. */
    public static final int MAX_BYTES = 1024 * 1024;

    /** Size of the JSON syntax, field names and numbers of a hit, without its attributes. */
    private static final int HIT_OVERHEAD_BYTES = 220;

    /** Size of the JSON syntax around a name and its value, or around a fragment. */
    private static final int ATTRIBUTE_OVERHEAD_BYTES = 8;

    private long remainingBytes = MAX_BYTES;
    private boolean isEmpty = true;

    /**
     * Adds a hit to the page if the hit fits. The first hit always fits; otherwise a client could not get past a long
     * hit.
     *
     * @return false if the page ends before this hit
     */
    public boolean add(SearchResult.Hit hit) {
        remainingBytes -= jsonBytes(hit);
        boolean fits = isEmpty || remainingBytes >= 0;
        isEmpty = false;
        return fits;
    }

    private static long jsonBytes(SearchResult.Hit hit) {
        long bytes = HIT_OVERHEAD_BYTES
                // The collection, which is a part of the pURI, is also a field of its own.
                + 2 * jsonBytes(hit.puri())
                + jsonBytes(hit.owner())
                + jsonBytes(hit.shard())
                + (hit.handle() == null ? 0 : jsonBytes(hit.handle()))
                + (hit.mergedInto() == null ? 0 : jsonBytes(hit.mergedInto()));
        for (Map.Entry<String, String> attribute : hit.attributes().entrySet()) {
            bytes += ATTRIBUTE_OVERHEAD_BYTES + jsonBytes(attribute.getKey()) + jsonBytes(attribute.getValue());
        }
        for (Map.Entry<String, List<String>> highlight : hit.highlights().entrySet()) {
            bytes += ATTRIBUTE_OVERHEAD_BYTES + jsonBytes(highlight.getKey());
            for (String fragment : highlight.getValue()) {
                bytes += ATTRIBUTE_OVERHEAD_BYTES + jsonBytes(fragment);
            }
        }
        return bytes;
    }

    /** Returns the size of a text as a JSON string in UTF-8 (RFC 8259), or a larger number. */
    private static long jsonBytes(Object value) {
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
