package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The change that an event makes to its identity. */
public sealed interface Change {
    /**
     * A service created the identity. The first creation of a pURI claims it.
     *
     * @param uuid primary key of the object in the shard's database
     * @param handle the public name; null for objects that are never public
     * @param attributes searchable text by attribute name
     */
    record Created(
            UUID uuid, Owner owner, Shard shard, @Nullable Handle handle, Map<String, String> attributes)
            implements Change {
        /**
         * @throws IllegalArgumentException if the variant or the version of the uuid is invalid
         */
        public Created {
            Uuids.requireValid(uuid, "uuid");
            attributes = Map.copyOf(attributes);
        }
    }

    /**
     * The object moved to another shard.
     *
     * @param owner the new owner; null if the owner does not change
     */
    record Moved(@Nullable Owner owner, Shard shard) implements Change {}

    /** The searchable text was replaced. */
    record Described(Map<String, String> attributes) implements Change {
        public Described {
            attributes = Map.copyOf(attributes);
        }
    }

    /**
     * The object was merged into another object, the survivor.
     *
     * @param into the pURI of the survivor
     */
    record Merged(Puri into) implements Change {}

    /** The object was deleted; its row remains with the status deleted. */
    record Deleted() implements Change {}

    /** The object was deleted, and its names and texts must be removed everywhere. */
    record Erased() implements Change {}
}
