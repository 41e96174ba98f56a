package dev.puri.schemas.log;

/**
 * Topic, partition and offset of an event. As text it is a token, opaque to callers: {@code 3-1042} in the shared
 * topic, {@code music-3-1042} in the topic of the namespace {@code music}.
 *
 * @param topic an events topic
 * @param partition from 0
 * @param offset from 0
 */
public record Position(String topic, int partition, long offset) {
    /** Header of {@code puri.identities.v1}: the token of the event that the record settles. */
    public static final String HEADER = "position";

    /**
     * @throws IllegalArgumentException if the topic is not an events topic, or a number is negative
     */
    public Position {
        if (!Topics.isEvents(topic)) {
            throw new IllegalArgumentException("not an events topic: " + topic);
        }
        if (partition < 0 || offset < 0) {
            throw new IllegalArgumentException("a position is not negative: " + partition + ", " + offset);
        }
    }

    /**
     * Parses a token.
     *
     * @throws IllegalArgumentException if the text is not a token
     */
    public static Position parse(String token) {
        int last = token.lastIndexOf('-');
        int middle = last <= 0 ? -1 : token.lastIndexOf('-', last - 1);
        String suffix = middle <= 0 ? "" : token.substring(0, middle);
        try {
            if (last <= 0 || middle == 0 || !(suffix.isEmpty() || Topics.mayOwnTopic(suffix))) {
                throw new NumberFormatException();
            }
            Position position = new Position(
                    Topics.ofSuffix(suffix),
                    Integer.parseInt(token, middle + 1, last, 10),
                    Long.parseLong(token, last + 1, token.length(), 10));
            if (position.toString().equals(token)) {
                return position;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number in a form that toString() does not produce (+3, 03, other digits).
        }
        throw new IllegalArgumentException("not a token that a publish returned: \""
                + (token.length() > 100 ? token.substring(0, 100) + "…" : token) + "\"");
    }

    /** The token. */
    @Override
    public String toString() {
        String suffix = Topics.suffix(topic);
        return (suffix.isEmpty() ? "" : suffix + '-') + partition + '-' + offset;
    }
}
