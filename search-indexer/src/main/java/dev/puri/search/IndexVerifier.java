package dev.puri.search;

import dev.puri.projection.PlainConsumers;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
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
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Compares the serving index with its topics, first the identities and then the documents:
 *
 * <pre>
 * read the topic to its end, keep a fingerprint of each name
 *      ─▶ wait until the index has these records ─▶ compare all names ─▶ for the names that differ:
 *      ┌─▶ read to the new end ─▶ wait for the index ─▶ compare again ─▶ read to the new end
 *      │                                                    │ no new record of the name: report the difference
 *      └──────────────────── a new record of the name ◀─────┘
 * </pre>
 *
 * Topic and index change meanwhile, so a difference is reported only if no record of the name was written during its
 * comparison. Takes about {@value #BYTES_PER_NAME} bytes of heap for each name of one kind.
 */
final class IndexVerifier {
    static final int BYTES_PER_NAME = 300;

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration INDEX_POLL_INTERVAL = Duration.ofMillis(20);

    /** The verification is aborted if neither topic nor index makes progress for this time. */
    private static final Duration MAX_STANDSTILL = Duration.ofSeconds(60);

    /** The maximum number of comparisons of a name that keeps changing. */
    private static final int MAX_ROUNDS = 10;

    private final Indexer indexer;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final ChangeDecoder decoder;
    private final long maxNames;
    private final BooleanSupplier mayContinue;
    private final Report report;
    private final Map<EntryKind, Long> nameCounts = new EnumMap<>(EntryKind.class);
    private long unsettledNames;

    /** Receives each difference. */
    interface Report {
        /**
         * Reports one difference.
         *
         * @param fields names of the fields that differ; empty unless both topic and index have an entry
         * @param indexed the entry of the index; null if there is none, or it was deleted meanwhile
         */
        void differs(Puri puri, EntryKind kind, Difference difference, List<String> fields, @Nullable Entry indexed);
    }

    /** The difference between an entry of the index and its topic. */
    enum Difference {
        /** The topic has the entry, and the index does not. */
        MISSING,
        /** The index has the entry, and the topic does not. */
        GHOST,
        /** Both have the entry, with different fields. */
        DIFFERS
    }

    /** The verification cannot be completed. The message says why. */
    static final class AbortedException extends Exception {
        private static final long serialVersionUID = 1L;

        AbortedException(String message) {
            super(message);
        }
    }

    /**
     * @param decoder decodes the records of both topics
     * @param maxNames the number of names of a topic above which the verification is aborted, because it keeps them in
     *     memory
     * @param mayContinue polled during the verification; false aborts it
     */
    IndexVerifier(
            Indexer indexer,
            Supplier<Consumer<byte[], byte[]>> consumers,
            ChangeDecoder decoder,
            long maxNames,
            BooleanSupplier mayContinue,
            Report report) {
        this.indexer = indexer;
        this.consumers = consumers;
        this.decoder = decoder;
        this.maxNames = maxNames;
        this.mayContinue = mayContinue;
        this.report = report;
    }

    /** Compares all entries of both kinds. */
    void run() throws AbortedException, IndexUnavailableException {
        for (EntryKind kind : EntryKind.values()) {
            Consumer<byte[], byte[]> consumer = consumers.get();
            try {
                new KindComparison(kind, consumer).run();
            } finally {
                PlainConsumers.close(consumer);
            }
        }
    }

    /** Returns the number of names in the topic of a kind; 0 before its comparison. */
    long comparedNames(EntryKind kind) {
        return nameCounts.getOrDefault(kind, 0L);
    }

    /** Returns the number of names that changed during each of their comparisons. */
    long unsettledNames() {
        return unsettledNames;
    }

    /** The comparison of the entries of one kind. */
    private final class KindComparison {
        private final EntryKind kind;
        private final Consumer<byte[], byte[]> consumer;
        private final List<TopicPartition> partitions;
        private final Map<Puri, Fingerprint> expectedFingerprints = new HashMap<>();

        KindComparison(EntryKind kind, Consumer<byte[], byte[]> consumer) {
            this.kind = kind;
            this.consumer = consumer;
            partitions = consumer.partitionsFor(kind.topic(), REQUEST_TIMEOUT).stream()
                    .map(info -> new TopicPartition(kind.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
        }

        void run() throws AbortedException, IndexUnavailableException {
            readToEnd(puri -> true);
            nameCounts.put(kind, (long) expectedFingerprints.size());
            awaitIndex();
            Set<Puri> differingNames = compareAll();
            for (int round = 0; round < MAX_ROUNDS && !differingNames.isEmpty(); round++) {
                Set<Puri> checkedNames = differingNames;
                readToEnd(checkedNames::contains);
                awaitIndex();
                Map<Puri, @Nullable Fingerprint> differences = compare(checkedNames);
                Set<Puri> changedNames = new HashSet<>();
                readToEnd(puri -> {
                    if (differences.containsKey(puri)) {
                        changedNames.add(puri);
                    }
                    return checkedNames.contains(puri);
                });
                differingNames = changedNames;
                for (Map.Entry<Puri, @Nullable Fingerprint> difference : differences.entrySet()) {
                    if (!changedNames.contains(difference.getKey())) {
                        reportDifference(difference.getKey(), difference.getValue());
                    }
                }
            }
            unsettledNames += differingNames.size();
        }

        /** Reads the topic to its current end and keeps the fingerprints of the selected names. */
        private void readToEnd(Predicate<Puri> isSelected) throws AbortedException {
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, REQUEST_TIMEOUT);
            long lastProgressNanos = System.nanoTime();
            while (!hasReached(ends)) {
                requireProgress(lastProgressNanos, "the topic " + kind.topic() + " cannot be read further");
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
                    lastProgressNanos = System.nanoTime();
                    ChangeDecoder.DecodedRecord decodedRecord =
                            decoder.decode(record, partitions.size(), lastProgressNanos);
                    if (decodedRecord != null
                            && isSelected.test(decodedRecord.change().puri())) {
                        Entry entry = decodedRecord.change().entry();
                        if (entry == null) {
                            expectedFingerprints.remove(decodedRecord.change().puri());
                        } else {
                            expectedFingerprints.put(decodedRecord.change().puri(), Fingerprint.of(entry));
                            requireMemory();
                        }
                    }
                }
            }
        }

        private void requireMemory() throws AbortedException {
            if (expectedFingerprints.size() > maxNames) {
                throw new AbortedException("the topic " + kind.topic() + " has more than " + maxNames
                        + " names, which do not fit into half of the heap of this process");
            }
        }

        private boolean hasReached(Map<TopicPartition, Long> ends) {
            return ends.entrySet().stream()
                    .allMatch(end -> consumer.position(end.getKey(), REQUEST_TIMEOUT) >= end.getValue());
        }

        /** Waits until readers of the index see all records that were read from the topic. */
        private void awaitIndex() throws AbortedException {
            Map<TopicPartition, Long> positions = new HashMap<>();
            partitions.forEach(partition -> positions.put(partition, consumer.position(partition, REQUEST_TIMEOUT)));
            NextOffsets target = new NextOffsets(positions);
            NextOffsets lastVisible = indexer.visibleOffsets();
            long lastProgressNanos = System.nanoTime();
            while (!indexer.visibleOffsets().hasReached(target)) {
                requireProgress(
                        lastProgressNanos,
                        "the index is not updated: " + indexer.health().waitReason());
                LockSupport.parkNanos(INDEX_POLL_INTERVAL.toNanos());
                lastProgressNanos =
                        indexer.visibleOffsets().equals(lastVisible) ? lastProgressNanos : System.nanoTime();
                lastVisible = indexer.visibleOffsets();
            }
        }

        private void requireProgress(long lastProgressNanos, String reason) throws AbortedException {
            if (!mayContinue.getAsBoolean()) {
                throw new AbortedException("the verification was cancelled");
            }
            if (System.nanoTime() - lastProgressNanos > MAX_STANDSTILL.toNanos()) {
                throw new AbortedException(reason);
            }
        }

        /** Compares all names, and returns those that differ. Forgets the fingerprints of the others. */
        private Set<Puri> compareAll() throws AbortedException, IndexUnavailableException {
            Set<Puri> differingNames = new HashSet<>();
            try (ServingIndex serving = acquire()) {
                serving.index().forEach(kind, (puri, entry) -> {
                    if (!Fingerprint.of(entry).equals(expectedFingerprints.get(puri))) {
                        differingNames.add(puri);
                    } else {
                        expectedFingerprints.remove(puri);
                    }
                });
            }
            differingNames.addAll(expectedFingerprints.keySet());
            return differingNames;
        }

        /** Compares these names, and returns those that differ, with the fingerprints of their entries in the index. */
        private Map<Puri, @Nullable Fingerprint> compare(Collection<Puri> names)
                throws AbortedException, IndexUnavailableException {
            Map<Puri, @Nullable Fingerprint> differences = new HashMap<>();
            try (ServingIndex serving = acquire()) {
                for (Puri puri : names) {
                    Entry entry = serving.index().entry(kind, puri);
                    Fingerprint actual = entry == null ? null : Fingerprint.of(entry);
                    Fingerprint expected = expectedFingerprints.get(puri);
                    if (actual == null ? expected != null : !actual.equals(expected)) {
                        differences.put(puri, actual);
                    }
                }
            }
            return differences;
        }

        private void reportDifference(Puri puri, @Nullable Fingerprint actual)
                throws AbortedException, IndexUnavailableException {
            Entry indexed = actual == null ? null : entry(puri);
            Fingerprint expected = expectedFingerprints.get(puri);
            if (actual == null) {
                report.differs(puri, kind, Difference.MISSING, List.of(), indexed);
            } else if (expected == null) {
                report.differs(puri, kind, Difference.GHOST, List.of(), indexed);
            } else {
                report.differs(puri, kind, Difference.DIFFERS, expected.differingFields(actual), indexed);
            }
        }

        private @Nullable Entry entry(Puri puri) throws AbortedException, IndexUnavailableException {
            try (ServingIndex serving = acquire()) {
                return serving.index().entry(kind, puri);
            }
        }

        private ServingIndex acquire() throws AbortedException {
            ServingIndex serving = indexer.acquire();
            if (serving == null) {
                throw new AbortedException(
                        "no index serves: " + indexer.health().waitReason());
            }
            return serving;
        }
    }
}
