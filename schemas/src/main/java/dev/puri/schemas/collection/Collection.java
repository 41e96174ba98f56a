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
 * @param namespace the first segment of the collection's pURIs, in upper or lower case; converted to canonical form
 * @param name the second segment of the collection's pURIs, in upper or lower case; converted to canonical form
 * @param prefix the prefix of the collection's handles; null for a collection without handles
 * @param owners the owners that may create identities; empty if every owner may. This prevents mistakes, not attacks
 * @param search whether the identities are searchable. Only events after this declaration are indexed
 * @param attributes how the identities' attributes are searched: weights, and attributes that are only shown
 * @param isPublic whether the public listener may return the pURIs of the collection
 * @param description a text for people; may be empty, at most {@value #MAX_DESCRIPTION_LENGTH} characters
 * @param retired whether the collection accepts no new identities; a retired collection keeps its prefix
 * @param mode which events may change identities of the collection; an event must also be accepted by the mode of the
 *     {@linkplain Namespace#mode namespace}
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
        boolean retired,
        WriteMode mode)
        implements Declaration {
    public static final int MAX_DESCRIPTION_LENGTH = 1000;

    /** Maximum number of owners. It keeps the declaration smaller than the topic's maximum record size. */
    public static final int MAX_OWNERS = 1000;

    /**
     * Checks the components and converts namespace and name to canonical form.
     *
     * @throws InvalidNameException if namespace or name is not a valid segment
     * @throws IllegalArgumentException if the description is too long or there are too many owners
     */
    public Collection {
        Puri sample = Puri.parse(namespace + ':' + name + ":x");
        namespace = sample.namespace();
        name = sample.collection();
        owners = Set.copyOf(owners);
        if (description.length() > MAX_DESCRIPTION_LENGTH) {
            throw new IllegalArgumentException("the description of " + sample.qualifiedCollection() + " has "
                    + description.length() + " characters, at most " + MAX_DESCRIPTION_LENGTH + " are allowed");
        }
        if (owners.size() > MAX_OWNERS) {
            throw new IllegalArgumentException(sample.qualifiedCollection() + " lists " + owners.size()
                    + " owners, at most " + MAX_OWNERS + " are allowed");
        }
    }

    /**
     * Creates a declaration with mode {@code READ_WRITE}.
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
            SearchedAttributes attributes,
            boolean isPublic,
            String description,
            boolean retired) {
        this(namespace, name, prefix, owners, search, attributes, isPublic, description, retired, WriteMode.READ_WRITE);
    }

    /**
     * Creates a declaration with the default search weights and mode {@code READ_WRITE}.
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

    /** {@code namespace:name}: the key of the declaration in {@code puri.collections.v1}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }

    @Override
    public String key() {
        return qualifiedName();
    }
}
