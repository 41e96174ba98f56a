package dev.puri.client;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The ids of an object that is about to be created.
 *
 * @param puri its name for services
 * @param uuid its primary key, a UUIDv7, which never leaves the internal network
 * @param handle its public name; null if its collection has no prefix
 */
public record NewIdentity(Puri puri, UUID uuid, @Nullable Handle handle) {}
