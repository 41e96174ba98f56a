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
 * Compares the serving index with its topics, one kind after the other:
 *
 * <pre>
 * read the topic to its end, a fingerprint for each name
 *      ─▶ wait for the index to get there ─▶ compare all ─▶ for names that differ:
 *      ┌─▶ read on to the end ─▶ wait ─▶ compare again ─▶ read on: no new record of the name? it differs
 *      └──────────────────────────────── a new record ◀───┘
 * </pre>
 *
 * Both change meanwhile, so a difference is reported only if no record of the name was written during its comparison.
 * Takes some {@value #BYTES_A_NAME} bytes of heap a name, of one kind at a time.
 */
final class Verification {
    static final int BYTES_A_NAME = 300;

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration POLL_INDEX = Duration.ofMillis(20);

    /** How long neither topic nor index may make progress. */
    private static final Duration LONGEST_STANDSTILL = Duration.ofSeconds(60);

    private static final int ROUNDS = 10;

    private final Indexer indexer;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final ChangeReader reader;
    private final BooleanSupplier goesOn;
    private final Report report;
    private final Map<EntryKind, Long> compared = new EnumMap<>(EntryKind.class);
    private long unsettled;

    /** Receives each difference. */
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

    /** The comparison cannot be completed. The message says why. */
    static final class BrokenOffException extends Exception {
        private static final long serialVersionUID = 1L;

        BrokenOffException(String message) {
            super(message);
        }
    }

    /**
     * @param goesOn checked now and then; false ends the comparison
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

    /** Names that changed during each of their comparisons. */
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
            partitions = consumer.partitionsFor(kind.topic(), REQUEST_TIMEOUT).stream()
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
                Set<Puri> changed = new HashSet<>();
                readOn(puri -> {
                    if (different.containsKey(puri)) {
                        changed.add(puri);
                    }
                    return of.contains(puri);
                });
                open = changed;
                for (Map.Entry<Puri, @Nullable Fingerprint> each : different.entrySet()) {
                    if (!changed.contains(each.getKey())) {
                        tell(each.getKey(), each.getValue());
                    }
                }
            }
            unsettled += open.size();
        }

        /** Reads the records of wanted names, up to the current end of the topic. */
        private void readOn(Predicate<Puri> wanted) throws BrokenOffException {
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, REQUEST_TIMEOUT);
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
                    .allMatch(end -> consumer.position(end.getKey(), REQUEST_TIMEOUT) >= end.getValue());
        }

        /** Waits until readers of the index see everything that was read of the topic. */
        private void awaitIndex() throws BrokenOffException {
            Map<TopicPartition, Long> read = new HashMap<>();
            partitions.forEach(partition -> read.put(partition, consumer.position(partition, REQUEST_TIMEOUT)));
            NextOffsets wanted = new NextOffsets(read);
            NextOffsets before = indexer.seen();
            long progress = System.nanoTime();
            while (!indexer.seen().hasReached(wanted)) {
                requireGoingOn(
                        progress, "the index is not fed: " + indexer.health().progress());
                LockSupport.parkNanos(POLL_INDEX.toNanos());
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

        /** The names that differ in the first comparison. */
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

        /** The names that still differ, with the fingerprints of their entries in the index. */
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
                throw new BrokenOffException(
                        "no index answers: " + indexer.health().progress());
            }
            return served;
        }
    }
}
