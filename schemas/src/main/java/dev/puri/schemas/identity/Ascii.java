package dev.puri.schemas.identity;

/** Lower-cases only A–Z, because Unicode's tables change between releases and canonical names must not. */
final class Ascii {
    private Ascii() {}

    static String lower(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isUpper(text.charAt(i))) {
                char[] lowered = text.toCharArray();
                for (int j = i; j < lowered.length; j++) {
                    lowered[j] = lower(lowered[j]);
                }
                return new String(lowered);
            }
        }
        return text;
    }

    static char lower(char c) {
        return isUpper(c) ? (char) (c + ('a' - 'A')) : c;
    }

    private static boolean isUpper(char c) {
        return c >= 'A' && c <= 'Z';
    }
}
