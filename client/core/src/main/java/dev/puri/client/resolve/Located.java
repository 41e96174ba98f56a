package dev.puri.client.resolve;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;

/**
 * A row to be read from a shard.
 *
 * @param puri its name; the survivor's if the identity is merged. The name's collection determines the table
 * @param owner the service that answers for it
 * @param uuid its primary key
 */
public record Located(Puri puri, Owner owner, UUID uuid) {}
