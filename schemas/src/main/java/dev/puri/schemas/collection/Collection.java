package dev.puri.schemas.collection;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a collection, {@code namespace:name}.
 *
 * @param namespace a segment in any casing, converted to canonical form
 * @param name a segment in any casing, converted to canonical form
 * @param prefix the prefix of its handles; null for a collection without handles
 * @param owners the owners that may create identities; empty for any, because this prevents mistakes, not attacks
 * @param search whether later events are indexed for search
 * @param attributes weights of their attributes in search
 * @param isPublic whether the public listener may return its pURIs
 * @param description for people; may be empty, at most {@value #MAX_DESCRIPTION_LENGTH} characters
 * @param retired whether it accepts no new identities; it keeps its prefix
 */
public record Collection(
        String namespace,
        String name,
        @Nullable Prefix prefix,
        Set<Owner> owners,
        boolean search,
        SearchedAttributes attributes,
        boolean isPublic,
        String description,
        boolean retired)
        implements Declaration {
    public static final int MAX_DESCRIPTION_LENGTH = 1000;

    /** Ensures that the record does not exceed the topic's maximum size. */
    public static final int MAX_OWNERS = 1000;

    /**
     * Checks the components.
     *
     * @throws InvalidNameException if namespace or name is not a valid segment
     * @throws IllegalArgumentException if the description is too long or there are too many owners
     */
    public Collection {
        Puri one = Puri.parse(namespace + ':' + name + ":x");
        namespace = one.namespace();
        name = one.collection();
        owners = Set.copyOf(owners);
        if (description.length() > MAX_DESCRIPTION_LENGTH) {
            throw new IllegalArgumentException("the description of " + one.qualifiedCollection() + " has "
                    + description.length() + " characters, at most " + MAX_DESCRIPTION_LENGTH + " are allowed");
        }
        if (owners.size() > MAX_OWNERS) {
            throw new IllegalArgumentException(one.qualifiedCollection() + " lists " + owners.size()
                    + " owners, at most " + MAX_OWNERS + " are allowed");
        }
    }

    /**
     * Creates a declaration with default weights of attributes.
     *
     * @throws InvalidNameException if namespace or name is not a valid segment
     * @throws IllegalArgumentException if the description is too long or there are too many owners
     */
    public Collection(
            String namespace,
            String name,
            @Nullable Prefix prefix,
            Set<Owner> owners,
            boolean search,
            boolean isPublic,
            String description,
            boolean retired) {
        this(namespace, name, prefix, owners, search, SearchedAttributes.DEFAULT, isPublic, description, retired);
    }

    /** {@code namespace:name}, its key in {@code puri.collections.v1}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }

    @Override
    public String key() {
        return qualifiedName();
    }
}
