package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;

/** The names of the registry's topics. */
public final class Topics {
    /** Events that services publish, keyed by canonical pURI. */
    public static final String EVENTS = "puri.events.v1";

    /** The current row of each identity; compacted, keyed by canonical pURI. */
    public static final String IDENTITIES = "puri.identities.v1";

    /** The documents of searchable identities; compacted, keyed by canonical pURI. */
    public static final String DOCUMENTS = "puri.documents.v1";

    /** Refused events, with the reason and the position of the event. */
    public static final String REJECTIONS = "puri.rejections.v1";

    /** Declarations of collections and namespaces; compacted. */
    public static final String COLLECTIONS = "puri.collections.v1";

    /** The clerk's answers to claims of handles, keyed by canonical pURI. */
    public static final String GRANTS = "puri.grants.v1";

    /**
     * Prefix of reserved pURIs, the markers. The registry writes tombstones with a marker as their key to each
     * partition of its compacted topics, so that partitions without other writes are compacted too. In the topics of
     * identities and documents they carry a {@link PartitionDigest}.
     */
    public static final String MARKER = "puri:marker:";

    private static final String NAMESPACE_EVENTS_PREFIX = EVENTS + '.';

    private Topics() {}

    /** Whether a pURI is reserved for markers. */
    public static boolean isMarker(Puri puri) {
        return puri.toString().startsWith(MARKER);
    }

    /** Whether a topic is an events topic: the shared topic or the own topic of a namespace. */
    public static boolean isEvents(String topic) {
        return topic.equals(EVENTS)
                || (topic.startsWith(NAMESPACE_EVENTS_PREFIX)
                        && mayOwnTopic(topic.substring(NAMESPACE_EVENTS_PREFIX.length())));
    }

    /**
     * Returns the name of the own events topic of a namespace.
     *
     * @param namespace a canonical namespace of the characters {@code a-z0-9._-}; Kafka's topic names allow no others
     * @throws IllegalArgumentException if the namespace contains another character
     */
    public static String eventsTopicOf(String namespace) {
        if (!mayOwnTopic(namespace)) {
            throw new IllegalArgumentException(
                    "the namespace " + namespace + " cannot own a topic: topic names are made of a-z 0-9 . _ -");
        }
        return NAMESPACE_EVENTS_PREFIX + namespace;
    }

    /**
     * Returns the name of the topic for the events of a namespace. The registry refuses these events on other topics.
     *
     * @param ownsTopic whether the namespace is declared with its own topic
     * @throws IllegalArgumentException if the namespace has its own topic but contains a character that topic names do
     *     not allow
     */
    public static String eventsTopicOf(String namespace, boolean ownsTopic) {
        return ownsTopic ? eventsTopicOf(namespace) : EVENTS;
    }

    /** Whether the name of a topic can contain the namespace: its characters and its length allow it. */
    public static boolean mayOwnTopic(String namespace) {
        return !namespace.isEmpty()
                && namespace.length() <= Puri.MAX_NAME_BYTES
                && namespace
                        .chars()
                        .allMatch(
                                c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-');
    }

    /** Returns the namespace of an events topic, or an empty text for the shared topic. */
    static String namespaceOf(String topic) {
        return topic.equals(EVENTS) ? "" : topic.substring(NAMESPACE_EVENTS_PREFIX.length());
    }

    /** Returns the events topic of a namespace, or the shared topic for an empty text. */
    static String topicOf(String namespace) {
        return namespace.isEmpty() ? EVENTS : NAMESPACE_EVENTS_PREFIX + namespace;
    }
}
