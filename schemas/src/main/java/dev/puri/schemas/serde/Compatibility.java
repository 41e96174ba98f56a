package dev.puri.schemas.serde;

/** Confluent's compatibility levels: what a schema registry requires of a subject's next schema. */
public enum Compatibility {
    /** No requirement. */
    NONE,
    /** The next schema reads data of the latest one. */
    BACKWARD,
    /** The next schema reads data of all earlier ones. */
    BACKWARD_TRANSITIVE,
    /** The latest schema reads data of the next one. */
    FORWARD,
    /** All earlier schemas read data of the next one. */
    FORWARD_TRANSITIVE,
    /** Both BACKWARD and FORWARD. */
    FULL,
    /** Both BACKWARD_TRANSITIVE and FORWARD_TRANSITIVE. */
    FULL_TRANSITIVE
}
