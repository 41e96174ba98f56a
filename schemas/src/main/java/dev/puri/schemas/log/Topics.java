package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;

/** The names of the registry's topics. */
public final class Topics {
    /** Events that services publish, keyed by canonical pURI. */
    public static final String EVENTS = "puri.events.v1";

    /** The row of each identity; compacted, keyed by canonical pURI. */
    public static final String IDENTITIES = "puri.identities.v1";

    /** Documents of identities in searchable collections; compacted, keyed by canonical pURI. */
    public static final String DOCUMENTS = "puri.documents.v1";

    /** Events that were refused, with reason and position. */
    public static final String REJECTIONS = "puri.rejections.v1";

    /** Declared collections and namespaces, compacted. */
    public static final String COLLECTIONS = "puri.collections.v1";

    /** The clerk's answers to claims of handles, keyed by canonical pURI. */
    public static final String GRANTS = "puri.grants.v1";

    /**
     * The beginning of reserved names. Once a week the registry writes a tombstone with one of them to every partition
     * of its compacted topics, so that partitions without other writes are compacted too.
     */
    public static final String MARKER = "puri:marker:";

    private static final String NAMESPACE_EVENTS = EVENTS + '.';

    private Topics() {}

    /** Whether a pURI is reserved for the registry's weekly markers. */
    public static boolean isMarker(Puri puri) {
        return puri.toString().startsWith(MARKER);
    }

    /** Whether this is an events topic: the shared one or that of a namespace. */
    public static boolean isEvents(String topic) {
        return topic.equals(EVENTS)
                || (topic.startsWith(NAMESPACE_EVENTS) && mayOwnTopic(topic.substring(NAMESPACE_EVENTS.length())));
    }

    /**
     * Returns the name of a namespace's own events topic.
     *
     * @param namespace only {@code [a-z0-9._-]}, because Kafka's topic names allow no others
     * @throws IllegalArgumentException if it has another character
     */
    public static String eventsOf(String namespace) {
        if (!mayOwnTopic(namespace)) {
            throw new IllegalArgumentException(
                    "the namespace " + namespace + " cannot own a topic: topic names are made of a-z 0-9 . _ -");
        }
        return NAMESPACE_EVENTS + namespace;
    }

    /**
     * Returns the topic for a namespace's events; on any other topic the registry refuses them.
     *
     * @param ownsTopic whether the namespace is declared with a topic of its own
     * @throws IllegalArgumentException if it is, but has a character that topic names do not allow
     */
    public static String eventsOf(String namespace, boolean ownsTopic) {
        return ownsTopic ? eventsOf(namespace) : EVENTS;
    }

    /** Whether a topic name may contain all characters of the namespace. */
    public static boolean mayOwnTopic(String namespace) {
        return !namespace.isEmpty()
                && namespace.length() <= Puri.MAX_NAME_BYTES
                && namespace
                        .chars()
                        .allMatch(
                                c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-');
    }

    /** Returns the namespace of an events topic, or an empty text for the shared one. */
    static String suffix(String topic) {
        return topic.equals(EVENTS) ? "" : topic.substring(NAMESPACE_EVENTS.length());
    }

    static String ofSuffix(String suffix) {
        return suffix.isEmpty() ? EVENTS : NAMESPACE_EVENTS + suffix;
    }
}
