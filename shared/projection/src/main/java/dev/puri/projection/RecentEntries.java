package dev.puri.projection;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A map of bounded size that evicts the entry that was put longest ago. Putting a key again makes it the most recent
 * one. Not thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class RecentEntries<K, V> {
    private final int capacity;
    private final Consumer<V> onEviction;
    private final LinkedHashMap<K, V> entries = new LinkedHashMap<>();

    /**
     * @param capacity the maximum number of entries
     */
    public RecentEntries(int capacity) {
        this(capacity, evicted -> {});
    }

    /**
     * @param capacity the maximum number of entries
     * @param onEviction called with the value of each entry that is evicted because the map is full
     */
    public RecentEntries(int capacity, Consumer<V> onEviction) {
        this.capacity = capacity;
        this.onEviction = onEviction;
    }

    /** Puts an entry and makes it the most recent one. */
    public void put(K key, V value) {
        entries.putLast(key, value);
        evict();
    }

    /**
     * Puts an entry if its key has none, and returns whether it did. An existing entry keeps its place in the order.
     */
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

    /** Returns the value of a key; null if it has none. */
    public @Nullable V get(@Nullable K key) {
        return key == null ? null : entries.get(key);
    }

    /** Removes a key's entry, if there is one. */
    public void remove(K key) {
        entries.remove(key);
    }

    /** Removes the oldest entries, up to the first whose value does not match. */
    public void removeOldestWhile(Predicate<V> matches) {
        Iterator<V> values = entries.values().iterator();
        while (values.hasNext() && matches.test(values.next())) {
            values.remove();
        }
    }

    /** Removes all entries, without a call of the eviction listener. */
    public void clear() {
        entries.clear();
    }
}
