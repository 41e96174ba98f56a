package dev.puri.client;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * A collection as a service's code names it. The Maven goal {@code puri:generate} writes a constant for each that a file
 * of declarations has.
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
     * A collection of text.
     *
     * @param prefix null when its objects have no handles
     * @throws InvalidNameException when a part is not what it should be
     */
    public static PuriCollection of(String namespace, String name, @Nullable String prefix) {
        return new PuriCollection(namespace, name, prefix == null ? null : Prefix.parse(prefix));
    }

    /** {@code namespace:name}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }

    /**
     * The pURI of one of its objects.
     *
     * @param identifier plain text, in which the case of ASCII letters does not count
     * @throws InvalidNameException when it cannot be part of a pURI
     */
    public Puri puri(String identifier) {
        return Puri.of(plain(namespace), plain(name), identifier);
    }

    /** Whether the pURI names an object of this collection. */
    public boolean contains(Puri puri) {
        return puri.qualifiedCollection().equals(qualifiedName());
    }

    /**
     * What mints its objects' ids. Keep one for the whole process: the order of creation holds within each.
     *
     * @param identifiers makes the third segment where no natural key is given
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
