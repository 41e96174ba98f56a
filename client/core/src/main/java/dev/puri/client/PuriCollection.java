package dev.puri.client;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * A collection as a constant of a service's code. The Maven goal {@code puri:generate} writes one for each collection in a file of
 * declarations.
 *
 * @param namespace a segment in any casing, kept canonical
 * @param name a segment in any casing, kept canonical
 * @param prefix what its handles begin with; null when it has none
 */
public record PuriCollection(
        String namespace, String name, @Nullable Prefix prefix) {
    /**
     * Checks the parts.
     *
     * @throws InvalidNameException when namespace or name is no segment
     */
    public PuriCollection {
        Puri one = Puri.parse(namespace + ':' + name + ":x");
        namespace = one.namespace();
        name = one.collection();
    }

    /**
     * Parses the parts of a collection.
     *
     * @param prefix null if its objects have no handles
     * @throws InvalidNameException if a part is malformed
     */
    public static PuriCollection of(String namespace, String name, @Nullable String prefix) {
        return new PuriCollection(namespace, name, prefix == null ? null : Prefix.parse(prefix));
    }

    /** {@code namespace:name}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }

    /**
     * Returns the pURI of one of its objects.
     *
     * @param identifier plain text, in which the case of ASCII letters does not count
     * @throws InvalidNameException if it cannot be part of a pURI
     */
    public Puri puri(String identifier) {
        return Puri.of(plain(namespace), plain(name), identifier);
    }

    /** Whether the pURI names an object of this collection. */
    public boolean contains(Puri puri) {
        return puri.qualifiedCollection().equals(qualifiedName());
    }

    /**
     * Returns an object that mints the ids of this collection's objects. Keep one for the whole process: the order of creation holds
     * within each.
     *
     * @param identifiers makes the third segment unless a natural key is given
     */
    public Identities identities(Identifiers identifiers) {
        return new Identities(plain(namespace), plain(name), prefix, identifiers);
    }

    private static String plain(String segment) {
        return segment.indexOf('%') < 0 ? segment : Puri.parse("x:x:" + segment).plainIdentifier();
    }

    /** {@code namespace:name}. */
    @Override
    public String toString() {
        return qualifiedName();
    }
}
