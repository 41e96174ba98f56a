package dev.puri.tail;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A map of bounded size. When it is full, it evicts the entry that was put longest ago; a key that is put again is the
 * most recent one. Not thread-safe.
 *
 * @param <K> type of the keys
 * @param <V> type of the values
 */
public final class RecentEntries<K, V> {
    private final int capacity;
    private final Consumer<V> onEviction;
    private final LinkedHashMap<K, V> entries = new LinkedHashMap<>();

    /** Empty, with room for that many entries. */
    public RecentEntries(int capacity) {
        this(capacity, evicted -> {});
    }

    /**
     * @param onEviction called with the value of each entry that is evicted because the map is full
     */
    public RecentEntries(int capacity, Consumer<V> onEviction) {
        this.capacity = capacity;
        this.onEviction = onEviction;
    }

    /** Puts an entry, which is the most recent one then. */
    public void put(K key, V value) {
        entries.putLast(key, value);
        evict();
    }

    /** Puts an entry unless its key has one, which keeps its place; false when it has. */
    public boolean putIfAbsent(K key, V value) {
        boolean isAbsent = entries.putIfAbsent(key, value) == null;
        evict();
        return isAbsent;
    }

    private void evict() {
        if (entries.size() > capacity) {
            Map.Entry<K, V> oldest = entries.pollFirstEntry();
            if (oldest != null) {
                onEviction.accept(oldest.getValue());
            }
        }
    }

    /** The value of a key; null when it has none. */
    public @Nullable V get(@Nullable K key) {
        return key == null ? null : entries.get(key);
    }

    /** Removes a key's entry, if there is one. */
    public void remove(K key) {
        entries.remove(key);
    }

    /** Removes the entries that were put longest ago, up to the first that does not match. */
    public void removeOldestWhile(Predicate<V> matches) {
        Iterator<V> values = entries.values().iterator();
        while (values.hasNext() && matches.test(values.next())) {
            values.remove();
        }
    }

    /** Removes all entries, without calling them evicted. */
    public void clear() {
        entries.clear();
    }
}
