package dev.puri.registry;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * What the collections registry says of one pURI's collection. An event that fails on these terms
 * alone may have overtaken the declaration that allows it, so such refusals wait a while.
 *
 * @param collection null when it is not registered: then anybody may claim, without a handle
 */
record Terms(@Nullable Collection collection) {
    static final Terms UNREGISTERED = new Terms(null);

    /** Whether what is said of its identities now is to be found. */
    boolean isSearched() {
        return collection != null && collection.search();
    }

    @Nullable
    Refusal objectionTo(Change change) {
        if (change instanceof Change.Created created) {
            return objectionTo(created);
        }
        return change instanceof Change.Moved moved && moved.owner() != null ? objectionTo(moved.owner()) : null;
    }

    private @Nullable Refusal objectionTo(Change.Created created) {
        if (collection != null && collection.retired()) {
            return Refusal.of(Reason.NOT_ALLOWED, collection.qualifiedName() + " is retired and takes no identities");
        }
        Refusal stranger = objectionTo(created.owner());
        Handle handle = created.handle();
        return stranger != null || handle == null ? stranger : objectionTo(handle);
    }

    private @Nullable Refusal objectionTo(Owner owner) {
        if (collection == null
                || collection.owners().isEmpty()
                || collection.owners().contains(owner)) {
            return null;
        }
        return Refusal.of(
                Reason.NOT_ALLOWED,
                "owner " + owner + " may not claim in " + collection.qualifiedName() + ", only "
                        + collection.owners().stream().sorted().toList() + " may");
    }

    private @Nullable Refusal objectionTo(Handle handle) {
        Prefix prefix = collection == null ? null : collection.prefix();
        if (handle.prefix().equals(prefix)) {
            return null;
        }
        String instead;
        if (collection == null) {
            instead = "its collection is not registered, and only a registered one has handles";
        } else if (prefix == null) {
            instead = collection.qualifiedName() + " has no prefix";
        } else {
            instead = collection.qualifiedName() + " has the prefix " + prefix;
        }
        return Refusal.of(Reason.WRONG_PREFIX, "the handle " + handle + " does not fit: " + instead);
    }
}
