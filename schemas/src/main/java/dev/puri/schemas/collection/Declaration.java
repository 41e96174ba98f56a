package dev.puri.schemas.collection;

/** The declaration of a collection or a namespace; a record of {@code puri.collections.v1}. */
public sealed interface Declaration permits Collection, Namespace {
    /**
     * The key of the declaration in the topic: {@code namespace:collection} or {@code namespace}. The two never
     * collide, because a namespace contains no colon.
     */
    String key();

    /** Which events may change identities of the collection or namespace. */
    WriteMode mode();
}
