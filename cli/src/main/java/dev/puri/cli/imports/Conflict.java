package dev.puri.cli.imports;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A row that is not imported, as it is written to the file of conflicts.
 *
 * @param input name of the input
 * @param row number of the row in the input, from 1
 * @param puri null if the row has no valid pURI
 * @param detail what is wrong, for people
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Conflict(String input, long row, @Nullable String puri, Kind kind, String detail) {
    /** Why a row is not imported. */
    enum Kind {
        /** A name, a uuid or the attributes are invalid, or a column is empty. */
        MALFORMED,
        /** An earlier row with the same shard has the pURI. */
        DUPLICATE_IN_SHARD,
        /** An earlier row with another shard has the pURI. */
        DUPLICATE_BETWEEN_SHARDS,
        /** An earlier row has the handle. */
        DUPLICATE_HANDLE,
        /** An earlier row of the collection has the uuid. */
        DUPLICATE_UUID,
        /** The declaration of the collection does not allow the owner or the prefix, or the collection is retired. */
        NOT_ALLOWED,
        /** The registry has the pURI with another uuid, owner, shard or handle, or has it as deleted or merged. */
        PURI_TAKEN,
        /** The registry has the handle for another pURI. */
        HANDLE_TAKEN
    }
}
