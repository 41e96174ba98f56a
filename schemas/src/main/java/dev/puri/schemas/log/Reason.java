package dev.puri.schemas.log;

/** Why an event was refused. */
public enum Reason {
    /** The bytes are not an event, or no schema has their id. */
    UNDECODABLE,
    /** Key and pURI differ, a field is invalid, or the topic or partition is not that of the pURI. */
    MALFORMED,
    /** The event or its attributes exceed their bounds. */
    TOO_LARGE,
    /** The collection does not allow this owner, or is retired. */
    NOT_ALLOWED,
    /** The handle's prefix is not the collection's. */
    WRONG_PREFIX,
    /** Nothing was created under this pURI. */
    UNKNOWN_PURI,
    /** The row's uuid is not the one that the event expects. */
    OTHER_INCARNATION,
    /** The row's epoch is not the one that the event expects. */
    STALE_EPOCH,
    /** The identity has another handle, and handles do not change. */
    HANDLE_FIXED,
    /** The uuid belonged to a deleted or erased identity. */
    ID_REUSED,
    /** Another identity holds the pURI. */
    PURI_TAKEN,
    /** The handle was granted to another identity, which may not exist any more. */
    HANDLE_TAKEN,
    /** The identity is deleted. */
    DELETED,
    /** The identity was merged into another. */
    MERGED,
    /** An identity cannot be merged into itself. */
    SELF_MERGE
}
