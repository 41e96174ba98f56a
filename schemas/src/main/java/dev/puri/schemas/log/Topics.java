package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;

/** The names of the registry's topics. */
public final class Topics {
    /** What services publish, by canonical pURI. */
    public static final String EVENTS = "puri.events.v1";

    /** Where each identity lives now, compacted, by canonical pURI. */
    public static final String IDENTITIES = "puri.identities.v1";

    /** What identities are found by, of collections that are searched; compacted, by canonical pURI. */
    public static final String DOCUMENTS = "puri.documents.v1";

    /** Events that were refused, with reason and position. */
    public static final String REJECTIONS = "puri.rejections.v1";

    /** Declared collections and namespaces, compacted. */
    public static final String COLLECTIONS = "puri.collections.v1";

    /** The clerk's answers to claims of handles, by canonical pURI. */
    public static final String GRANTS = "puri.grants.v1";

    /**
     * The beginning of names that are never registered. Once a week the registry writes a tombstone under one of them to
     * every partition of its compacted topics, so that quiet partitions are compacted too.
     */
    public static final String MARKER = "puri:marker:";

    private static final String NAMESPACE_EVENTS = EVENTS + '.';

    private Topics() {}

    /** Whether a name is one of the registry's markers. */
    public static boolean isMarker(Puri puri) {
        return puri.toString().startsWith(MARKER);
    }

    /** Whether events may stand in this topic: the shared one or a namespace's own. */
    public static boolean isEvents(String topic) {
        return topic.equals(EVENTS)
                || (topic.startsWith(NAMESPACE_EVENTS) && mayOwnTopic(topic.substring(NAMESPACE_EVENTS.length())));
    }

    /**
     * The events topic that a namespace may own.
     *
     * @param namespace of {@code [a-z0-9._-]} only, as Kafka's topic names are
     * @throws IllegalArgumentException when it has another character
     */
    public static String eventsOf(String namespace) {
        if (!mayOwnTopic(namespace)) {
            throw new IllegalArgumentException(
                    "the namespace " + namespace + " cannot own a topic: topic names are made of a-z 0-9 . _ -");
        }
        return NAMESPACE_EVENTS + namespace;
    }

    /**
     * The topic on which a namespace's events must come; on any other the registry refuses them.
     *
     * @param ownsTopic whether the namespace is declared with a topic of its own
     * @throws IllegalArgumentException when it is, and has a character that topic names do not have
     */
    public static String eventsOf(String namespace, boolean ownsTopic) {
        return ownsTopic ? eventsOf(namespace) : EVENTS;
    }

    /** Whether a namespace's characters allow it an events topic of its own. */
    public static boolean mayOwnTopic(String namespace) {
        return !namespace.isEmpty()
                && namespace.length() <= Puri.MAX_NAME_BYTES
                && namespace
                        .chars()
                        .allMatch(
                                c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-');
    }

    /** What an events topic adds to the shared one's name: the namespace, or nothing. */
    static String suffix(String topic) {
        return topic.equals(EVENTS) ? "" : topic.substring(NAMESPACE_EVENTS.length());
    }

    static String ofSuffix(String suffix) {
        return suffix.isEmpty() ? EVENTS : NAMESPACE_EVENTS + suffix;
    }
}
