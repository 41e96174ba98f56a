package dev.puri.registry;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The rules that the declarations of a pURI's collection and namespace contain: owners, prefix of handles, retirement,
 * modes. If only these rules refuse an event, a declaration that allows the event may still be on its way, so the
 * registrar delays the refusal.
 *
 * @param namespace the declaration of the namespace; null if the namespace is not declared
 * @param collection the declaration of the collection; null if the collection is not declared. Then any owner may
 *     create identities, but without handles
 */
record CollectionRules(
        @Nullable Namespace namespace, @Nullable Collection collection) {
    /** The rules of a collection that is not declared, in a namespace that is not declared. */
    static final CollectionRules UNREGISTERED = new CollectionRules(null, null);

    /** Returns whether the attributes of identities of the collection are indexed. */
    boolean isSearchable() {
        return collection != null && collection.search();
    }

    /** Returns why the collection does not allow the change, or null if the change is allowed. */
    @Nullable
    Refusal objectionTo(Change change) {
        if (change instanceof Change.Created created) {
            return objectionTo(created);
        }
        return change instanceof Change.Moved moved && moved.owner() != null ? objectionTo(moved.owner()) : null;
    }

    /**
     * Returns why an event of this source must not change an identity, or null if it may. The modes of the namespace
     * and of the collection must both accept the source. The caller accepts erasures without asking.
     */
    @Nullable
    Refusal objectionToChangesBy(String source) {
        if (namespace != null && !namespace.mode().accepts(source)) {
            return notWritable("the namespace " + namespace.name(), namespace.mode(), source);
        }
        if (collection != null && !collection.mode().accepts(source)) {
            return notWritable("the collection " + collection.qualifiedName(), collection.mode(), source);
        }
        return null;
    }

    private static Refusal notWritable(String subject, WriteMode mode, String source) {
        String explanation;
        if (mode.isImport()) {
            explanation = subject + " is being imported: until it is opened, it accepts events of the source "
                    + mode.importer() + ", not of " + source;
        } else if (mode.isKnown()) {
            explanation = subject + " is read-only";
        } else {
            explanation = subject + " has the mode " + mode
                    + ", which this version of the registry does not know and treats as READ_ONLY";
        }
        return Refusal.of(Reason.NOT_WRITABLE, explanation);
    }

    private @Nullable Refusal objectionTo(Change.Created created) {
        if (collection != null && collection.retired()) {
            return Refusal.of(
                    Reason.NOT_ALLOWED, collection.qualifiedName() + " is retired and accepts no new identities");
        }
        Refusal wrongOwner = objectionTo(created.owner());
        Handle handle = created.handle();
        return wrongOwner != null || handle == null ? wrongOwner : objectionTo(handle);
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
        String explanation;
        if (collection == null) {
            explanation = "its collection is not declared, and only a declared collection can have handles";
        } else if (prefix == null) {
            explanation = collection.qualifiedName() + " has no prefix";
        } else {
            explanation = collection.qualifiedName() + " has the prefix " + prefix;
        }
        return Refusal.of(
                Reason.WRONG_PREFIX, "the prefix of the handle " + handle + " is not allowed: " + explanation);
    }
}
