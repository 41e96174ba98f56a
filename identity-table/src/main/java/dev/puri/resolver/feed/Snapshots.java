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
 * The table on disk, so that the next start reads only what came since. A snapshot that does not fit is
 * set aside with a message, and the table is filled from the topic's beginning; so whatever happens
 * to the file costs time and nothing else.
 */
public final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String FILE = "identities.snapshot";

    /** Even where nothing changes: a snapshot is trusted only while tombstones are kept. */
    private static final Duration LONGEST_UNCHANGED = Duration.ofDays(1);

    private static final Duration STOP = Duration.ofSeconds(20);

    /** A snapshot that cannot be written waits for the next interval; this is for failures beside the writing. */
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final @Nullable Path file;
    private final Duration interval;
    private final InstantSource clock;

    /**
     * @param folder of this instance alone; null to keep nothing
     * @param interval how often the table is written anew, if anything changed
     */
    public Snapshots(@Nullable Path folder, Duration interval, InstantSource clock) {
        this.file = folder == null ? null : folder.resolve(FILE);
        this.interval = interval;
        this.clock = clock;
    }

    /**
     * The table of the last snapshot if that can be trusted, else an empty one.
     *
     * @throws UnreachableException when it cannot be told for now
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
            // To wait costs less than to read everything; but an ACL may never come.
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
            log.error("{} has right checksums and cannot be read", file, e);
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

    /** Begins to keep a table's snapshots, once it is complete. */
    Writing of(PackedTable table, TopicEnds filledFrom) {
        return new Writing(table, filledFrom);
    }

    /** Writes one table's snapshots in a thread of its own, and the last when closed. */
    final class Writing implements AutoCloseable {
        private final PackedTable table;
        private final TopicEnds filledFrom;
        private final Stop stop = new Stop();
        private final SupervisedThread thread =
                new SupervisedThread("table-snapshots", stop, RETRY_POLICY, this::write, Writing::failed);

        /** A moment at which the table had all; null before it was complete. */
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
         * The table has all that it had to be filled with.
         *
         * @param at when that was seen
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

        /** The last moment of which it is known that the table had all; null before it was complete. */
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
            log.error("The table's snapshots are not written for now", cause);
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
                        new SnapshotOrigin(filledFrom.topicId(), filledFrom.byPartition().size(), now),
                        clock.instant());
                writtenAsOf = now;
                Files.deleteIfExists(aside(to));
                log.info(
                        "Wrote {}: {} rows in {} ms",
                        to,
                        table.rows(),
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
            } catch (IOException | RuntimeException | Error e) {
                log.warn("{} cannot be written, what was there before stays: {}", to, e.toString());
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

        /** Writes what is not written yet; the table must be fed no more. Takes 20 s at most. */
        @Override
        public void close() {
            stop.ask();
            if (!thread.join(STOP)) {
                log.warn(
                        "The table's last snapshot is not written within {} s, the one before stays", STOP.toSeconds());
            }
        }
    }
}
