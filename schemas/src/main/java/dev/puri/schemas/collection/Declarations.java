package dev.puri.schemas.collection;

import dev.puri.schemas.collection.Declared.Conflict;
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
 * <p>{@link #declare} checks new declarations. {@link #of} does not check those of the topic, because they were checked
 * before they were written.
 */
public final class Declarations {
    private static final Declarations NONE = new Declarations(new TreeMap<>());

    private final SortedMap<String, Declaration> byKey;
    private final Map<Prefix, Collection> byPrefix = new HashMap<>();

    private Declarations(SortedMap<String, Declaration> byKey) {
        this.byKey = byKey;
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
     * Creates a snapshot of the topic's declarations.
     *
     * @param declarations in the order of the topic; of several with the same key the last one is effective
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
     * @return null if it is not declared
     */
    public @Nullable Collection collection(String qualifiedName) {
        return byKey.get(qualifiedName) instanceof Collection collection ? collection : null;
    }

    /** Returns the declaration with a key, {@code namespace:collection} or {@code namespace}, or null. */
    public @Nullable Declaration byKey(String key) {
        return byKey.get(key);
    }

    /** Returns the declaration of the pURI's collection, or null. */
    public @Nullable Collection collectionOf(Puri puri) {
        return collection(puri.qualifiedCollection());
    }

    /** Returns the collection with this prefix, which may be retired, or null. */
    public @Nullable Collection byPrefix(Prefix prefix) {
        return byPrefix.get(prefix);
    }

    /**
     * Whether the namespace has an events topic of its own, which is then the only one for its events.
     *
     * @param namespace canonical
     */
    public boolean ownsTopic(String namespace) {
        return byKey.get(namespace) instanceof Namespace declared && declared.ownsTopic();
    }

    /** The declared collections, ordered by name. */
    public List<Collection> collections() {
        return byKey.values().stream()
                .filter(Collection.class::isInstance)
                .map(Collection.class::cast)
                .toList();
    }

    /** The declared namespaces, ordered by name. */
    public List<Namespace> namespaces() {
        return byKey.values().stream()
                .filter(Namespace.class::isInstance)
                .map(Namespace.class::cast)
                .toList();
    }

    /**
     * Checks new declarations. Declarations that are not among them stay unchanged, and those that are equal to the
     * existing ones need no write.
     *
     * @return all changes, or all conflicts
     */
    public Declared declare(List<? extends Declaration> wanted) {
        List<Conflict> conflicts = new ArrayList<>();
        Map<String, Declaration> changes = new LinkedHashMap<>();
        Map<Prefix, Collection> claims = new HashMap<>();
        Map<String, Declaration> seen = new HashMap<>();
        for (Declaration declaration : wanted) {
            if (seen.put(declaration.key(), declaration) != null) {
                conflicts.add(new Conflict(declaration.key(), "name", "it is declared twice here; keep one"));
                continue;
            }
            int before = conflicts.size();
            if (declaration instanceof Collection collection) {
                checkPrefix(collection, claims, conflicts);
            } else {
                checkTopic((Namespace) declaration, conflicts);
            }
            if (conflicts.size() == before && !declaration.equals(byKey.get(declaration.key()))) {
                changes.put(declaration.key(), declaration);
            }
        }
        if (!conflicts.isEmpty()) {
            return new Declared.Conflicts(conflicts);
        }
        SortedMap<String, Declaration> after = new TreeMap<>(byKey);
        after.putAll(changes);
        return new Declared.Changes(new ArrayList<>(changes.values()), new Declarations(after));
    }

    private void checkPrefix(Collection wanted, Map<Prefix, Collection> claims, List<Conflict> conflicts) {
        Prefix prefix = wanted.prefix();
        Collection existing = collection(wanted.qualifiedName());
        if (existing != null && existing.prefix() != null && !existing.prefix().equals(prefix)) {
            conflicts.add(new Conflict(
                    wanted.key(),
                    "prefix",
                    "it has " + existing.prefix() + " and keeps it, for handles never change; here stands "
                            + (prefix == null ? "none" : prefix)));
        }
        if (prefix == null) {
            return;
        }
        Collection holder = byPrefix.get(prefix);
        if (holder != null && !holder.key().equals(wanted.key())) {
            conflicts.add(new Conflict(
                    wanted.key(),
                    "prefix",
                    prefix + " belongs to " + holder.key()
                            + (holder.retired() ? ", which is retired but keeps it" : "")
                            + "; a prefix is never given to another"));
        }
        Collection rival = claims.putIfAbsent(prefix, wanted);
        if (rival != null) {
            conflicts.add(new Conflict(
                    wanted.key(),
                    "prefix",
                    prefix + " is declared for " + rival.key() + " here too; give one another"));
        }
    }

    private void checkTopic(Namespace wanted, List<Conflict> conflicts) {
        if (ownsTopic(wanted.name()) && !wanted.ownsTopic()) {
            conflicts.add(new Conflict(
                    wanted.key(),
                    "ownsTopic",
                    "it owns the topic " + Topics.eventsOf(wanted.name())
                            + ", and that is never undone; here stands false"));
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
