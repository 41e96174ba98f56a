package dev.puri.resolver.feed;

import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.TopicAdmin.TopicUnavailableException;
import dev.puri.projection.TopicEnds;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRefusedException;
import dev.puri.resolver.table.SnapshotRequirements;
import dev.puri.schemas.log.PartitionDigest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the table to a snapshot file and opens it at the next start, so that the start reads only later records from
 * the topic. If the file cannot be used, this class renames it, logs the reason, and returns an empty table, which is
 * then filled from the beginning of the topic.
 */
public final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String FILE = "identities.snapshot";

    /**
     * The interval at which an unchanged table is written again. A snapshot is only used while the brokers keep the
     * tombstones that it may lack, so its time must stay recent.
     */
    private static final Duration MAX_INTERVAL = Duration.ofDays(1);

    /**
     * The maximum number of offsets, over all partitions, by which a table with the rows of the last snapshot may be
     * ahead of it. Digests and refusals advance offsets without a change of rows. A start reads so many records in less
     * than a second.
     */
    static final long MAX_UNWRITTEN_OFFSETS = 100_000;

    /** The maximum time to wait for the last snapshot. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

    /** The pause after a failure outside the writing. A failed write is tried again at the next interval. */
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final @Nullable Path file;
    private final Duration interval;
    private final InstantSource clock;

    /**
     * @param folder a folder that no other instance uses; null for no snapshots
     * @param interval the time between two snapshots if the table changed
     */
    public Snapshots(@Nullable Path folder, Duration interval, InstantSource clock) {
        this.file = folder == null ? null : fileIn(folder);
        this.interval = interval;
        this.clock = clock;
    }

    /** Returns the snapshot file in the folder of an instance. */
    public static Path fileIn(Path folder) {
        return folder.resolve(FILE);
    }

    /**
     * Returns a table with the rows of the last snapshot, or an empty table if the snapshot cannot be used.
     *
     * @throws TopicUnavailableException if the brokers do not respond
     */
    PackedTable open(TopicAdmin topic, TopicEnds ends) {
        if (file == null || !Files.exists(file)) {
            return new PackedTable();
        }
        SnapshotRequirements requirements;
        try {
            requirements = new SnapshotRequirements(
                    ends.topicId(),
                    topic.beginningOffsets(ends),
                    ends.byPartition(),
                    topic.tombstoneRetention(),
                    clock.instant());
        } catch (TopicUnavailableException e) {
            // The caller retries, which costs less than reading the whole topic. But a missing permission may never be
            // granted.
            if (!e.isForbidden()) {
                throw e;
            }
            log.warn(
                    "{} cannot be checked, the table is filled from the beginning of the topic: {}",
                    file,
                    e.getMessage());
            return new PackedTable();
        }
        long startNanos = System.nanoTime();
        try {
            PackedTable table = PackedTable.open(file, requirements);
            log.info(
                    "Opened {}: {} rows in {} ms, {} records to be read",
                    file,
                    table.rows(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos),
                    ends.lag(table::nextOffset));
            return table;
        } catch (SnapshotRefusedException e) {
            rename(file, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("{} has valid checksums but cannot be read", file, e);
            rename(file, e.toString());
        } catch (IOException e) {
            log.warn(
                    "{} cannot be opened, the table is filled from the beginning of the topic: {}", file, e.toString());
        }
        return new PackedTable();
    }

    private static void rename(Path file, String reason) {
        Path renamedFile = renamedFile(file);
        log.warn(
                "{} cannot be used and is renamed to {}, the table is filled from the beginning of the topic: {}",
                file,
                renamedFile,
                reason);
        try {
            Files.move(file, renamedFile, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            log.warn("{} cannot be renamed: {}", file, e.toString());
        }
    }

    private static Path renamedFile(Path file) {
        return file.resolveSibling(file.getFileName() + ".refused");
    }

    /**
     * Creates the writer of a table's snapshots. It starts when the table is complete, and writes no snapshot while the
     * table differs from the registrar.
     */
    SnapshotWriting writerOf(FedTable fed) {
        return new SnapshotWriting(fed);
    }

    /** Writes the snapshots of one table in its own thread, and a last snapshot on close. */
    final class SnapshotWriting implements AutoCloseable {
        private final FedTable fed;
        private final PackedTable table;
        private final Stop stop = new Stop();
        private final SupervisedThread thread =
                new SupervisedThread("table-snapshots", stop, RETRY_POLICY, this::write, SnapshotWriting::onFailure);

        /** By partition: the offset in the last snapshot. */
        private Map<Integer, Long> writtenOffsets = Map.of();

        /** By partition: the digest before the last snapshot was written. */
        private Map<Integer, PartitionDigest> writtenDigests = Map.of();

        private Instant writtenAsOf = Instant.MIN;

        private SnapshotWriting(FedTable fed) {
            this.fed = fed;
            this.table = fed.table();
        }

        /** Starts to write snapshots, because the table is complete. */
        void start() {
            if (file != null) {
                thread.start();
            }
        }

        private void write() {
            // Writes immediately, then at each interval, and a last time after the feed has stopped.
            do {
                writeIfChanged(MAX_UNWRITTEN_OFFSETS);
            } while (!stop.awaitRequest(interval));
            writeIfChanged(0);
        }

        private static void onFailure(Throwable cause) {
            log.error("Writing snapshots of the table failed, and is retried", cause);
        }

        /**
         * Writes a snapshot if rows changed since the last one.
         *
         * @param maxUnwrittenOffsets the number of offsets by which the table may be ahead of the last snapshot
         *     otherwise, over all partitions
         */
        void writeIfChanged(long maxUnwrittenOffsets) {
            Path target = file;
            ObservationTime completeAt = fed.staleness().completeUpTo();
            if (target == null || completeAt == null) {
                return;
            }
            // Read before the rows are written, so that a row that changes meanwhile makes the digest differ.
            Map<Integer, PartitionDigest> currentDigests = currentDigests();
            if (isUpToDate(completeAt.wall(), currentDigests, maxUnwrittenOffsets)) {
                return;
            }
            if (fed.digests().isDiffering()) {
                log.warn("No snapshot is written, because the table differs; the previous snapshot is kept");
                return;
            }
            Instant now = completeAt.wall();
            long startNanos = System.nanoTime();
            try {
                Files.createDirectories(target.toAbsolutePath().getParent());
                writtenOffsets = table.writeSnapshot(
                        target,
                        new SnapshotOrigin(fed.endsAtStart().topicId(), fed.partitions(), now),
                        clock.instant());
                writtenDigests = currentDigests;
                writtenAsOf = now;
                Files.deleteIfExists(renamedFile(target));
                log.info(
                        "Wrote {}: {} rows in {} ms",
                        target,
                        table.rows(),
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
            } catch (IOException | RuntimeException | Error e) {
                log.warn("{} cannot be written; the previous snapshot is kept: {}", target, e.toString());
                log.debug("Cause", e);
            }
        }

        private Map<Integer, PartitionDigest> currentDigests() {
            return fed.endsAtStart().byPartition().keySet().stream()
                    .collect(Collectors.toMap(Function.identity(), table::digest));
        }

        private boolean isUpToDate(
                Instant now, Map<Integer, PartitionDigest> currentDigests, long maxUnwrittenOffsets) {
            return !writtenAsOf.equals(Instant.MIN)
                    && Duration.between(writtenAsOf, now).compareTo(MAX_INTERVAL) < 0
                    && writtenDigests.equals(currentDigests)
                    && unwrittenOffsets() <= maxUnwrittenOffsets;
        }

        private long unwrittenOffsets() {
            return fed.endsAtStart().byPartition().keySet().stream()
                    .mapToLong(partition -> table.nextOffset(partition) - writtenOffsets.getOrDefault(partition, 0L))
                    .sum();
        }

        /** Writes the last snapshot, within at most 20 s. The feed must have stopped. */
        @Override
        public void close() {
            stop.request();
            if (!thread.join(CLOSE_TIMEOUT)) {
                log.warn(
                        "The last snapshot of the table was not written within {} s; the previous snapshot is kept",
                        CLOSE_TIMEOUT.toSeconds());
            }
        }
    }
}
