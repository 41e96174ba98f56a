package dev.puri.search.index;

import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.util.Locale;

/** The kind of an index entry. Each of the two topics contains the entries of one kind. */
public enum EntryKind {
    /** A row of {@code puri.identities.v1}. */
    IDENTITY(Topics.IDENTITIES),
    /** A document of {@code puri.documents.v1}. */
    DOCUMENT(Topics.DOCUMENTS);

    private final String topic;

    EntryKind(String topic) {
        this.topic = topic;
    }

    /** Returns the kind of an entry. */
    public static EntryKind of(Entry entry) {
        return switch (entry) {
            case Row row -> IDENTITY;
            case Document document -> DOCUMENT;
        };
    }

    /**
     * Returns the kind of the entries in a topic.
     *
     * @throws IllegalArgumentException if it is neither of the two topics
     */
    public static EntryKind ofTopic(String topic) {
        return switch (topic) {
            case Topics.IDENTITIES -> IDENTITY;
            case Topics.DOCUMENTS -> DOCUMENT;
            default -> throw new IllegalArgumentException("not a topic of an index: " + topic);
        };
    }

    /** Returns the name of this kind in responses, metrics and OpenSearch's documents. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the name of the topic that contains the entries of this kind. */
    public String topic() {
        return topic;
    }
}
