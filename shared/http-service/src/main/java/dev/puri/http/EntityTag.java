package dev.puri.http;

import java.util.List;

/** Compares entity tags as {@code If-None-Match} does (RFC 9110, 13.1.2). */
final class EntityTag {
    private EntityTag() {}

    /**
     * Returns whether the client already has the content with this tag.
     *
     * @param ifNoneMatch the values of the header
     * @param etag the tag, with quotation marks
     */
    static boolean matches(List<String> ifNoneMatch, String etag) {
        for (String line : ifNoneMatch) {
            for (String element : line.split(",", -1)) {
                String tag = element.strip();
                if (tag.equals("*") || tag.equals(etag) || tag.equals("W/" + etag)) {
                    return true;
                }
            }
        }
        return false;
    }
}
