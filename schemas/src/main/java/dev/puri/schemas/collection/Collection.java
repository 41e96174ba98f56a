package dev.puri.schemas.collection;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is declared of one {@code namespace:collection}.
 *
 * @param namespace a segment in any casing, kept canonical
 * @param name a segment in any casing, kept canonical
 * @param prefix what its handles begin with; null gives it none
 * @param owners who may claim here; empty lets anybody, for this catches mistakes and not malice
 * @param search whether later events are indexed for search
 * @param attributes how their attributes are searched
 * @param isPublic whether the public listener may name its pURIs
 * @param description for people; may be empty, at most {@value #MAX_DESCRIPTION_LENGTH} characters
 * @param retired takes no new identities, keeps its prefix
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

    /** Bounds the record, so that it always fits into the topic. */
    public static final int MAX_OWNERS = 1000;

    /**
     * Checks the parts.
     *
     * @throws InvalidNameException when namespace or name is no segment
     * @throws IllegalArgumentException when the description is too long or the owners are too many
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
     * With attributes that are searched as usual.
     *
     * @throws InvalidNameException when namespace or name is no segment
     * @throws IllegalArgumentException when the description is too long or the owners are too many
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
