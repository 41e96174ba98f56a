package dev.puri.schemas.log;

/**
 * Topic, partition and offset of an event. The text of a position is a token, which callers do not interpret: {@code
 * 3-1042} in the shared topic, {@code music-3-1042} in the topic of the namespace {@code music}.
 *
 * @param topic the name of an events topic
 * @param partition partition number, from 0
 * @param offset offset, from 0
 */
public record Position(String topic, int partition, long offset) {
    /** Header of {@code puri.identities.v1}: the token of the event whose outcome the record reports. */
    public static final String HEADER = "position";

    /**
     * @throws IllegalArgumentException if the topic is not an events topic, or a number is negative
     */
    public Position {
        if (!Topics.isEvents(topic)) {
            throw new IllegalArgumentException("not an events topic: " + topic);
        }
        if (partition < 0 || offset < 0) {
            throw new IllegalArgumentException(
                    "partition and offset must not be negative: " + partition + ", " + offset);
        }
    }

    /**
     * Parses a token.
     *
     * @throws IllegalArgumentException if the text is not a token
     */
    public static Position parse(String token) {
        int offsetDash = token.lastIndexOf('-');
        int partitionDash = offsetDash <= 0 ? -1 : token.lastIndexOf('-', offsetDash - 1);
        String namespace = partitionDash <= 0 ? "" : token.substring(0, partitionDash);
        try {
            if (offsetDash <= 0 || partitionDash == 0 || !(namespace.isEmpty() || Topics.mayOwnTopic(namespace))) {
                throw new NumberFormatException();
            }
            Position position = new Position(
                    Topics.topicOf(namespace),
                    Integer.parseInt(token, partitionDash + 1, offsetDash, 10),
                    Long.parseLong(token, offsetDash + 1, token.length(), 10));
            if (position.toString().equals(token)) {
                return position;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number in a form that toString() does not write (+3, 03, digits of other scripts).
        }
        throw new IllegalArgumentException("not a token of a published event: \""
                + (token.length() > 100 ? token.substring(0, 100) + "…" : token) + "\"");
    }

    /** Returns the token. */
    @Override
    public String toString() {
        String namespace = Topics.namespaceOf(topic);
        return (namespace.isEmpty() ? "" : namespace + '-') + partition + '-' + offset;
    }
}
