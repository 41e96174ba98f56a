package dev.puri.client;

import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Mints the ids of a collection's new objects: pURI, uuid and handle. Minting does no I/O, so a service mints the ids
 * before it opens its transaction. A retry uses the same ids, so the registry counts the object once.
 *
 * <pre>{@code
 * Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.sortable());
 * NewIdentity track = tracks.mint();
 * }</pre>
 *
 * <p>Thread-safe. Each uuid is greater than all uuids that the process minted before ({@link IdentityMinter}). If the
 * identifiers are sortable, the identifiers of one instance increase in the same order as its uuids.
 */
public final class Identities {
    private final IdentityMinter minter;
    private final String namespace;
    private final String collection;
    private final @Nullable Prefix prefix;
    private final Identifiers identifiers;

    /**
     * @param prefix declared prefix of the collection; null if the collection's objects have no handles
     * @param identifiers creates the third segment of pURIs, except for objects with a natural key
     * @throws dev.puri.schemas.identity.InvalidNameException if namespace or collection cannot be part of a pURI
     */
    public Identities(String namespace, String collection, @Nullable Prefix prefix, Identifiers identifiers) {
        this(new IdentityMinter(), namespace, collection, prefix, identifiers);
    }

    Identities(
            IdentityMinter minter,
            String namespace,
            String collection,
            @Nullable Prefix prefix,
            Identifiers identifiers) {
        // Checks the names now, and not when the first object is created.
        Puri.of(namespace, collection, "any");
        this.minter = minter;
        this.namespace = namespace;
        this.collection = collection;
        this.prefix = prefix;
        this.identifiers = identifiers;
    }

    /** Mints all ids of a new object. */
    public synchronized NewIdentity mint() {
        UUID uuid = minter.uuid();
        return identity(uuid, identifiers.next(uuid));
    }

    /**
     * Mints the uuid and the handle of a new object. The natural key becomes the third segment of the object's pURI.
     *
     * @param naturalKey plain text without escapes; the case of ASCII letters is ignored
     * @throws dev.puri.schemas.identity.InvalidNameException if the natural key cannot be part of a pURI
     */
    public NewIdentity mint(String naturalKey) {
        return identity(minter.uuid(), naturalKey);
    }

    private NewIdentity identity(UUID uuid, String identifier) {
        return new NewIdentity(
                Puri.of(namespace, collection, identifier), uuid, prefix == null ? null : minter.handle(prefix));
    }
}
