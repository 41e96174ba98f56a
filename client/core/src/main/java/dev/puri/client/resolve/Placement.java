package dev.puri.client.resolve;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import java.util.UUID;

/**
 * Where an object's row is.
 *
 * @param owner the service that answers for it
 * @param shard the database that has the row
 * @param uuid the row's primary key there
 */
public record Placement(Owner owner, Shard shard, UUID uuid) {}
