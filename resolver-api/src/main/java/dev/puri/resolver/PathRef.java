package dev.puri.resolver;

/**
 * A reference as it stands in a URL's path. Percent-encoding means the same in a URL and in a pURI, but
 * for two characters, and only these are decoded here; all other escapes are left for the grammar.
 *
 * <ul>
 *   <li>{@code %25} is a percent sign. So what a URL library makes of a pURI ({@code a%252Fb} of {@code
 *       a%2Fb}) is read back as the pURI, once.
 *   <li>{@code %3A} is a colon, and separates, unless two raw colons separate already: then it is one
 *       inside a segment and stays encoded.
 * </ul>
 *
 * Handles have nothing that a URL must encode.
 *
 * <p>So a pURI may be typed into a URL as it is, and any library may encode it first; only a literal
 * percent sign, {@code %25} in the pURI, has to be encoded ({@code %2525}), for as typed it cannot be
 * told from what a library makes of another pURI.
 */
final class PathRef {
    private PathRef() {}

    /** The reference that the raw path segment stands for; well-formed or not. */
    static String decode(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        boolean separated = segment.chars().filter(c -> c == ':').count() >= 2;
        StringBuilder ref = new StringBuilder(segment.length());
        for (int i = 0; i < segment.length(); i++) {
            if (segment.startsWith("%25", i)) {
                ref.append('%');
                i += 2;
            } else if (!separated && segment.regionMatches(true, i, "%3A", 0, 3)) {
                ref.append(':');
                i += 2;
            } else {
                ref.append(segment.charAt(i));
            }
        }
        return ref.toString();
    }
}
