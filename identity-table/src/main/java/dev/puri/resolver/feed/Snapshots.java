package dev.puri.resolver.feed;

import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRefusedException;
import dev.puri.resolver.table.SnapshotRequirements;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.BrokerTopic.UnreachableException;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.TopicEnds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the table to disk and opens it, so that a start reads only later records. A snapshot that cannot be used is
 * set aside with a message, and the table is filled from the topic's beginning. So a damaged file costs time only.
 */
public final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String FILE = "identities.snapshot";

    /** Snapshots are due even if nothing changes: they are trusted only while the brokers keep tombstones. */
    private static final Duration LONGEST_UNCHANGED = Duration.ofDays(1);

    private static final Duration STOP = Duration.ofSeconds(20);

    /** A snapshot that cannot be written waits for the next interval; this is for failures beside the writing. */
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final @Nullable Path file;
    private final Duration interval;
    private final InstantSource clock;

    /**
     * @param folder that no other instance uses; null to write nothing
     * @param interval between two snapshots, if anything changed
     */
    public Snapshots(@Nullable Path folder, Duration interval, InstantSource clock) {
        this.file = folder == null ? null : folder.resolve(FILE);
        this.interval = interval;
        this.clock = clock;
    }

    /**
     * Opens the last snapshot if it can be trusted, else returns an empty table.
     *
     * @throws UnreachableException when the brokers do not answer now
     */
    PackedTable open(BrokerTopic topic, TopicEnds ends) {
        if (file == null || !Files.exists(file)) {
            return new PackedTable();
        }
        SnapshotRequirements terms;
        try {
            terms = new SnapshotRequirements(
                    ends.topicId(), topic.begins(ends), ends.byPartition(), topic.tombstonesKept(), clock.instant());
        } catch (UnreachableException e) {
            // A wait costs less than reading everything, but a missing permission may never be granted.
            if (!e.isForbidden()) {
                throw e;
            }
            log.warn("{} cannot be trusted, the table is filled from the beginning: {}", file, e.getMessage());
            return new PackedTable();
        }
        long begun = System.nanoTime();
        try {
            PackedTable table = PackedTable.open(file, terms);
            log.info(
                    "Opened {}: {} rows in {} ms, {} records to be read",
                    file,
                    table.rows(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun),
                    ends.lag(table::reached));
            return table;
        } catch (SnapshotRefusedException e) {
            setAside(file, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("{} has valid checksums and cannot be read", file, e);
            setAside(file, e.toString());
        } catch (IOException e) {
            log.warn("{} cannot be opened, the table is filled from the beginning: {}", file, e.toString());
        }
        return new PackedTable();
    }

    private static void setAside(Path file, String reason) {
        Path aside = aside(file);
        log.warn("{} is not used and set aside as {}, the table is filled anew: {}", file, aside, reason);
        try {
            Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            log.warn("{} cannot be set aside: {}", file, e.toString());
        }
    }

    private static Path aside(Path file) {
        return file.resolveSibling(file.getFileName() + ".refused");
    }

    /** The writer of a table's snapshots, which starts once the table is complete. */
    Writing of(PackedTable table, TopicEnds filledFrom) {
        return new Writing(table, filledFrom);
    }

    /** Writes the snapshots of one table in a thread of its own, and the last one at the close. */
    final class Writing implements AutoCloseable {
        private final PackedTable table;
        private final TopicEnds filledFrom;
        private final Stop stop = new Stop();
        private final SupervisedThread thread =
                new SupervisedThread("table-snapshots", stop, RETRY_POLICY, this::write, Writing::failed);

        /** The last time at which the table is known to have had everything; null before it was complete. */
        private volatile @Nullable ObservationTime asOf;

        /** End offsets that the table must reach before it is as of their time; used by one thread. */
        private @Nullable TopicEnds awaited;

        private Map<Integer, Long> written = Map.of();
        private Instant writtenAsOf = Instant.MIN;

        private Writing(PackedTable table, TopicEnds filledFrom) {
            this.table = table;
            this.filledFrom = filledFrom;
        }

        /**
         * Starts to write snapshots: the table is complete.
         *
         * @param at when the brokers reported the end offsets that it has reached
         */
        void complete(ObservationTime at) {
            asOf = at;
            if (file != null) {
                thread.start();
            }
        }

        /** The topic's ends at a later time, which the table may not have reached yet. */
        void observe(TopicEnds ends) {
            TopicEnds before = awaited;
            if (before == null || before.lag(table::reached) == 0) {
                if (before != null) {
                    asOf = before.at();
                }
                awaited = ends;
            }
        }

        /** The last time at which the table is known to have had everything; null before it was complete. */
        @Nullable
        ObservationTime asOf() {
            return asOf;
        }

        private void write() {
            // At once, then at each interval, and when the table is fed no more.
            do {
                writeChanged();
            } while (!stop.isAskedWithin(interval));
            writeChanged();
        }

        private static void failed(Throwable cause) {
            log.error("Snapshots of the table are not written for now", cause);
        }

        private void writeChanged() {
            Path to = file;
            ObservationTime complete = asOf;
            if (to == null || complete == null || isWritten(complete.wall())) {
                return;
            }
            Instant now = complete.wall();
            long begun = System.nanoTime();
            try {
                Files.createDirectories(to.toAbsolutePath().getParent());
                written = table.writeSnapshot(
                        to,
                        new SnapshotOrigin(
                                filledFrom.topicId(), filledFrom.byPartition().size(), now),
                        clock.instant());
                writtenAsOf = now;
                Files.deleteIfExists(aside(to));
                log.info(
                        "Wrote {}: {} rows in {} ms",
                        to,
                        table.rows(),
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
            } catch (IOException | RuntimeException | Error e) {
                log.warn("{} cannot be written; the snapshot before stays: {}", to, e.toString());
                log.debug("Why", e);
            }
        }

        private boolean isWritten(Instant now) {
            return !writtenAsOf.equals(Instant.MIN)
                    && Duration.between(writtenAsOf, now).compareTo(LONGEST_UNCHANGED) < 0
                    && written.entrySet().stream().allMatch(each -> table.reached(each.getKey()) == each.getValue())
                    && filledFrom.byPartition().keySet().stream()
                            .allMatch(partition -> written.containsKey(partition) || table.reached(partition) == 0);
        }

        /** Writes the last snapshot; the table must not be fed any more. Takes 20 s at most. */
        @Override
        public void close() {
            stop.ask();
            if (!thread.join(STOP)) {
                log.warn(
                        "The last snapshot of the table is not written within {} s; the one before stays",
                        STOP.toSeconds());
            }
        }
    }
}
