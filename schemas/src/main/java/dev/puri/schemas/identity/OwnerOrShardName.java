package dev.puri.schemas.identity;

/** Checks names of owners and shards: short ASCII text that is safe in headers, metric labels and logs. */
final class OwnerOrShardName {
    static final int MAX_LENGTH = 63;
    private static final String PUNCTUATION = "._~:/@+-";

    private OwnerOrShardName() {}

    static void require(String text, NameRule rule, String subject) {
        if (text.isEmpty() || text.length() > MAX_LENGTH) {
            throw new InvalidNameException(
                    rule,
                    text,
                    -1,
                    subject + " has 1 to " + MAX_LENGTH + " characters; this text has " + text.length());
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isAllowed =
                    c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || PUNCTUATION.indexOf(c) >= 0;
            if (!isAllowed) {
                throw new InvalidNameException(rule, text, i, subject + " is made of A-Z a-z 0-9 " + PUNCTUATION);
            }
        }
    }
}
