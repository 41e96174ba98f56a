package dev.puri.schemas.collection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The current declarations, updated with each record of {@code puri.collections.v1}. Thread-safe. Look-ups take no
 * lock, so they are cheap enough for every event.
 */
public final class LiveDeclarations {
    private final Map<String, Declaration> byKey = new ConcurrentHashMap<>();

    /** The cached snapshot; null if a declaration has changed since. */
    private volatile @Nullable Declarations snapshot;

    /** Applies a record of the topic. The declaration replaces an earlier one with the same key. */
    public synchronized void put(Declaration declaration) {
        byKey.put(declaration.key(), declaration);
        snapshot = null;
    }

    /**
     * Applies a tombstone of the topic. Only an administrator writes tombstones, not the registry.
     *
     * @param key key of a collection or a namespace; nothing happens if it is not declared
     */
    public synchronized void remove(String key) {
        byKey.remove(key);
        snapshot = null;
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

    /**
     * Returns the declaration of a namespace.
     *
     * @param name a canonical namespace
     * @return null if the namespace is not declared
     */
    public @Nullable Namespace namespace(String name) {
        return byKey.get(name) instanceof Namespace namespace ? namespace : null;
    }

    /**
     * Whether a namespace has its own events topic. If so, its events are accepted only from that topic.
     *
     * @param namespace a canonical namespace
     */
    public boolean ownsTopic(String namespace) {
        return byKey.get(namespace) instanceof Namespace declared && declared.ownsTopic();
    }

    /** Returns a snapshot. It is the same object until a declaration changes, so the call is cheap. */
    public Declarations snapshot() {
        Declarations current = snapshot;
        return current != null ? current : newSnapshot();
    }

    private synchronized Declarations newSnapshot() {
        Declarations current = Declarations.of(byKey.values());
        snapshot = current;
        return current;
    }
}
