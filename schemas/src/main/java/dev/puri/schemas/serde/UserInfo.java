package dev.puri.schemas.serde;

/** Masks the user info of URLs, {@code user:password@} (RFC 3986, section 3.2.1), in logs, messages and settings. */
public final class UserInfo {
    private static final String AUTHORITY_START = "://";
    private static final String MASK = "***";

    private UserInfo() {}

    /**
     * Masks the user info of all URLs in a text. A password may contain characters that are invalid in a URL, even an
     * at sign or a slash. So the text between {@code ://} and the last at sign before the next {@code ://} is masked.
     *
     * @return a text such as {@code http://***@registry:8081}
     */
    public static String masked(String text) {
        int urlIndex = text.indexOf(AUTHORITY_START);
        if (urlIndex < 0) {
            return text;
        }
        StringBuilder masked = new StringBuilder(text.length()).append(text, 0, urlIndex);
        while (urlIndex >= 0) {
            int authorityIndex = urlIndex + AUTHORITY_START.length();
            int nextIndex = text.indexOf(AUTHORITY_START, authorityIndex);
            String rest = nextIndex < 0 ? text.substring(authorityIndex) : text.substring(authorityIndex, nextIndex);
            int userInfoEnd = rest.lastIndexOf('@');
            masked.append(AUTHORITY_START).append(userInfoEnd < 0 ? rest : MASK + rest.substring(userInfoEnd));
            urlIndex = nextIndex;
        }
        return masked.toString();
    }
}
