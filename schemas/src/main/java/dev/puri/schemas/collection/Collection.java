package dev.puri.schemas.collection;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is declared of one {@code namespace:collection}.
 *
 * @param namespace canonical segment
 * @param name canonical segment
 * @param prefix what its handles begin with; null gives it none
 * @param owners who may claim here; empty lets anybody, for this catches mistakes and not malice
 * @param search whether later events are indexed for search
 * @param isPublic whether the public listener may name its pURIs
 * @param description for people; may be empty
 * @param retired takes no new identities, keeps its prefix
 */
public record Collection(
        String namespace,
        String name,
        @Nullable Prefix prefix,
        Set<Owner> owners,
        boolean search,
        boolean isPublic,
        String description,
        boolean retired) {
    public Collection {
        owners = Set.copyOf(owners);
    }

    /** {@code namespace:name}, its key in {@code puri.collections.v1}. */
    public String qualifiedName() {
        return namespace + ':' + name;
    }
}
