package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What an event says of its identity. */
public sealed interface Change {
    /**
     * A service opened the identity; the first to do so holds the pURI.
     *
     * @param uuid primary key inside the shard's database
     * @param handle the public name; null for what the public never sees
     * @param attributes searchable text, by name
     */
    record Created(
            UUID uuid, Owner owner, Shard shard, @Nullable Handle handle, Map<String, String> attributes)
            implements Change {
        /**
         * @throws IllegalArgumentException when the uuid is not of RFC 9562's variant and a version
         */
        public Created {
            Uuids.require(uuid, "uuid");
            attributes = Map.copyOf(attributes);
        }
    }

    /**
     * The object now lives elsewhere.
     *
     * @param owner the new owner; null keeps the owner
     */
    record Moved(@Nullable Owner owner, Shard shard) implements Change {}

    /** The searchable text was replaced. */
    record Described(Map<String, String> attributes) implements Change {
        public Described {
            attributes = Map.copyOf(attributes);
        }
    }

    /**
     * The object goes on under another pURI.
     *
     * @param into the survivor
     */
    record Merged(Puri into) implements Change {}

    /** The object is gone; its row remains as a mark that it was there. */
    record Deleted() implements Change {}

    /** The object is gone and every trace of its text goes too. */
    record Erased() implements Change {}
}
