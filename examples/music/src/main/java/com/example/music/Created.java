package com.example.music;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.puri.client.NewIdentity;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Objects;

/**
 * A new object. Its uuid stays inside.
 *
 * @param settled false if the registry has not answered the claim of its name yet
 */
record Created(
        Puri puri, Handle handle, Shard shard, @JsonIgnore boolean settled) {
    static Created of(NewIdentity identity, ShardDatabase database, boolean settled) {
        // Each collection of this service has a prefix, so each identity has a handle.
        return new Created(identity.puri(), Objects.requireNonNull(identity.handle()), database.shard(), settled);
    }
}
