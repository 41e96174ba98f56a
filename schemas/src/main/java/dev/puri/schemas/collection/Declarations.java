package dev.puri.schemas.collection;

import dev.puri.schemas.collection.DeclarationResult.Conflict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An immutable snapshot of all declarations of collections and namespaces.
 *
 * <p>{@link #plan} checks new declarations against the snapshot. {@link #of} takes the declarations of the topic
 * without a check, because they were checked before they were written.
 */
public final class Declarations {
    private static final Declarations NONE = new Declarations(new TreeMap<>());

    private final SortedMap<String, Declaration> byKey;
    private final Map<Prefix, Collection> byPrefix = new HashMap<>();

    private final boolean hasImports;

    private Declarations(SortedMap<String, Declaration> byKey) {
        this.byKey = byKey;
        hasImports = byKey.values().stream().anyMatch(each -> each.mode().isImport());
        for (Declaration declaration : byKey.values()) {
            if (declaration instanceof Collection collection && collection.prefix() != null) {
                byPrefix.putIfAbsent(collection.prefix(), collection);
            }
        }
    }

    /** Returns an empty snapshot. */
    public static Declarations none() {
        return NONE;
    }

    /**
     * Creates a snapshot of the declarations in the topic.
     *
     * @param declarations declarations in the order of the topic; a later declaration replaces an earlier one with the
     *     same key
     */
    public static Declarations of(Iterable<? extends Declaration> declarations) {
        SortedMap<String, Declaration> byKey = new TreeMap<>();
        for (Declaration declaration : declarations) {
            byKey.put(declaration.key(), declaration);
        }
        return new Declarations(byKey);
    }

    /**
     * Returns the declaration of a collection.
     *
     * @param qualifiedName canonical {@code namespace:collection}
     * @return null if the collection is not declared
     */
    public @Nullable Collection collection(String qualifiedName) {
        return byKey.get(qualifiedName) instanceof Collection collection ? collection : null;
    }

    /** Returns the declaration with a {@linkplain Declaration#key() key}, or null if there is none. */
    public @Nullable Declaration byKey(String key) {
        return byKey.get(key);
    }

    /** Returns the declaration of the pURI's collection, or null if the collection is not declared. */
    public @Nullable Collection collectionOf(Puri puri) {
        return collection(puri.qualifiedCollection());
    }

    /** Returns the collection that has a prefix, even if the collection is retired; null if there is none. */
    public @Nullable Collection byPrefix(Prefix prefix) {
        return byPrefix.get(prefix);
    }

    /**
     * Returns the declaration of a namespace.
     *
     * @param name a canonical namespace
     * @return null if the namespace is not declared
     */
    public @Nullable Namespace namespace(String name) {
        return byKey.get(name) instanceof Namespace namespace ? namespace : null;
    }

    /** Returns whether any namespace or collection is in mode {@code IMPORT}. */
    public boolean hasImports() {
        return hasImports;
    }

    /**
     * Returns whether an identity with this name may still be imported: the namespace or the collection is in mode
     * {@code IMPORT}.
     *
     * @param ref a pURI or a handle; false if it is malformed, or a handle without a declared collection
     */
    public boolean isImporting(String ref) {
        if (!hasImports) {
            return false;
        }
        try {
            if (!Handle.looksLike(ref)) {
                Puri puri = Puri.parse(ref);
                return isImporting(puri.namespace(), collectionOf(puri));
            }
            Collection collection = byPrefix(Handle.parse(ref).prefix());
            return collection != null && isImporting(collection.namespace(), collection);
        } catch (InvalidNameException e) {
            return false;
        }
    }

    private boolean isImporting(String namespace, @Nullable Collection collection) {
        return collection != null && collection.mode().isImport()
                || byKey.get(namespace) instanceof Namespace declared
                        && declared.mode().isImport();
    }

    /**
     * Whether a namespace has its own events topic. If so, its events are accepted only from that topic.
     *
     * @param namespace a canonical namespace
     */
    public boolean ownsTopic(String namespace) {
        return byKey.get(namespace) instanceof Namespace declared && declared.ownsTopic();
    }

    /** The declared collections, ordered by key. */
    public List<Collection> collections() {
        return all(Collection.class);
    }

    /** The declared namespaces, ordered by name. */
    public List<Namespace> namespaces() {
        return all(Namespace.class);
    }

    private <T extends Declaration> List<T> all(Class<T> type) {
        return byKey.values().stream().filter(type::isInstance).map(type::cast).toList();
    }

    /**
     * Checks new declarations against this snapshot and returns those that must be written. Declarations that are not
     * in the list stay as they are. A new declaration that equals the existing one need not be written.
     *
     * @return the changes if there is no conflict; otherwise all conflicts
     */
    public DeclarationResult plan(List<? extends Declaration> newDeclarations) {
        List<Conflict> conflicts = new ArrayList<>();
        Map<String, Declaration> changes = new LinkedHashMap<>();
        Map<Prefix, Collection> newByPrefix = new HashMap<>();
        Map<String, Declaration> newByKey = new HashMap<>();
        for (Declaration declaration : newDeclarations) {
            if (newByKey.put(declaration.key(), declaration) != null) {
                conflicts.add(new Conflict(
                        declaration.key(), "name", "it is declared twice in this request; remove one declaration"));
                continue;
            }
            int conflictCount = conflicts.size();
            if (declaration instanceof Collection collection) {
                checkPrefix(collection, newByPrefix, conflicts);
            } else {
                checkTopic((Namespace) declaration, conflicts);
            }
            if (conflicts.size() == conflictCount && !declaration.equals(byKey.get(declaration.key()))) {
                changes.put(declaration.key(), declaration);
            }
        }
        if (!conflicts.isEmpty()) {
            return new DeclarationResult.Conflicts(conflicts);
        }
        SortedMap<String, Declaration> after = new TreeMap<>(byKey);
        after.putAll(changes);
        return new DeclarationResult.Changes(new ArrayList<>(changes.values()), this, new Declarations(after));
    }

    private void checkPrefix(Collection declaration, Map<Prefix, Collection> newByPrefix, List<Conflict> conflicts) {
        Prefix prefix = declaration.prefix();
        Collection existing = collection(declaration.qualifiedName());
        if (existing != null && existing.prefix() != null && !existing.prefix().equals(prefix)) {
            conflicts.add(new Conflict(
                    declaration.key(),
                    "prefix",
                    "its prefix is " + existing.prefix()
                            + " and cannot change, because handles are permanent; the new declaration has "
                            + (prefix == null ? "none" : prefix)));
        }
        if (prefix == null) {
            return;
        }
        Collection holder = byPrefix.get(prefix);
        if (holder != null && !holder.key().equals(declaration.key())) {
            conflicts.add(new Conflict(
                    declaration.key(),
                    "prefix",
                    prefix + " belongs to " + holder.key()
                            + (holder.retired() ? ", which is retired but keeps its prefix" : "")
                            + "; a prefix is never reassigned to another collection"));
        }
        Collection rival = newByPrefix.putIfAbsent(prefix, declaration);
        if (rival != null) {
            conflicts.add(new Conflict(
                    declaration.key(),
                    "prefix",
                    prefix + " is also declared for " + rival.key()
                            + " in this request; choose another prefix for one of them"));
        }
    }

    private void checkTopic(Namespace declaration, List<Conflict> conflicts) {
        if (ownsTopic(declaration.name()) && !declaration.ownsTopic()) {
            conflicts.add(new Conflict(
                    declaration.key(),
                    "ownsTopic",
                    "it has its own topic " + Topics.eventsTopicOf(declaration.name())
                            + ", which cannot be undone; the new declaration says false"));
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Declarations that && byKey.equals(that.byKey);
    }

    @Override
    public int hashCode() {
        return byKey.hashCode();
    }

    @Override
    public String toString() {
        return byKey.values().toString();
    }
}
