package dev.puri.schemas.identity;

/** Lower-cases A–Z only: Unicode's case tables change between releases, but a canonical name must never change. */
final class Ascii {
    private Ascii() {}

    static String lower(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isUpper(text.charAt(i))) {
                char[] lowerCase = text.toCharArray();
                for (int j = i; j < lowerCase.length; j++) {
                    lowerCase[j] = lower(lowerCase[j]);
                }
                return new String(lowerCase);
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
