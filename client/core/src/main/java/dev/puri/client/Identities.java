package dev.puri.client;

import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Mints the ids of one collection's new objects without I/O, before the transaction that uses them opens. Retries use the same
 * ids, and count once.
 *
 * <pre>{@code
 * Identities tracks = new Identities("music", "tracks", new Prefix("trk"), Identifiers.sortable());
 * NewIdentity track = tracks.mint();
 * }</pre>
 *
 * <p>Thread-safe. Of two identities from the same instance, the later one has the greater uuid, as unsigned bytes, and the greater
 * identifier if identifiers are sortable.
 */
public final class Identities {
    private final IdentityMinter minter;
    private final String namespace;
    private final String collection;
    private final @Nullable Prefix prefix;
    private final Identifiers identifiers;

    /**
     * @param prefix the collection's declared prefix; null if its objects have no handles
     * @param identifiers makes the third segment unless a natural key is given
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
        // Fails here, not when the first object is created.
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
        return minted(uuid, identifiers.next(uuid));
    }

    /**
     * Mints the uuid and the handle of a new object whose natural key becomes its identifier.
     *
     * @param naturalKey plain text, in which the case of ASCII letters does not count
     * @throws dev.puri.schemas.identity.InvalidNameException when it cannot be part of a pURI
     */
    public NewIdentity mint(String naturalKey) {
        return minted(minter.uuid(), naturalKey);
    }

    private NewIdentity minted(UUID uuid, String identifier) {
        return new NewIdentity(
                Puri.of(namespace, collection, identifier), uuid, prefix == null ? null : minter.handle(prefix));
    }
}
