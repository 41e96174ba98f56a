package dev.puri.client.resolve;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;

/**
 * The key of a row to read. A {@link ShardQuery} gets the keys of the rows of one shard.
 *
 * @param puri pURI of the object; if the object is merged, pURI of the survivor. The collection in the pURI determines
 *     the table
 * @param owner the service that owns the object
 * @param uuid primary key of the row
 */
public record Located(Puri puri, Owner owner, UUID uuid) {}
