package dev.puri.schemas.collection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Declarations that follow their topic record by record. Thread-safe; look-ups take no lock, so they
 * may stand in the path of every event.
 */
public final class LiveDeclarations {
    private final Map<String, Declaration> byKey = new ConcurrentHashMap<>();

    /** The declarations as a whole; null since the last change. */
    private volatile @Nullable Declarations snapshot;

    /** Takes a record of the topic; the later one of a key stands. */
    public synchronized void put(Declaration declaration) {
        byKey.put(declaration.key(), declaration);
        snapshot = null;
    }

    /**
     * Takes a tombstone of the topic. The registry writes none; an administrator's hand may have.
     *
     * @param key of a collection or a namespace, declared or not
     */
    public synchronized void remove(String key) {
        byKey.remove(key);
        snapshot = null;
    }

    /**
     * What is declared of a collection.
     *
     * @param qualifiedName canonical {@code namespace:collection}
     * @return null when nothing is declared of it
     */
    public @Nullable Collection collection(String qualifiedName) {
        return byKey.get(qualifiedName) instanceof Collection collection ? collection : null;
    }

    /**
     * Whether the namespace's events come on a topic of its own and nowhere else.
     *
     * @param namespace canonical
     */
    public boolean ownsTopic(String namespace) {
        return byKey.get(namespace) instanceof Namespace declared && declared.ownsTopic();
    }

    /** All declarations; the same object until one changes, so that it may be asked for at every request. */
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
