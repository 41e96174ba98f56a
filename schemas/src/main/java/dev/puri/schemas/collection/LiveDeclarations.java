package dev.puri.schemas.collection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Declarations that are updated with each record of their topic. Thread-safe; look-ups take no lock, so they are cheap
 * enough for every event.
 */
public final class LiveDeclarations {
    private final Map<String, Declaration> byKey = new ConcurrentHashMap<>();

    /** The cached snapshot; null after a change. */
    private volatile @Nullable Declarations snapshot;

    /** Applies a record of the topic; replaces an earlier one with the same key. */
    public synchronized void put(Declaration declaration) {
        byKey.put(declaration.key(), declaration);
        snapshot = null;
    }

    /**
     * Applies a tombstone of the topic. The registry writes none, but an administrator may.
     *
     * @param key key of a collection or a namespace, which may not be declared
     */
    public synchronized void remove(String key) {
        byKey.remove(key);
        snapshot = null;
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

    /**
     * Whether the namespace has an events topic of its own, which is then the only one for its events.
     *
     * @param namespace canonical
     */
    public boolean ownsTopic(String namespace) {
        return byKey.get(namespace) instanceof Namespace declared && declared.ownsTopic();
    }

    /** Returns a snapshot; the same object until a declaration changes, so it is cheap enough for every request. */
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
