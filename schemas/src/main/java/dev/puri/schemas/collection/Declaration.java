package dev.puri.schemas.collection;

/** The declaration of a collection or a namespace; a record of {@code puri.collections.v1}. */
public sealed interface Declaration permits Collection, Namespace {
    /** Its key in the topic: {@code namespace:collection} or {@code namespace}; the two never collide. */
    String key();
}
