package dev.puri.search;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares the index that answers with its topics, one kind after the other:
 *
 * <pre>
 * read the topic to its end, a fingerprint for each name
 *      ─▶ wait until the index is there ─▶ compare all ─▶ those that are not the same:
 *      ┌─▶ read on to the end ─▶ wait ─▶ compare again ─▶ read on: nothing new of this name? it differs
 *      └──────────────────────────────── something new ◀──┘
 * </pre>
 *
 * Both go on meanwhile, so a name is only told when nothing was written of it from before it was compared
 * until after. Some {@value #BYTES_A_NAME} bytes of heap a name, of one kind at a time.
 */
final class Verification {
    static final int BYTES_A_NAME = 300;

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LOOK = Duration.ofMillis(20);

    /** How long neither the topic nor the index may get any farther. */
    private static final Duration LONGEST_STANDSTILL = Duration.ofSeconds(60);

    private static final int ROUNDS = 10;

    private final Indexer indexer;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final ChangeReader reader;
    private final BooleanSupplier goesOn;
    private final Report report;
    private final Map<EntryKind, Long> compared = new EnumMap<>(EntryKind.class);
    private long unsettled;

    /** Told of every difference. */
    interface Report {
        /**
         * @param fields those that differ; empty for the others
         */
        void differs(Puri puri, EntryKind kind, Difference difference, List<String> fields);
    }

    /** How an entry of the index is not what its topic says. */
    enum Difference {
        /** The topic has it and the index does not. */
        MISSING,
        /** The index has it and the topic does not. */
        GHOST,
        DIFFERS
    }

    /** It cannot be told now. The message says why. */
    static final class BrokenOffException extends Exception {
        private static final long serialVersionUID = 1L;

        BrokenOffException(String message) {
            super(message);
        }
    }

    /**
     * @param goesOn asked now and then; false ends it
     */
    Verification(
            Indexer indexer,
            Supplier<Consumer<byte[], byte[]>> consumers,
            ChangeReader reader,
            BooleanSupplier goesOn,
            Report report) {
        this.indexer = indexer;
        this.consumers = consumers;
        this.reader = reader;
        this.goesOn = goesOn;
        this.report = report;
    }

    /** Compares all. */
    void run() throws BrokenOffException, IndexUnavailableException {
        for (EntryKind kind : EntryKind.values()) {
            Consumer<byte[], byte[]> consumer = consumers.get();
            try {
                new OfKind(kind, consumer).run();
            } finally {
                consumer.close(CloseOptions.timeout(POLL));
            }
        }
    }

    /** How many names the topic of a kind has. */
    long compared(EntryKind kind) {
        return compared.getOrDefault(kind, 0L);
    }

    /** Names of which news came whenever they were compared. */
    long unsettled() {
        return unsettled;
    }

    private final class OfKind {
        private final EntryKind kind;
        private final Consumer<byte[], byte[]> consumer;
        private final List<TopicPartition> partitions;
        private final Map<Puri, Fingerprint> truth = new HashMap<>();

        OfKind(EntryKind kind, Consumer<byte[], byte[]> consumer) {
            this.kind = kind;
            this.consumer = consumer;
            partitions = consumer.partitionsFor(kind.topic(), PATIENCE).stream()
                    .map(info -> new TopicPartition(kind.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
        }

        void run() throws BrokenOffException, IndexUnavailableException {
            readOn(puri -> true);
            compared.put(kind, (long) truth.size());
            awaitIndex();
            Set<Puri> open = compareAll();
            for (int round = 0; round < ROUNDS && !open.isEmpty(); round++) {
                Set<Puri> of = open;
                readOn(of::contains);
                awaitIndex();
                Map<Puri, @Nullable Fingerprint> different = compare(of);
                Set<Puri> anew = new HashSet<>();
                readOn(puri -> {
                    if (different.containsKey(puri)) {
                        anew.add(puri);
                    }
                    return of.contains(puri);
                });
                open = anew;
                for (Map.Entry<Puri, @Nullable Fingerprint> each : different.entrySet()) {
                    if (!anew.contains(each.getKey())) {
                        tell(each.getKey(), each.getValue());
                    }
                }
            }
            unsettled += open.size();
        }

        /** Takes what there is of the names that are asked for, up to the end that the topic has now. */
        private void readOn(Predicate<Puri> wanted) throws BrokenOffException {
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, PATIENCE);
            long progress = System.nanoTime();
            while (!hasReached(ends)) {
                requireGoingOn(progress, "the topic " + kind.topic() + " is not read any farther");
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    progress = System.nanoTime();
                    ChangeReader.Read read = reader.read(record, progress);
                    if (read != null && wanted.test(read.change().puri())) {
                        Entry entry = read.change().entry();
                        if (entry == null) {
                            truth.remove(read.change().puri());
                        } else {
                            truth.put(read.change().puri(), Fingerprint.of(entry));
                        }
                    }
                }
            }
        }

        private boolean hasReached(Map<TopicPartition, Long> ends) {
            return ends.entrySet().stream()
                    .allMatch(end -> consumer.position(end.getKey(), PATIENCE) >= end.getValue());
        }

        /** Until readers of the index see all that was read of the topic. */
        private void awaitIndex() throws BrokenOffException {
            Map<TopicPartition, Long> read = new HashMap<>();
            partitions.forEach(partition -> read.put(partition, consumer.position(partition, PATIENCE)));
            NextOffsets wanted = new NextOffsets(read);
            NextOffsets before = indexer.seen();
            long progress = System.nanoTime();
            while (!indexer.seen().hasReached(wanted)) {
                requireGoingOn(progress, "the index is not fed: " + indexer.progress());
                LockSupport.parkNanos(LOOK.toNanos());
                progress = indexer.seen().equals(before) ? progress : System.nanoTime();
                before = indexer.seen();
            }
        }

        private void requireGoingOn(long progress, String what) throws BrokenOffException {
            if (!goesOn.getAsBoolean()) {
                throw new BrokenOffException("it was given up");
            }
            if (System.nanoTime() - progress > LONGEST_STANDSTILL.toNanos()) {
                throw new BrokenOffException(what);
            }
        }

        /** Those that are not the same, for the first look. */
        private Set<Puri> compareAll() throws BrokenOffException, IndexUnavailableException {
            Set<Puri> open = new HashSet<>();
            ServingIndex served = acquire();
            try {
                served.index().forEach(kind, (puri, entry) -> {
                    if (!Fingerprint.of(entry).equals(truth.get(puri))) {
                        open.add(puri);
                    } else {
                        truth.remove(puri);
                    }
                });
            } finally {
                served.release();
            }
            open.addAll(truth.keySet());
            return open;
        }

        /** Those that are still not the same, with what the index has of them. */
        private Map<Puri, @Nullable Fingerprint> compare(Collection<Puri> names)
                throws BrokenOffException, IndexUnavailableException {
            Map<Puri, @Nullable Fingerprint> different = new HashMap<>();
            ServingIndex served = acquire();
            try {
                for (Puri puri : names) {
                    Entry entry = served.index().entry(kind, puri);
                    Fingerprint there = entry == null ? null : Fingerprint.of(entry);
                    Fingerprint wanted = truth.get(puri);
                    if (there == null ? wanted != null : !there.equals(wanted)) {
                        different.put(puri, there);
                    }
                }
            } finally {
                served.release();
            }
            return different;
        }

        private void tell(Puri puri, @Nullable Fingerprint there) {
            Fingerprint wanted = truth.get(puri);
            if (there == null) {
                report.differs(puri, kind, Difference.MISSING, List.of());
            } else if (wanted == null) {
                report.differs(puri, kind, Difference.GHOST, List.of());
            } else {
                report.differs(puri, kind, Difference.DIFFERS, wanted.differences(there));
            }
        }

        private ServingIndex acquire() throws BrokenOffException {
            ServingIndex served = indexer.acquire();
            if (served == null) {
                throw new BrokenOffException("no index answers: " + indexer.progress());
            }
            return served;
        }
    }
}
