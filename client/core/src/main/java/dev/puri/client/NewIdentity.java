package dev.puri.client;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The ids of an object that is about to be created.
 *
 * @param puri the object's name within the internal network
 * @param uuid the object's primary key, a UUIDv7; it never leaves the internal network
 * @param handle the object's public name; null if the collection has no prefix
 */
public record NewIdentity(Puri puri, UUID uuid, @Nullable Handle handle) {}
