package dev.puri.client;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * A collection that a service's code refers to by a constant. The Maven goal {@code puri:generate} generates a constant
 * for each collection in a file of declarations.
 *
 * @param namespace first segment of the collection's pURIs; given in any case and stored in canonical form
 * @param name second segment of the collection's pURIs; given in any case and stored in canonical form
 * @param prefix beginning of the collection's handles; null if its objects have no handles
 */
public record PuriCollection(
        String namespace, String name, @Nullable Prefix prefix) {
    /**
     * Checks namespace and name, and converts them to canonical form.
     *
     * @throws InvalidNameException if namespace or name is not a valid segment
     */
    public PuriCollection {
        Puri example = Puri.parse(namespace + ':' + name + ":x");
        namespace = example.namespace();
        name = example.collection();
    }

    /**
     * Returns a collection whose prefix is given as text.
     *
     * @param prefix null if its objects have no handles
     * @throws InvalidNameException if namespace, name or prefix is malformed
     */
    public static PuriCollection of(String namespace, String name, @Nullable String prefix) {
        return new PuriCollection(namespace, name, prefix == null ? null : Prefix.parse(prefix));
    }

    /** {@code namespace:name}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }

    /**
     * Returns the pURI of an object of this collection.
     *
     * @param identifier plain text without escapes; the case of ASCII letters is ignored
     * @throws InvalidNameException if the identifier cannot be part of a pURI
     */
    public Puri puri(String identifier) {
        return Puri.of(unescaped(namespace), unescaped(name), identifier);
    }

    /** Whether the pURI names an object of this collection. */
    public boolean contains(Puri puri) {
        return puri.qualifiedCollection().equals(qualifiedName());
    }

    /**
     * Returns a new minter for the ids of this collection's objects. Use one minter for the whole process. The uuids of
     * all minters of a process are in the order of creation, but sortable identifiers only within one minter.
     *
     * @param identifiers creates the third segment of pURIs, except for objects with a natural key
     */
    public Identities identities(Identifiers identifiers) {
        return new Identities(unescaped(namespace), unescaped(name), prefix, identifiers);
    }

    private static String unescaped(String segment) {
        return segment.indexOf('%') < 0 ? segment : Puri.parse("x:x:" + segment).plainIdentifier();
    }

    /** {@code namespace:name}. */
    @Override
    public String toString() {
        return qualifiedName();
    }
}
