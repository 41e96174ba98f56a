package dev.puri.http;

import java.util.List;

/** Compares an entity tag with those of an {@code If-None-Match} header (weak comparison, RFC 9110, 13.1.2). */
final class EntityTag {
    private EntityTag() {}

    /**
     * Returns whether the client already has the content with this tag.
     *
     * @param ifNoneMatch the values of the header
     * @param etag the strong tag of the content, with quotation marks
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
