package dev.puri.schemas.serde;

/** Masks the part {@code user:password@} of URLs (RFC 3986, section 3.2.1) in logs, messages and settings. */
public final class UserInfo {
    private static final String AUTHORITY = "://";
    private static final String MASK = "***";

    private UserInfo() {}

    /**
     * Replaces the user info of every URL in a text. The text may be an invalid URL with user info, so this replaces
     * everything between {@code ://} and the last {@code @} before the next URL.
     *
     * @return such as {@code http://***@registry:8081}
     */
    public static String masked(String text) {
        int url = text.indexOf(AUTHORITY);
        if (url < 0) {
            return text;
        }
        StringBuilder shown = new StringBuilder(text.length()).append(text, 0, url);
        while (url >= 0) {
            int begin = url + AUTHORITY.length();
            int next = text.indexOf(AUTHORITY, begin);
            String rest = next < 0 ? text.substring(begin) : text.substring(begin, next);
            int end = rest.lastIndexOf('@');
            shown.append(AUTHORITY).append(end < 0 ? rest : MASK + rest.substring(end));
            url = next;
        }
        return shown.toString();
    }
}
