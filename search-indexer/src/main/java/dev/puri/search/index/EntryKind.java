package dev.puri.search.index;

import dev.puri.schemas.log.Topics;

/** The two kinds of index entries, one for each topic. */
public enum EntryKind {
    /** A row of {@code puri.identities.v1}. */
    IDENTITY(Topics.IDENTITIES),
    /** A document of {@code puri.documents.v1}. */
    DOCUMENT(Topics.DOCUMENTS);

    private final String topic;

    EntryKind(String topic) {
        this.topic = topic;
    }

    /** Returns the name of the topic. */
    public String topic() {
        return topic;
    }
}
