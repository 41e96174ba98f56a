package dev.puri.projection;

import dev.puri.schemas.log.PartitionDigest;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a copy of a topic agrees with the registrar, by partition. Two checks feed it:
 *
 * <ul> <li>The comparison: the digest that the copy keeps must equal the digest that the registrar published, at the
 * offset of the published digest. The result of the last comparison counts. <li>The scrub: the digest of the stored
 * rows must equal the digest that the copy keeps, and index entries must lead to their rows. The result of the last
 * scrub counts.
 * </ul>
 *
 * <pre>
 * unchecked ──equal──▶ equal ◀──equal──┐
 *     │                  │             │
 *     └────differs───────┴─differs─▶ differs
 * </pre>
 *
 * A partition differs if one of the checks found a difference. The class logs each transition to or from {@code
 * differs}, and when the digests of a partition have long been too old to be compared. A rebuilt copy gets a new
 * instance. Thread-safe.
 */
public final class DigestCheck {
    /**
     * The maximum age of a published digest that is compared. A copy that reads an older digest may lack records before
     * it, which compaction removed because later records superseded them. Compaction leaves the records of the last
     * five minutes.
     */
    public static final Duration MAX_AGE = Duration.ofMinutes(1);

    /**
     * The time without a comparison of a partition after which an old digest is logged. The registrar publishes digests
     * every minute, and a copy that is filled or lags reads old digests for some time.
     */
    static final Duration MAX_TIME_UNCHECKED = Duration.ofMinutes(10);

    private static final Logger log = LoggerFactory.getLogger(DigestCheck.class);

    private final String topic;
    private final String advice;
    private final Map<Integer, Long> firstComparable;
    private final InstantSource clock;
    private final Instant createdAt;
    private final SortedMap<Integer, Partition> partitions = new TreeMap<>();

    /** Whether an old digest was logged since each partition was compared. */
    private boolean hasLoggedOldDigest;

    /** The state of a partition. */
    public enum State {
        /** No comparable digest was read since the copy was opened, and the scrub found no difference. */
        UNCHECKED,
        /** The copy was equal at the last comparison. */
        EQUAL,
        /** The copy differs from the registrar, or its stored rows differ from its digest. */
        DIFFERS;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The results of both checks.
     *
     * @param compared the digest of the copy at the last comparison; null if none was compared
     * @param comparedAt the time of the comparison; null if none was compared
     * @param difference describes the difference that the last comparison found; null if there was none
     * @param storedDifference describes the difference that the last scrub found; null if there was none
     */
    private record Partition(
            @Nullable DigestAtOffset compared,
            @Nullable Instant comparedAt,
            @Nullable String difference,
            @Nullable String storedDifference) {
        static final Partition UNCHECKED = new Partition(null, null, null, null);

        State state() {
            if (detail() != null) {
                return State.DIFFERS;
            }
            return comparedAt == null ? State.UNCHECKED : State.EQUAL;
        }

        @Nullable
        String detail() {
            return difference != null ? difference : storedDifference;
        }

        Partition withStoredDifference(@Nullable String newDifference) {
            return new Partition(compared, comparedAt, difference, newDifference);
        }
    }

    /**
     * @param topic the topic, named in reasons
     * @param advice what an operator must do if the copy differs; the end of a sentence in reasons
     * @param firstComparable maps each partition of the topic to the first offset whose digest may be compared. A copy
     *     that was opened from a file may already have changes of later records than its next offset says, so a digest
     *     between them would differ. 0 for a copy that was filled from the beginning of the topic
     */
    public DigestCheck(String topic, String advice, Map<Integer, Long> firstComparable, InstantSource clock) {
        this.topic = topic;
        this.advice = advice;
        this.firstComparable = Map.copyOf(firstComparable);
        this.clock = clock;
        createdAt = clock.instant();
    }

    /**
     * Registers the metrics {@code puri.digest.differing} and {@code puri.digest.unchecked.seconds} of a topic. The
     * copy, and so its check, may be replaced.
     *
     * @return the metrics by partition, of the digests that the copy had at its last comparisons. The caller registers
     *     them when it knows the number of partitions
     */
    public static DigestMeters meter(String topic, Supplier<@Nullable DigestCheck> check, MeterRegistry meters) {
        Gauge.builder("puri.digest.differing", () -> {
                    DigestCheck current = check.get();
                    return current == null ? 0 : current.differing();
                })
                .description("Partitions of this copy that differ from the registrar")
                .tag("topic", topic)
                .strongReference(true)
                .register(meters);
        Gauge.builder("puri.digest.unchecked.seconds", () -> {
                    DigestCheck current = check.get();
                    return current == null
                            ? Double.NaN
                            : current.timeUnchecked().toMillis() / 1000.0;
                })
                .description("Time since the last comparison with the registrar, or since the copy was opened, of the"
                        + " partition for which it is longest; NaN before the copy is complete")
                .tag("topic", topic)
                .strongReference(true)
                .register(meters);
        return new DigestMeters(
                topic,
                partition -> {
                    DigestCheck current = check.get();
                    return current == null ? null : current.compared(partition);
                },
                meters);
    }

    /**
     * Returns the longest time of a partition without a comparison. The registrar publishes the digest of each
     * partition every minute, even if the partition has no rows and does not change.
     */
    synchronized Duration timeUnchecked() {
        return firstComparable.keySet().stream()
                .map(this::timeUnchecked)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** Returns the time since a partition was compared, or since this check was created. */
    public synchronized Duration timeUnchecked(int partition) {
        Instant comparedAt = partition(partition).comparedAt();
        return Duration.between(comparedAt == null ? createdAt : comparedAt, clock.instant());
    }

    /**
     * Returns whether a published digest can be compared: it is fresh, and the copy has no changes of later records.
     * Logs once if no digest of a partition has been fresh for {@link #MAX_TIME_UNCHECKED}.
     *
     * @param offset the offset of the record that published the digest
     * @param timestampMillis the record's timestamp, in milliseconds since 1970
     */
    public boolean isComparable(int partition, long offset, long timestampMillis) {
        Duration age = Duration.ofMillis(clock.millis() - timestampMillis);
        if (age.compareTo(MAX_AGE) <= 0) {
            return offset >= firstComparable.getOrDefault(partition, 0L);
        }
        if (mustLogOldDigest(partition)) {
            log.warn(
                    "This copy of partition {} of {} has not been compared with the registrar for {} s, because its"
                            + " digests are older than {} s when they are read; the last one, at offset {}, is {} s old."
                            + " The clock of this machine is ahead of the registrar's, or the copy lags. Synchronize"
                            + " the clocks of both machines (NTP), and look at the lag",
                    partition,
                    topic,
                    timeUnchecked(partition).toSeconds(),
                    MAX_AGE.toSeconds(),
                    offset,
                    age.toSeconds());
        }
        return false;
    }

    /**
     * Returns true for the first partition that has not been compared for {@link #MAX_TIME_UNCHECKED}. Usually all
     * partitions have the same cause.
     */
    synchronized boolean mustLogOldDigest(int partition) {
        if (hasLoggedOldDigest || timeUnchecked(partition).compareTo(MAX_TIME_UNCHECKED) <= 0) {
            return false;
        }
        hasLoggedOldDigest = true;
        return true;
    }

    /**
     * Compares a published digest with that of the copy. The caller has checked {@link #isComparable}, when it read the
     * record.
     *
     * @param offset the offset of the record that published the digest
     * @param own the digest of the copy, with exactly the records before the offset
     */
    public synchronized State compare(int partition, long offset, PartitionDigest published, PartitionDigest own) {
        String difference = own.equals(published)
                ? null
                : name(partition) + " differs from the registrar at offset " + offset + ": "
                        + (own.rows() == published.rows()
                                ? own.rows() + " rows in both, but the digests are " + own + " and " + published
                                : own.rows() + " rows, the registrar has " + published.rows() + " rows")
                        + "; " + advice;
        Partition old = partition(partition);
        DigestAtOffset compared = new DigestAtOffset(offset, own);
        State state = put(partition, old, new Partition(compared, clock.instant(), difference, old.storedDifference()));
        hasLoggedOldDigest &= timeUnchecked().compareTo(MAX_TIME_UNCHECKED) > 0;
        return state;
    }

    /**
     * Notes that the stored rows of a partition differ from the digest that the copy keeps.
     *
     * @param where names the part of the copy
     */
    public synchronized State storedRowsDiffer(int partition, String where) {
        return noteStoredDifference(
                partition, "the stored rows of " + name(partition) + " differ from their digest in " + where);
    }

    /**
     * Notes that an index entry points to a row of another partition.
     *
     * @param where names the part of the index
     */
    public synchronized State indexEntryDiffers(int partition, String where) {
        return noteStoredDifference(
                partition, "an entry in " + where + " does not belong to its row, which is in " + name(partition));
    }

    private State noteStoredDifference(int partition, String what) {
        Partition old = partition(partition);
        String difference = what + ": memory or file is damaged; " + advice;
        return put(partition, old, old.withStoredDifference(difference));
    }

    /** Notes that the scrub found no difference in a partition. */
    public synchronized State storedRowsAgree(int partition) {
        Partition old = partition(partition);
        return put(partition, old, old.withStoredDifference(null));
    }

    private State put(int partition, Partition old, Partition changed) {
        partitions.put(partition, changed);
        String detail = changed.detail();
        if (detail != null && old.detail() == null) {
            log.error("This copy is wrong: {}", detail);
        } else if (detail == null && old.detail() != null) {
            log.info("{} agrees with the registrar again", name(partition));
        }
        return changed.state();
    }

    private String name(int partition) {
        return "partition " + partition + " of " + topic;
    }

    private Partition partition(int partition) {
        return partitions.getOrDefault(partition, Partition.UNCHECKED);
    }

    /** Returns the state of a partition. */
    public synchronized State state(int partition) {
        return partition(partition).state();
    }

    /** Returns the digest that the copy had at the last comparison of a partition; null if none was compared. */
    synchronized @Nullable DigestAtOffset compared(int partition) {
        return partition(partition).compared();
    }

    /** Returns the number of partitions that differ. */
    public synchronized int differing() {
        return (int) partitions.values().stream()
                .filter(partition -> partition.state() == State.DIFFERS)
                .count();
    }

    /** Returns whether any partition differs. Then the copy must not be stored. */
    public boolean isDiffering() {
        return differing() > 0;
    }

    /** Returns which partition differs, as text for people; null if none does. Names the first of several. */
    public synchronized @Nullable String reason() {
        String first = null;
        int count = 0;
        for (Partition partition : partitions.values()) {
            String detail = partition.detail();
            if (detail != null) {
                first = count == 0 ? detail : first;
                count++;
            }
        }
        return count > 1 ? first + " (and " + (count - 1) + " more partitions)" : first;
    }

    /**
     * Returns the JSON object of a partition in the response of {@code GET /v1/digest}.
     *
     * @param nextOffset the offset that the copy reads next
     * @param own the digest of the copy
     */
    public synchronized Map<String, Object> toJson(int partition, long nextOffset, PartitionDigest own) {
        Partition current = partition(partition);
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("partition", partition);
        json.put("nextOffset", nextOffset);
        json.put("rows", own.rows());
        json.put("digest", own.toString());
        json.put("state", current.state().toString());
        DigestAtOffset compared = current.compared();
        Instant comparedAt = current.comparedAt();
        if (compared != null && comparedAt != null) {
            json.put("comparedOffset", compared.offset());
            json.put("comparedAt", comparedAt.toString());
        }
        String detail = current.detail();
        if (detail != null) {
            json.put("detail", detail);
        }
        return json;
    }

    /** Returns the JSON object of a topic in the response of {@code GET /v1/digest}. */
    public static Map<String, Object> topicJson(String topic, List<Map<String, Object>> partitions) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", topic);
        json.put("partitions", partitions);
        return json;
    }
}
