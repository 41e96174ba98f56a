package com.example.music;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.puri.client.NewIdentity;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Objects;

/**
 * The response for a new object. It does not contain the uuid, which is internal.
 *
 * @param settled false if the registry has not decided yet whether the object gets its name
 */
record Created(
        Puri puri, Handle handle, Shard shard, @JsonIgnore boolean settled) {
    static Created of(NewIdentity identity, ShardDatabase database, boolean settled) {
        // Each collection of this service has a prefix, so each identity has a handle.
        return new Created(identity.puri(), Objects.requireNonNull(identity.handle()), database.shard(), settled);
    }
}
