package dev.puri.schemas.serde;

/** What a schema registry asks of a subject's next schema, by Confluent's names. */
public enum Compatibility {
    /** Nothing. */
    NONE,
    /** It reads what the latest wrote. */
    BACKWARD,
    /** It reads what all earlier ones wrote. */
    BACKWARD_TRANSITIVE,
    /** The latest reads what it writes. */
    FORWARD,
    /** All earlier ones read what it writes. */
    FORWARD_TRANSITIVE,
    /** Both ways with the latest. */
    FULL,
    /** Both ways with all earlier ones. */
    FULL_TRANSITIVE
}
