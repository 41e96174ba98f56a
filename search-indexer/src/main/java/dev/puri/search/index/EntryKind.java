package dev.puri.search.index;

import dev.puri.schemas.log.Topics;

/** Of which of its two topics an entry of the index is made. */
public enum EntryKind {
    /** A row of {@code puri.identities.v1}. */
    IDENTITY(Topics.IDENTITIES),
    /** A document of {@code puri.documents.v1}. */
    DOCUMENT(Topics.DOCUMENTS);

    private final String topic;

    EntryKind(String topic) {
        this.topic = topic;
    }

    /** The topic's name. */
    public String topic() {
        return topic;
    }
}
