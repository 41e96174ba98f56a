package dev.puri.schemas.serde;

/** Confluent's compatibility levels: the requirements of a schema registry for the next schema of a subject. */
public enum Compatibility {
    /** No requirement. */
    NONE,
    /** The next schema can read data of the latest schema. */
    BACKWARD,
    /** The next schema can read data of all earlier schemas. */
    BACKWARD_TRANSITIVE,
    /** The latest schema can read data of the next schema. */
    FORWARD,
    /** All earlier schemas can read data of the next schema. */
    FORWARD_TRANSITIVE,
    /** Both BACKWARD and FORWARD. */
    FULL,
    /** Both BACKWARD_TRANSITIVE and FORWARD_TRANSITIVE. */
    FULL_TRANSITIVE
}
