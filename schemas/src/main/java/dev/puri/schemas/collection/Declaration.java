package dev.puri.schemas.collection;

/** What is declared of one collection or one namespace; a record of {@code puri.collections.v1}. */
public sealed interface Declaration permits Collection, Namespace {
    /** Its key in the topic: {@code namespace:collection} or {@code namespace}, which never meet. */
    String key();
}
