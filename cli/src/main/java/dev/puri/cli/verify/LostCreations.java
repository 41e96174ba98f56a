package dev.puri.cli.verify;

import dev.puri.cli.io.LogReader;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Finds the {@code created} events of a partition whose registrations are lost. The registration of an event is lost if
 * all of these are true:
 *
 * <ul>
 *   <li>The registrar has read the event. The evidence is a later event of the same log that was applied.
 *   <li>The event is neither refused nor parked.
 *   <li>The pURI of the event has no registration.
 * </ul>
 *
 * <p>The registrar writes changelogs and rejections in one transaction. So this class first reads the parked events,
 * then waits until the transactions that were open meanwhile have ended, and then reads registrations and rejections.
 * By then the outcome of each event that is not parked can be read.
 */
final class LostCreations {
    private final RegistryReader registry;
    private final TopicPartition registrations;
    private final TopicPartition parked;
    private final TopicPartition rejections;

    /**
     * A {@code created} event.
     *
     * @param timestamp time at which the broker appended it, in ms since the epoch
     */
    record Creation(Position position, long timestamp) {}

    LostCreations(RegistryReader registry, int partition) {
        this.registry = registry;
        registrations = new TopicPartition(registry.registrationsTopic(), partition);
        parked = new TopicPartition(registry.parkedTopic(), partition);
        rejections = new TopicPartition(Topics.REJECTIONS, partition);
    }

    /**
     * Returns those events that were applied and whose registrations are lost.
     *
     * @param creations for each pURI without a registration, its {@code created} event; the registrar has read all
     *     these events
     */
    Map<StoreKey, Creation> of(Map<StoreKey, Creation> creations) {
        Map<StoreKey, Creation> open = new HashMap<>(creations);
        if (open.isEmpty()) {
            return open;
        }
        registry.requirePartitions(List.of(rejections));
        long rejectionsEnd = removeRefused(open);
        if (open.isEmpty()) {
            return open;
        }
        registry.requireComplete(List.of(parked));
        registry.awaitTransactions(List.of(parked));
        open.keySet().removeAll(parkedKeys(open.keySet()));
        registry.awaitTransactions(List.of(registrations, rejections));
        open.keySet().removeAll(registeredKeys(open.keySet()));
        removeRefused(open, rejectionsEnd, record -> {});
        return open;
    }

    /**
     * Removes events that were refused, and those whose rejections may have expired. Returns the end offset of the
     * rejections.
     */
    private long removeRefused(Map<StoreKey, Creation> open) {
        // Offset and time of the first rejection that the topic still has.
        long[] first = {-1, Long.MAX_VALUE};
        long end = removeRefused(open, 0, record -> {
            if (first[0] < 0) {
                first[0] = record.offset();
                first[1] = record.timestamp();
            }
        });
        if (end > 0 && first[0] != 0) {
            // Earlier rejections have expired. Only an event that is newer than the first one left cannot have had one.
            // Brokers set both times, and their clocks may differ.
            open.values()
                    .removeIf(creation -> first[1] == Long.MAX_VALUE
                            || creation.timestamp() < first[1] + LogReader.CLOCK_TOLERANCE.toMillis());
        }
        return end;
    }

    private long removeRefused(
            Map<StoreKey, Creation> open, long from, Consumer<ConsumerRecord<byte[], byte[]>> listener) {
        return registry.reader().read(rejections, from, record -> {
            listener.accept(record);
            StoreKey key = record.key() == null ? null : StoreKey.ofPuri(record.key());
            Creation creation = key == null ? null : open.get(key);
            // A tombstone reports an erasure, so the event was decided. A rejection that cannot be decoded may be the
            // rejection of this event.
            if (creation != null
                    && (record.value() == null
                            || !(registry.decoder().rejection(record.value()) instanceof Position refused)
                            || refused.equals(creation.position()))) {
                open.remove(key);
            }
        });
    }

    private Set<StoreKey> parkedKeys(Set<StoreKey> keys) {
        Map<String, StoreKey> events = new HashMap<>();
        registry.reader().read(parked, 0, record -> {
            StoreKey key = record.key() == null
                    ? null
                    : StoreKey.ofChangelogKey(RegistrarChangelogs.keyOfParked(record.key()));
            if (key != null && keys.contains(key)) {
                // A queue has an entry for each of its events.
                String event = HexFormat.of().formatHex(record.key());
                if (record.value() == null) {
                    events.remove(event);
                } else {
                    events.put(event, key);
                }
            }
        });
        return Set.copyOf(events.values());
    }

    private Set<StoreKey> registeredKeys(Set<StoreKey> keys) {
        Set<StoreKey> registered = new HashSet<>();
        registry.reader().read(registrations, 0, record -> {
            StoreKey key = StoreKey.ofChangelogKey(record.key());
            if (key != null && keys.contains(key)) {
                if (record.value() == null) {
                    registered.remove(key);
                } else {
                    registered.add(key);
                }
            }
        });
        return registered;
    }
}
