package dev.puri.benchmarks.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.data.ChangelogCopies;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.ServerSettings;
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
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
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

    private static final String PROGRESS = "progress ";
    private static final String RESULT = "result ";
    private static final String RATE = "rate ";
    private static final String MEASURE_RATE = "measure rate";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Task task;
    private final ServerSettings settings;
    private final Creations creations = new Creations();
    private final FreshBroker broker;
    private final RateReader reader;

    private RecoverSide(Task task, FreshBroker broker, RateReader reader) {
        this.task = task;
        this.settings = new ServerSettings(task.schemaRegistry(), Optional.empty());
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
     * @param schemaId of events in the schema registry
     * @param sizes of the records that the bare job moves; null for the topology's side
     */
    record Task(
            int rows,
            int published,
            int events,
            int recoveries,
            boolean hasStandby,
            int storeMemory,
            int schemaId,
            String schemaRegistry,
            BareJob.@Nullable Sizes sizes) {
        Task withSizes(BareJob.Sizes sizes) {
            return new Task(
                    rows, published, events, recoveries, hasStandby, storeMemory, schemaId, schemaRegistry, sizes);
        }

        Task withStandby() {
            return new Task(rows, published, events, recoveries, true, storeMemory, schemaId, schemaRegistry, sizes);
        }
    }

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

    /** The process of a side, in its parent. */
    static final class Child implements AutoCloseable {
        private final ChildJvm process;
        private final Consumer<String> progress;
        private final Result result;

        /** Starts the process and waits for its result. */
        Child(Task task, Consumer<String> progress) throws IOException, InterruptedException {
            this.progress = progress;
            process = ChildJvm.start(
                    ThroughputSide.HEAP, Map.of(), RecoverSide.class, List.of(MAPPER.writeValueAsString(task)));
            try {
                result = next(RESULT, Result.class);
            } catch (IOException | InterruptedException | RuntimeException e) {
                process.close();
                throw e;
            }
        }

        Result result() {
            return result;
        }

        /** Returns the rate at which the job processes events while all rows are registered. */
        RateReader.Rate measureRate() throws IOException, InterruptedException {
            process.send(MEASURE_RATE);
            return next(RATE, RateReader.Rate.class);
        }

        private <T> T next(String prefix, Class<T> type) throws IOException, InterruptedException {
            for (String line = process.next(""); line != null; line = process.next("")) {
                if (line.startsWith(PROGRESS)) {
                    progress.accept(line.substring(PROGRESS.length()));
                } else if (line.startsWith(prefix)) {
                    return MAPPER.readValue(line.substring(prefix.length()), type);
                }
            }
            throw new IOException("the process of a side ended with status " + process.awaitExit());
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /** Runs the {@link Task} in the argument, which is JSON. Ends when the standard input ends. */
    public static void main(String[] args) {
        BlockingQueue<String> lines = ChildJvm.endWithParent();
        try {
            Task task = MAPPER.readValue(args[0], Task.class);
            try (FreshBroker broker = new FreshBroker();
                    RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
                RecoverSide side = new RecoverSide(task, broker, reader);
                Result result = task.hasStandby() ? side.measureStandby() : side.measureEmptyDirectory();
                System.out.println(RESULT + MAPPER.writeValueAsString(result));
                while (lines.take().equals(MEASURE_RATE)) {
                    System.out.println(RATE + MAPPER.writeValueAsString(side.measureRate()));
                }
            }
        } catch (Exception | LinkageError e) {
            System.err.println("a side failed: " + e);
        } finally {
            System.exit(1);
        }
    }

    private Result measureEmptyDirectory() throws Exception {
        StreamsSettings streams = topology("streams");
        publishRows(task.published());
        try (Instance instance = start(streams)) {
            progress("loaded at", reader.read(task.published(), instance::isRunning));
            if (task.sizes() == null) {
                // The topology publishes digests after the last row.
                broker.awaitRecord(Topics.DOCUMENTS, DIGEST_TIMEOUT);
            }
        }
        BareJob.@Nullable Sizes sizes = readSizes(streams);
        Map<String, Long> logBytes = logBytes(streams);
        addToChangelogs(groupId(streams), task.rows() - task.published());
        List<Double> recoverSeconds = new ArrayList<>();
        for (int round = 1; round <= task.recoveries(); round++) {
            TemporaryFolder.delete(streams.streamsStateDir());
            broker.removeMembers(groupId(streams), LEAVE_TIMEOUT);
            publishProbes();
            long startNanos = System.nanoTime();
            try (Instance instance = start(streams)) {
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
        creations.publish(broker, task.events(), task.schemaId());
        try (Instance instance = start(topology("streams"))) {
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
        try (Instance one = start(first);
                Instance other = start(second)) {
            progress("loaded at", reader.read(task.published(), () -> one.isRunning() && other.isRunning()));
        }
        BareJob.@Nullable Sizes sizes = readSizes(first);
        addToChangelogs(groupId(first), task.rows() - task.published());
        broker.removeMembers(groupId(first), LEAVE_TIMEOUT);
        try (Instance stopping = start(first);
                Instance remaining = start(second)) {
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
        if (task.sizes() == null) {
            settings.declare(broker, Creations.collection(false));
        } else {
            broker.createTopic(BareJob.CLAIMS, BareJob.CLAIMS_CONFIGS);
        }
        creations.publish(broker, count, task.schemaId());
    }

    private void publishProbes() throws Exception {
        creations.publish(broker, PROBES, task.schemaId());
    }

    private Instance start(StreamsSettings streams) {
        return task.sizes() == null ? Instance.ofTopology(streams) : Instance.ofBareJob(streams, task.sizes());
    }

    private StreamsSettings topology(String directory) {
        return settings.topology(
                broker,
                directory,
                Map.of(
                        "streams.standbys",
                        task.hasStandby() ? "1" : "0",
                        "streams.store.memory",
                        Integer.toString(task.storeMemory())));
    }

    private BareJob.@Nullable Sizes readSizes(StreamsSettings streams) throws IOException {
        return task.sizes() == null ? BareJob.Sizes.read(broker, streams.streamsApplicationId()) : null;
    }

    private String groupId(StreamsSettings streams) {
        return task.sizes() == null ? streams.streamsApplicationId() : BareJob.APPLICATION_ID;
    }

    private double secondsUntilProbesAreRead(Instance instance, long startNanos) {
        reader.read(PROBES, instance::isRunning, MAX_RESTORE_TIME);
        double seconds = Timing.seconds(startNanos);
        System.out.println(PROGRESS + "processes events again after %.1f s".formatted(seconds));
        return seconds;
    }

    private static void progress(String state, RateReader.Rate rate) {
        System.out.println(PROGRESS + state + " %,.0f/s".formatted(rate.perSecond()));
    }

    /** Returns the size of the log of each topic of the job, by the topic's name without the application id. */
    private Map<String, Long> logBytes(StreamsSettings streams) throws Exception {
        Map<String, Long> bytesByName = new TreeMap<>();
        String prefix = groupId(streams) + '-';
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
