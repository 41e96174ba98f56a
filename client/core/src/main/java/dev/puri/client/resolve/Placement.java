package dev.puri.client.resolve;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import java.util.UUID;

/**
 * The location of an object's row.
 *
 * @param owner the service that owns the object
 * @param shard the database that has the row
 * @param uuid primary key of the row
 */
public record Placement(Owner owner, Shard shard, UUID uuid) {}
