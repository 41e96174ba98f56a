package dev.puri.schemas.log;

/** The reason why an event was refused. */
public enum Reason {
    /** The value is not an event, or the schema registry has no schema with its id. */
    UNDECODABLE,
    /** The key is not the event's pURI, a field is invalid, or the event is in the wrong topic or partition. */
    MALFORMED,
    /** The event or its attributes exceed their maximum size. */
    TOO_LARGE,
    /** The collection does not allow this owner, or is retired. */
    NOT_ALLOWED,
    /** The prefix of the handle is not the prefix of the collection. */
    WRONG_PREFIX,
    /** The namespace or the collection is read-only, or is being imported by another source. */
    NOT_WRITABLE,
    /** No identity has this pURI: none was created, or it was erased. */
    UNKNOWN_PURI,
    /**
     * The identity does not have the uuid that the event expects. The incarnations of a pURI are the identities that
     * have or had the pURI, each with its own uuid.
     */
    OTHER_INCARNATION,
    /** The identity does not have the epoch that the event expects. */
    STALE_EPOCH,
    /** The identity has another handle, and the handle of an identity never changes. */
    HANDLE_FIXED,
    /** The uuid belonged to an earlier identity of this pURI, which was deleted or erased. */
    ID_REUSED,
    /** Another identity holds the pURI. */
    PURI_TAKEN,
    /** The handle was granted to another identity, which may not exist any more. */
    HANDLE_TAKEN,
    /** The identity is deleted. */
    DELETED,
    /** The identity was merged into another identity. */
    MERGED,
    /** An identity cannot be merged into itself. */
    SELF_MERGE
}
