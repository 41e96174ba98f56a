package dev.puri.search.index;

import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * Two hashes of an entry of an index: the one that was stored with the entry, and that of the entry as it is now.
 *
 * @param puri null if the stored entry cannot be read
 * @param stored the hash that was stored when the entry was written
 * @param actual the hash of the entry as it is stored now; 0 if the stored entry cannot be read
 */
public record StoredHash(@Nullable Puri puri, long stored, long actual) {
    /** Creates the result for an entry that cannot be read. */
    public static StoredHash unreadable(long stored) {
        return new StoredHash(null, stored, 0);
    }

    /** Whether the entry is no longer as it was written. */
    public boolean isAltered() {
        return puri == null || stored != actual;
    }
}
