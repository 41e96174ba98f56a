package dev.puri.schemas.identity;

/** The rule for names of owners and shards: short visible ASCII that is safe in headers, metric labels and logs. */
final class PlaceName {
    static final int MAX_LENGTH = 63;
    private static final String PUNCTUATION = "._~:/@+-";

    private PlaceName() {}

    static void require(String text, NameRule rule, String what) {
        if (text.isEmpty() || text.length() > MAX_LENGTH) {
            throw new InvalidNameException(
                    rule, text, -1, what + " has 1 to " + MAX_LENGTH + " characters, this has " + text.length());
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean fits =
                    c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || PUNCTUATION.indexOf(c) >= 0;
            if (!fits) {
                throw new InvalidNameException(rule, text, i, what + " is made of A-Z a-z 0-9 " + PUNCTUATION);
            }
        }
    }
}
