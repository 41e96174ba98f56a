package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.ChangelogCopies;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Timing;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One side of {@link RecoverBench}, in a separate process together with its broker. The process prints its {@link
 * Result}, and then a {@link RateReader.Rate} for each line that it gets.
 */
public final class RecoverSide {
    /** The number of events that show that all partitions are processed again. */
    private static final int PROBES = 200;

    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(60);

    /** Restoring 30 million rows takes minutes. */
    private static final Duration MAX_RESTORE_TIME = Duration.ofMinutes(30);

    /**
     * If a state directory of many rows keeps its size for this time, no store in it is being restored or compacted.
     * Fewer rows take less time.
     */
    private static final Duration MAX_STABLE_TIME = Duration.ofSeconds(15);

    private static final Duration MIN_STABLE_TIME = Duration.ofSeconds(1);
    private static final int ROWS_PER_STABLE_SECOND = 10_000;

    private static final Duration DIGEST_TIMEOUT = Duration.ofMinutes(2);

    private static final String MEASURE_RATE = "measure rate";

    private final Job job;
    private final Task task;
    private final Creations creations = new Creations();
    private final FreshBroker broker;
    private final RateReader reader;

    private RecoverSide(Job job, Task task, FreshBroker broker, RateReader reader) {
        this.job = job;
        this.task = task;
        this.broker = broker;
        this.reader = reader;
    }

    /**
     * The work of one process.
     *
     * @param published number of registrations that are published as events; the others are added to the changelogs
     * @param events number of events of a rate
     * @param recoveries how often the state is lost; once with a standby
     * @param storeMemory memory limit of an instance's stores, in MiB
     */
    record Task(int rows, int published, int events, int recoveries, boolean hasStandby, int storeMemory) {}

    /**
     * The figures of one side.
     *
     * @param recoverSeconds time from the start with an empty state directory, or from the stop of one of two
     *     instances, until the last probe has its row
     * @param stateBytes size of the state directory with all rows
     * @param logBytes size of the log of each topic with the published rows
     * @param sizes of the topology's records; null for the bare job
     */
    record Result(
            List<Double> recoverSeconds, long stateBytes, Map<String, Long> logBytes, BareJob.@Nullable Sizes sizes) {}

    /** The process of a side and its result, in its parent. */
    record Child(ChildJvm process, Result result) implements AutoCloseable {
        /** Starts the process and waits for its result. */
        static Child start(Job job, Task task, Consumer<String> progress) throws IOException {
            ChildJvm process = job.startChild(RecoverSide.class, task);
            try {
                return new Child(process, process.receive(Result.class, progress));
            } catch (IOException | RuntimeException e) {
                process.close();
                throw e;
            }
        }

        /** Returns the rate at which the job processes events while all rows are registered. */
        RateReader.Rate measureRate() throws IOException {
            process.send(MEASURE_RATE);
            return process.receive(RateReader.Rate.class);
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /** Runs the {@link Task} in the arguments, then measures a rate for each request. Ends with its parent. */
    public static void main(String[] args) {
        Job.runInChild(args, Task.class, (job, task, requests) -> {
            try (FreshBroker broker = new FreshBroker();
                    RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
                RecoverSide side = new RecoverSide(job, task, broker, reader);
                ChildJvm.printResult(task.hasStandby() ? side.measureStandby() : side.measureEmptyDirectory());
                while (requests.take().equals(MEASURE_RATE)) {
                    ChildJvm.printResult(side.measureRate());
                }
            }
        });
    }

    private Result measureEmptyDirectory() throws Exception {
        StreamsSettings streams = topology("streams");
        publishRows(task.published());
        try (Job.Instance instance = job.start(streams)) {
            progress("loaded at", reader.read(task.published(), instance::isRunning));
            if (job.sizes() == null) {
                // The topology publishes digests after the last row.
                broker.awaitRecord(Topics.DOCUMENTS, DIGEST_TIMEOUT);
            }
        }
        BareJob.@Nullable Sizes sizes = job.readSizes(broker, streams);
        Map<String, Long> logBytes = logBytes(streams);
        addToChangelogs(job.applicationId(streams), task.rows() - task.published());
        List<Double> recoverSeconds = new ArrayList<>();
        for (int round = 1; round <= task.recoveries(); round++) {
            TemporaryFolder.delete(streams.streamsStateDir());
            broker.removeMembers(job.applicationId(streams), LEAVE_TIMEOUT);
            publishProbes();
            long startNanos = System.nanoTime();
            try (Job.Instance instance = job.start(streams)) {
                recoverSeconds.add(secondsUntilProbesAreRead(instance, startNanos));
                if (round == task.recoveries()) {
                    // RocksDB compacts restored stores for minutes, on one core.
                    awaitStable(streams.streamsStateDir());
                }
            }
        }
        return new Result(recoverSeconds, size(streams.streamsStateDir()), logBytes, sizes);
    }

    private RateReader.Rate measureRate() throws Exception {
        creations.publish(broker, task.events(), job.schemaId());
        try (Job.Instance instance = job.start(topology("streams"))) {
            return reader.read(task.events(), instance::isRunning);
        }
    }

    /** Both jobs give their stores these names. */
    private void addToChangelogs(String applicationId, int count) throws Exception {
        ChangelogCopies.addWithRandomKeys(broker, applicationId + "-registrations-changelog", count);
        ChangelogCopies.addWithRandomHandles(broker, applicationId + "-handles-changelog", count);
    }

    /** Two instances, each with a standby of the other's stores. One stops; the other one takes over its tasks. */
    private Result measureStandby() throws Exception {
        StreamsSettings first = topology("first");
        StreamsSettings second = topology("second");
        publishRows(task.published());
        try (Job.Instance one = job.start(first);
                Job.Instance other = job.start(second)) {
            progress("loaded at", reader.read(task.published(), () -> one.isRunning() && other.isRunning()));
        }
        BareJob.@Nullable Sizes sizes = job.readSizes(broker, first);
        addToChangelogs(job.applicationId(first), task.rows() - task.published());
        broker.removeMembers(job.applicationId(first), LEAVE_TIMEOUT);
        try (Job.Instance stopping = job.start(first);
                Job.Instance remaining = job.start(second)) {
            publishProbes();
            reader.read(PROBES, remaining::isRunning, MAX_RESTORE_TIME);
            long stateBytes = awaitStable(first.streamsStateDir(), second.streamsStateDir());
            long startNanos = System.nanoTime();
            stopping.close();
            publishProbes();
            double seconds = secondsUntilProbesAreRead(remaining, startNanos);
            return new Result(List.of(seconds), stateBytes, logBytes(first), sizes);
        }
    }

    /**
     * Waits until the size of the state directories stays the same: no store is being restored or compacted. Returns
     * their mean size.
     */
    private long awaitStable(Path... stateDirs) throws IOException {
        long[] lastSize = {0};
        Await.until("state directories that keep their size", MAX_RESTORE_TIME, stableTime(), () -> {
            long size = 0;
            for (Path stateDir : stateDirs) {
                size += size(stateDir);
            }
            boolean isStable = Math.abs(size - lastSize[0]) <= size / 100;
            lastSize[0] = size;
            return isStable;
        });
        return lastSize[0] / stateDirs.length;
    }

    private Duration stableTime() {
        return Duration.ofSeconds(Math.clamp(
                task.rows() / ROWS_PER_STABLE_SECOND, MIN_STABLE_TIME.toSeconds(), MAX_STABLE_TIME.toSeconds()));
    }

    private void publishRows(int count) throws Exception {
        job.prepare(broker);
        creations.publish(broker, count, job.schemaId());
    }

    private void publishProbes() throws Exception {
        creations.publish(broker, PROBES, job.schemaId());
    }

    private StreamsSettings topology(String directory) {
        return job.settings()
                .topology(
                        broker,
                        directory,
                        Map.of(
                                "streams.standbys",
                                task.hasStandby() ? "1" : "0",
                                "streams.store.memory",
                                Integer.toString(task.storeMemory())));
    }

    private double secondsUntilProbesAreRead(Job.Instance instance, long startNanos) {
        reader.read(PROBES, instance::isRunning, MAX_RESTORE_TIME);
        double seconds = Timing.seconds(startNanos);
        ChildJvm.printProgress("processes events again after %.1f s".formatted(seconds));
        return seconds;
    }

    private static void progress(String state, RateReader.Rate rate) {
        ChildJvm.printProgress(state + " %,.0f/s".formatted(rate.perSecond()));
    }

    /** Returns the size of the log of each topic of the job, by the topic's name without the application id. */
    private Map<String, Long> logBytes(StreamsSettings streams) throws Exception {
        Map<String, Long> bytesByName = new TreeMap<>();
        String prefix = job.applicationId(streams) + '-';
        broker.logBytesByTopic().forEach((topic, bytes) -> {
            if (!topic.startsWith("__") && bytes > 0) {
                bytesByName.put(topic.startsWith(prefix) ? topic.substring(prefix.length()) : topic, bytes);
            }
        });
        return bytesByName;
    }

    private static long size(Path folder) throws IOException {
        AtomicLong bytes = new AtomicLong();
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                bytes.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
                // RocksDB deletes files meanwhile.
                return FileVisitResult.CONTINUE;
            }
        });
        return bytes.get();
    }
}
