package dev.puri.testkit;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A rule of a {@link TamperingProxy}: records that the proxy removes from fetch responses. It remembers the position of
 * each record that it has removed. Thread-safe.
 */
public final class RecordDrop {
    private final Selector selector;
    private final boolean firstOnly;
    private final Set<Position> positions = new LinkedHashSet<>();
    private boolean hasEnded;

    /** Selects the records to remove. Threads of all connections call it. */
    @FunctionalInterface
    public interface Selector {
        /**
         * Returns whether to remove a record.
         *
         * @param key the record's key, or null if it has none
         */
        boolean selects(TopicPartition partition, byte @Nullable [] key);
    }

    /** The position of a record in the broker's log. */
    public record Position(TopicPartition partition, long offset) {}

    RecordDrop(Selector selector, boolean firstOnly) {
        this.selector = selector;
        this.firstOnly = firstOnly;
    }

    /** Returns whether to remove this record, and remembers its position if so. */
    synchronized boolean drops(TopicPartition partition, long offset, byte @Nullable [] key) {
        if (hasEnded) {
            return false;
        }
        Position position = new Position(partition, offset);
        if (firstOnly && !positions.isEmpty()) {
            return positions.contains(position);
        }
        if (!selector.selects(partition, key)) {
            return false;
        }
        positions.add(position);
        return true;
    }

    /** Returns the positions of the records that were removed, in the order of their first removal. */
    public synchronized Set<Position> positions() {
        return new LinkedHashSet<>(positions);
    }

    /** Ends the rule. Later fetch responses contain the records again. */
    public synchronized void end() {
        hasEnded = true;
    }
}
