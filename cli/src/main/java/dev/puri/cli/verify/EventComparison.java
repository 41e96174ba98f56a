package dev.puri.cli.verify;

import dev.puri.cli.io.LogReader;
import dev.puri.cli.verify.StoreKey.Slice;
import dev.puri.projection.RecordKey;
import dev.puri.projection.wait.Tokens;
import dev.puri.registry.RegistrarChangelogs.StoredRegistration;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares the registrations of a partition with the events topics: the last event that changed each row must be in the
 * log at the row's position, and the fields that this event sets must be those of the row. Rows whose event has expired
 * are counted and not compared. A pURI with a {@code created} event must have a registration, unless the event was
 * refused or is not decided yet ({@link LostCreations}).
 *
 * <p>It does not fold all events again. The result of a fold depends on what the log of events does not contain: the
 * declarations and schemas at the time of each decision, and the order in which claims of handles reached the clerk.
 */
final class EventComparison implements Check {
    /** Column with the hash of the row's position; or {@link #SETTLED}, {@link #EXPIRED} or {@link #UNREGISTERED}. */
    private static final int POSITION = 0;

    private static final int CHANGED_AT = 1;

    /** First of the columns with the hashes of {@link EventFields}. */
    private static final int FIELDS = 2;

    private static final int COLUMNS = FIELDS + EventFields.HASHES;

    private static final long SETTLED = 0;
    private static final long EXPIRED = 1;

    /** The last record of the registration is a tombstone, which the registrar never writes. */
    private static final long UNREGISTERED = 2;

    private static final int BATCH = 20_000;

    /** Bounds the memory of the creations without a registration. Each takes less than two entries of the table. */
    private static final int MAX_UNREGISTERED = KeyTable.maxSize(COLUMNS) / 4;

    private final RegistryReader registry;
    private final int partition;
    private final TopicPartition registrations;
    private final LostCreations lostCreations;

    /** The last {@code created} event of each pURI without a registration, of the slice that was read last. */
    private Map<StoreKey, LostCreations.Creation> unregistered = new HashMap<>();

    private long rows;
    private long expired;

    EventComparison(RegistryReader registry, int partition) {
        this.registry = registry;
        this.partition = partition;
        this.registrations = new TopicPartition(registry.registrationsTopic(), partition);
        this.lostCreations = new LostCreations(registry, partition);
    }

    @Override
    public String part() {
        return RegistryReader.REGISTRAR;
    }

    @Override
    public String copy() {
        return registrations.topic();
    }

    @Override
    public Integer partition() {
        return partition;
    }

    @Override
    public long records() {
        List<TopicPartition> read = new ArrayList<>(eventLogs());
        read.add(registrations);
        return registry.records(read);
    }

    @Override
    public boolean mustHaveRows() {
        // All events may have expired.
        return false;
    }

    @Override
    public Result run(Consumer<Difference> differences) {
        rows = 0;
        expired = 0;
        registry.requireComplete(List.of(registrations));
        KeyTable.readAll(this::readSuspects, table -> compare(table, differences));
        registry.requireComplete(List.of(registrations));
        return new Result(rows, rows, 0, Note.of(expired, "have an event that has expired"));
    }

    private void compare(KeyTable table, Consumer<Difference> differences) {
        List<StoreKey> batch = new ArrayList<>();
        for (int slot = 0; slot < table.slots(); slot++) {
            if (table.isUsed(slot) && !isDone(table.get(slot, POSITION))) {
                batch.add(table.key(slot));
                if (batch.size() == BATCH) {
                    compareExactly(batch, differences);
                    batch.clear();
                }
            }
        }
        compareExactly(batch, differences);
        reportLost(lostCreations.of(unregistered), differences);
    }

    /** The first offset of each partition of the events topics. */
    private record FirstOffsets(Map<TopicPartition, Long> byPartition) {
        boolean hasPartition(Position position) {
            return byPartition.containsKey(LogReader.partitionOf(position));
        }

        /** Whether a position is before the beginning of its log. A position in no log is not expired, but wrong. */
        boolean isExpired(Position position) {
            return position.offset() < byPartition.getOrDefault(LogReader.partitionOf(position), 0L);
        }
    }

    private FirstOffsets firstOffsets() {
        return new FirstOffsets(registry.reader().beginningOffsets(registry.eventsPartitions()));
    }

    /** Returns the partitions that may have events of the compared partition. */
    private List<TopicPartition> eventLogs() {
        return registry.eventsPartitions().stream()
                .filter(log -> !log.topic().equals(Topics.EVENTS) || log.partition() == partition)
                .toList();
    }

    private static boolean isDone(long position) {
        return position == SETTLED || position == EXPIRED || position == UNREGISTERED;
    }

    /**
     * Returns all keys. Those whose last event was found and has the fields of the row are {@link #SETTLED}. Sets
     * {@link #unregistered}.
     */
    private KeyTable readSuspects(Slice slice) throws KeyTable.FullException {
        KeyTable table = new KeyTable(COLUMNS, KeyTable.maxSize(COLUMNS));
        FirstOffsets firstOffsets = firstOffsets();
        Map<TopicPartition, Long> lastApplied = readRegistrations(slice, table, firstOffsets);
        long rowsWithEvent = 0;
        long rowsWithoutEvent = 0;
        for (int slot = 0; slot < table.slots(); slot++) {
            if (table.isUsed(slot)) {
                long state = table.get(slot, POSITION);
                rowsWithEvent += isDone(state) ? 0 : 1;
                rowsWithoutEvent += state == EXPIRED ? 1 : 0;
            }
        }
        unregistered = new HashMap<>();
        for (TopicPartition events : eventLogs()) {
            long lastOffset = lastApplied.getOrDefault(events, -1L);
            registry.reader().read(events, registry.reader().beginningOffset(events), record -> {
                if (record.key() == null || record.value() == null) {
                    return;
                }
                StoreKey key = StoreKey.ofPuri(record.key());
                int slot = table.find(key);
                if (slot >= 0 && table.get(slot, POSITION) != UNREGISTERED) {
                    settle(table, slot, record);
                } else if (key.isIn(slice) && record.offset() <= lastOffset) {
                    addUnregistered(key, record);
                }
            });
        }
        // Counted at the end, because a slice that does not fit is read again.
        rows += rowsWithEvent;
        expired += rowsWithoutEvent;
        return table;
    }

    /** Reads the registrations into a table. Returns, by log, the offset of the last event that changed a row. */
    private Map<TopicPartition, Long> readRegistrations(Slice slice, KeyTable table, FirstOffsets firstOffsets)
            throws KeyTable.FullException {
        Map<TopicPartition, Long> lastApplied = new HashMap<>();
        registry.reader().read(registrations, 0, record -> {
            StoreKey key = StoreKey.ofChangelogKey(record.key());
            if (key == null || !key.isIn(slice)) {
                return;
            }
            int slot = table.add(key);
            Row row =
                    record.value() == null ? null : registration(record.value()).row();
            if (row == null) {
                table.set(slot, POSITION, record.value() == null ? UNREGISTERED : SETTLED);
                return;
            }
            Position position = row.position();
            lastApplied.merge(LogReader.partitionOf(position), position.offset(), Math::max);
            if (firstOffsets.isExpired(position)) {
                table.set(slot, POSITION, EXPIRED);
                return;
            }
            table.set(slot, POSITION, positionHash(position));
            table.set(slot, CHANGED_AT, row.changedAt().toEpochMilli());
            long[] hashes = EventFields.hashes(row);
            for (int i = 0; i < hashes.length; i++) {
                table.set(slot, FIELDS + i, hashes[i]);
            }
        });
        return lastApplied;
    }

    /** Marks a row as settled if a record is its last event. */
    private void settle(KeyTable table, int slot, ConsumerRecord<byte[], byte[]> record) {
        if (table.get(slot, POSITION) == positionHash(LogReader.positionOf(record))
                && decode(record) instanceof Event event
                && event.occurredAt().toEpochMilli() == table.get(slot, CHANGED_AT)
                && EventFields.agree(event, i -> table.get(slot, FIELDS + i))) {
            table.set(slot, POSITION, SETTLED);
        }
    }

    private void addUnregistered(StoreKey key, ConsumerRecord<byte[], byte[]> record) throws KeyTable.FullException {
        // The topic of a namespace has events of all partitions of the registrar. Most need not be decoded.
        if (!isOfPartition(record) || !(decode(record) instanceof Event event)) {
            return;
        }
        if (event.change() instanceof Change.Created) {
            unregistered.put(key, new LostCreations.Creation(LogReader.positionOf(record), record.timestamp()));
            if (unregistered.size() > MAX_UNREGISTERED) {
                throw new KeyTable.FullException();
            }
        } else if (event.change() instanceof Change.Erased) {
            unregistered.remove(key);
        }
    }

    private boolean isOfPartition(ConsumerRecord<byte[], byte[]> record) {
        try {
            return Tokens.partition(RecordKey.puri(record.key()), registry.partitions()) == partition;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static long positionHash(Position position) {
        long hash = Hashes.of(position);
        return isDone(hash) ? UNREGISTERED + 1 : hash;
    }

    /** Reads registrations and their events again, and compares all fields. */
    private void compareExactly(List<StoreKey> keys, Consumer<Difference> differences) {
        if (keys.isEmpty()) {
            return;
        }
        Map<StoreKey, @Nullable StoredRegistration> suspects = new HashMap<>();
        keys.forEach(key -> suspects.put(key, null));
        registry.reader().read(registrations, 0, record -> {
            StoreKey key = StoreKey.ofChangelogKey(record.key());
            if (key != null && suspects.containsKey(key)) {
                suspects.put(key, record.value() == null ? null : registration(record.value()));
            }
        });
        Map<Position, Map<StoreKey, StoredRegistration>> byPosition = new HashMap<>();
        FirstOffsets firstOffsets = firstOffsets();
        suspects.forEach((key, registration) -> {
            Row row = registration == null ? null : registration.row();
            if (registration != null && row != null) {
                byPosition
                        .computeIfAbsent(row.position(), none -> new HashMap<>())
                        .put(key, registration);
            }
        });
        // Compares each event as it is read: a batch of large events does not fit into memory.
        registry.reader().find(List.copyOf(byPosition.keySet()), record -> {
            Map<StoreKey, StoredRegistration> found = byPosition.remove(LogReader.positionOf(record));
            if (found != null) {
                found.forEach((key, registration) -> compare(key, registration, record, differences));
            }
        });
        byPosition.forEach((position, missing) -> {
            if (firstOffsets.isExpired(position)) {
                expired += missing.size();
                rows -= missing.size();
            } else {
                String detail =
                        (firstOffsets.hasPartition(position) ? "the log has no event at " : "there is no log of ")
                                + position;
                missing.forEach((key, registration) ->
                        report(key, null, null, Objects.requireNonNull(registration.row()), detail, differences));
            }
        });
    }

    private void compare(
            StoreKey key,
            StoredRegistration registration,
            ConsumerRecord<byte[], byte[]> record,
            Consumer<Difference> differences) {
        Row row = Objects.requireNonNull(registration.row());
        byte[] keyOfEvent = record.key();
        String puri = keyOfEvent == null ? null : new String(keyOfEvent, StandardCharsets.UTF_8);
        if (keyOfEvent == null || !StoreKey.ofPuri(keyOfEvent).equals(key)) {
            report(key, null, null, row, "the event at " + row.position() + " is of " + puri, differences);
            return;
        }
        Object event = decode(record);
        if (!(event instanceof Event decoded)) {
            String why = event instanceof RecordDecoder.Unreadable unreadable ? unreadable.why() : "";
            report(key, puri, null, row, "the event at " + row.position() + " is unreadable: " + why, differences);
            return;
        }
        EventFields expected = EventFields.of(decoded, decoded.eventId().equals(registration.firstEvent()));
        if (expected == null) {
            String change = decoded.change().getClass().getSimpleName();
            report(key, puri, null, row, "the event at " + row.position() + " is " + change, differences);
        } else if (!expected.fields().equals(expected.in(row))) {
            report(key, puri, expected, row, "the event is at " + row.position(), differences);
        }
    }

    private void reportLost(Map<StoreKey, LostCreations.Creation> lost, Consumer<Difference> differences) {
        List<Position> positions =
                lost.values().stream().map(LostCreations.Creation::position).toList();
        registry.reader().find(positions, record -> {
            EventFields expected = decode(record) instanceof Event event ? EventFields.of(event, true) : null;
            if (expected != null) {
                rows++;
                Map<String, String> fields = new LinkedHashMap<>(expected.fields());
                fields.put(RowFields.POSITION, LogReader.positionOf(record).toString());
                differences.accept(new Difference(
                        part(),
                        copy(),
                        partition,
                        new String(record.key(), StandardCharsets.UTF_8),
                        StoreKey.ofPuri(record.key()).toString(),
                        Difference.Kind.MISSING,
                        Difference.fields(fields, null),
                        "the registrar has read the event, did not refuse it, and has no registration"));
            }
        });
    }

    private void report(
            StoreKey key,
            @Nullable String puri,
            @Nullable EventFields event,
            Row row,
            String detail,
            Consumer<Difference> differences) {
        Map<String, String> expected = event == null ? null : event.fields();
        Map<String, String> found = event == null ? RowFields.withPosition(row) : event.in(row);
        differences.accept(new Difference(
                part(),
                copy(),
                partition,
                puri,
                key.toString(),
                Difference.kind(expected, found),
                Difference.fields(expected, found),
                detail));
    }

    private StoredRegistration registration(byte[] value) {
        return RecordDecoder.registration(registrations.topic(), value);
    }

    private Object decode(ConsumerRecord<byte[], byte[]> record) {
        return record.value() == null
                ? new RecordDecoder.Unreadable("it has no value")
                : registry.decoder().event(record.key(), record.value());
    }
}
