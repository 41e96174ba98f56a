package dev.puri.cli.verify;

import dev.puri.cli.verify.Key.Slice;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.RecordKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares the registrations of a partition with the events topics: the last event that changed each row must be in the
 * log at the row's position, and the fields that this event sets must be those of the row. Rows whose event has expired
 * are counted and not compared.
 *
 * <p>All events are not folded again. The result of a fold depends on what the log of events does not contain: the
 * declarations and schemas at the time of each decision, and the order in which claims of handles reached the clerk.
 */
final class EventComparison implements Check {
    /** Column with the hash of the row's position; or {@link #SETTLED}, or {@link #EXPIRED}. */
    private static final int POSITION = 0;

    /** Column with short hashes of the fields, {@link FieldBits}. */
    private static final int FIELDS = 1;

    private static final int CHANGED_AT = 2;
    private static final int COLUMNS = 3;

    private static final long SETTLED = 0;
    private static final long EXPIRED = 1;
    private static final int BATCH = 20_000;

    private final Registry registry;
    private final int partition;
    private final TopicPartition registrations;
    private long rows;
    private long expired;

    EventComparison(Registry registry, int partition) {
        this.registry = registry;
        this.partition = partition;
        this.registrations = new TopicPartition(registry.registrationsTopic(), partition);
    }

    @Override
    public String part() {
        return Registry.REGISTRAR;
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
        return registry.records(List.of(registrations, new TopicPartition(Topics.EVENTS, partition)));
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
        List<Key> batch = new ArrayList<>();
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
    }

    /** The first offset of each partition of the events topics; read once for each topic. */
    private final class FirstOffsets {
        private final Map<String, List<Long>> byTopic = new HashMap<>();

        boolean isExpired(Position position) {
            List<Long> first = byTopic.computeIfAbsent(position.topic(), topic -> {
                List<Long> offsets = new ArrayList<>();
                for (int each = 0; each < registry.reader().partitionCount(topic); each++) {
                    offsets.add(registry.reader().beginning(new TopicPartition(topic, each)));
                }
                return offsets;
            });
            return position.partition() >= first.size() || position.offset() < first.get(position.partition());
        }

        /** Returns the partitions that may have events of rows of the compared partition. */
        List<TopicPartition> partitions() {
            List<TopicPartition> partitions = new ArrayList<>();
            byTopic.forEach((topic, offsets) -> {
                for (int each = 0; each < offsets.size(); each++) {
                    if (!topic.equals(Topics.EVENTS) || each == partition) {
                        partitions.add(new TopicPartition(topic, each));
                    }
                }
            });
            return partitions;
        }
    }

    private static boolean isDone(long position) {
        return position == SETTLED || position == EXPIRED;
    }

    /** Returns all keys. Those whose last event was found and has the fields of the row are {@link #SETTLED}. */
    private KeyTable readSuspects(Slice slice) throws KeyTable.FullException {
        KeyTable table = new KeyTable(COLUMNS, KeyTable.maxSize(COLUMNS));
        FirstOffsets firstOffsets = new FirstOffsets();
        registry.reader().read(registrations, 0, record -> {
            Key key = Key.of(record.key());
            if (key != null && key.isIn(slice)) {
                int slot = table.add(key);
                Row row = row(record);
                if (row == null) {
                    table.set(slot, POSITION, SETTLED);
                } else if (firstOffsets.isExpired(row.position())) {
                    table.set(slot, POSITION, EXPIRED);
                } else {
                    table.set(slot, POSITION, positionHash(row.position()));
                    table.set(slot, FIELDS, FieldBits.of(Fields.of(row)).bits());
                    table.set(slot, CHANGED_AT, row.changedAt().toEpochMilli());
                }
            }
        });
        for (int slot = 0; slot < table.slots(); slot++) {
            if (table.isUsed(slot)) {
                long state = table.get(slot, POSITION);
                rows += isDone(state) ? 0 : 1;
                expired += state == EXPIRED ? 1 : 0;
            }
        }
        for (TopicPartition events : firstOffsets.partitions()) {
            registry.reader().read(events, registry.reader().beginning(events), record -> {
                if (record.key() == null || record.value() == null) {
                    return;
                }
                int slot = table.find(Key.ofPuri(record.key()));
                if (slot >= 0
                        && table.get(slot, POSITION)
                                == positionHash(new Position(record.topic(), record.partition(), record.offset()))
                        && decode(record) instanceof Event event
                        && event.occurredAt().toEpochMilli() == table.get(slot, CHANGED_AT)
                        && agrees(event, table.get(slot, FIELDS))) {
                    table.set(slot, POSITION, SETTLED);
                }
            });
        }
        return table;
    }

    private static long positionHash(Position position) {
        long hash = Hashes.of(position);
        return isDone(hash) ? 2 : hash;
    }

    private static boolean agrees(Event event, long bitsOfRow) {
        Map<String, String> expected = fieldsSetBy(event);
        if (expected == null) {
            return false;
        }
        FieldBits bits = FieldBits.of(expected);
        return (bitsOfRow & bits.mask()) == bits.bits();
    }

    /** Short hashes of the fields of a row in one long, and a mask of those that are known. */
    private record FieldBits(long bits, long mask) {
        private static final List<String> NAMES = List.of("uuid", "owner", "shard", "handle", "status", "mergedInto");
        private static final int BITS = 10;
        private static final long FIELD_MASK = (1 << BITS) - 1;

        static FieldBits of(Map<String, String> fields) {
            long bits = 0;
            long mask = 0;
            for (int i = 0; i < NAMES.size(); i++) {
                String value = fields.get(NAMES.get(i));
                if (value != null) {
                    bits |= (RowHash.ofText(value) & FIELD_MASK) << (i * BITS);
                    mask |= FIELD_MASK << (i * BITS);
                }
            }
            return new FieldBits(bits, mask);
        }
    }

    /**
     * Returns the fields that a row must have after the last event that changed it; null if such an event never changes
     * a row.
     */
    private static @Nullable Map<String, String> fieldsSetBy(Event event) {
        Map<String, String> fields = new LinkedHashMap<>();
        switch (event.change()) {
            case Change.Created created -> {
                fields.put("uuid", created.uuid().toString());
                if (created.handle() != null) {
                    // The event may have added the handle to an identity that was moved or merged before.
                    fields.put("handle", created.handle().text());
                } else {
                    fields.put("owner", created.owner().text());
                    fields.put("shard", created.shard().text());
                    fields.put("status", Row.Status.ACTIVE.name());
                }
            }
            case Change.Moved moved -> {
                fields.put("shard", moved.shard().text());
                if (moved.owner() != null) {
                    fields.put("owner", moved.owner().text());
                }
                fields.put("status", Row.Status.ACTIVE.name());
            }
            case Change.Merged merged -> {
                fields.put("status", Row.Status.MERGED.name());
                fields.put("mergedInto", merged.into().toString());
            }
            case Change.Deleted ignored -> fields.put("status", Row.Status.DELETED.name());
            case Change.Described ignored -> {
                return null;
            }
            case Change.Erased ignored -> {
                return null;
            }
        }
        return fields;
    }

    /** Reads registrations and their events again, and compares all fields. */
    private void compareExactly(List<Key> keys, Consumer<Difference> differences) {
        if (keys.isEmpty()) {
            return;
        }
        Map<Key, @Nullable Row> suspects = new HashMap<>();
        keys.forEach(key -> suspects.put(key, null));
        registry.reader().read(registrations, 0, record -> {
            Key key = Key.of(record.key());
            if (key != null && suspects.containsKey(key)) {
                suspects.put(key, row(record));
            }
        });
        Map<Position, Map<Key, Row>> rowsByPosition = new HashMap<>();
        Map<TopicPartition, TreeSet<Long>> offsets = new HashMap<>();
        suspects.forEach((key, row) -> {
            if (row != null) {
                Position position = row.position();
                rowsByPosition
                        .computeIfAbsent(position, none -> new HashMap<>())
                        .put(key, row);
                offsets.computeIfAbsent(
                                new TopicPartition(position.topic(), position.partition()), none -> new TreeSet<>())
                        .add(position.offset());
            }
        });
        FirstOffsets firstOffsets = new FirstOffsets();
        offsets.forEach((log, offsetsOfLog) -> {
            if (log.partition() < registry.reader().partitionCount(log.topic())) {
                // Compares each event as it is read: a batch of large events does not fit into memory.
                registry.reader().find(log, offsetsOfLog, record -> {
                    Map<Key, Row> found =
                            rowsByPosition.remove(new Position(record.topic(), record.partition(), record.offset()));
                    if (found != null) {
                        found.forEach((key, row) -> compare(key, row, record, firstOffsets, differences));
                    }
                });
            }
        });
        rowsByPosition
                .values()
                .forEach(missing -> missing.forEach((key, row) -> compare(key, row, null, firstOffsets, differences)));
    }

    private void compare(
            Key key,
            Row row,
            @Nullable ConsumerRecord<byte[], byte[]> record,
            FirstOffsets firstOffsets,
            Consumer<Difference> differences) {
        if (record == null) {
            if (firstOffsets.isExpired(row.position())) {
                expired++;
                rows--;
            } else {
                report(key, null, null, row, "the log has no event at " + row.position(), differences);
            }
            return;
        }
        byte[] keyOfEvent = record.key();
        String puri = keyOfEvent == null ? null : new String(keyOfEvent, StandardCharsets.UTF_8);
        if (keyOfEvent == null || !Key.ofPuri(keyOfEvent).equals(key)) {
            report(key, null, null, row, "the event at " + row.position() + " is of " + puri, differences);
            return;
        }
        Object event = record.value() == null ? new RecordDecoder.Unreadable("it has no value") : decode(record);
        if (!(event instanceof Event decoded)) {
            String why = event instanceof RecordDecoder.Unreadable unreadable ? unreadable.why() : "";
            report(key, puri, null, row, "the event at " + row.position() + " is unreadable: " + why, differences);
            return;
        }
        Map<String, String> expected = fieldsSetBy(decoded);
        if (expected == null) {
            String change = decoded.change().getClass().getSimpleName();
            report(key, puri, null, row, "the event at " + row.position() + " is " + change, differences);
            return;
        }
        expected.put("changedAt", decoded.occurredAt().toString());
        Map<String, String> found = Fields.of(row);
        found.keySet().retainAll(expected.keySet());
        if (!expected.equals(found)) {
            report(key, puri, expected, row, "the event is at " + row.position(), differences);
        }
    }

    private void report(
            Key key,
            @Nullable String puri,
            @Nullable Map<String, String> expected,
            Row row,
            String detail,
            Consumer<Difference> differences) {
        Map<String, String> found = Fields.withPosition(row);
        if (expected != null) {
            found.keySet().retainAll(expected.keySet());
        }
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

    private @Nullable Row row(ConsumerRecord<byte[], byte[]> record) {
        return record.value() == null
                ? null
                : IdentityLogs.Registrations.decode(registrations.topic(), record.value())
                        .row();
    }

    private Object decode(ConsumerRecord<byte[], byte[]> record) {
        try {
            Puri puri = RecordKey.puri(record.key());
            return registry.decoder().event(puri, record.value());
        } catch (IllegalArgumentException e) {
            return new RecordDecoder.Unreadable(String.valueOf(e.getMessage()));
        }
    }
}
