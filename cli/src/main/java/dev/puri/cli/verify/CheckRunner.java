package dev.puri.cli.verify;

import dev.puri.cli.verify.VerifyFolder.Completed;
import dev.puri.cli.verify.VerifyFolder.State;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Runs checks, and stores the completed ones in a folder, so that a verification that was killed continues.
 *
 * @param cluster id of the Kafka cluster. A verification of another cluster is not continued
 * @param hasEvents whether a service has ever published an event. Then copies without rows are failures
 * @param listener receives each difference, also those of the interrupted verification that is continued
 */
public record CheckRunner(
        VerifyFolder folder, List<Check> checks, String cluster, boolean hasEvents, Consumer<Difference> listener) {
    /** Results of different days would be mixed. */
    private static final Duration MAX_AGE = Duration.ofDays(1);

    /**
     * The result for a copy.
     *
     * @param rows number of compared keys
     * @param differences number of differences; those of failed checks are not counted
     * @param notCompared number of keys that could not be compared
     * @param failure why the comparison is incomplete; null if it is complete
     */
    public record CopyResult(
            String part,
            String copy,
            long rows,
            long differences,
            long notCompared,
            @Nullable String note,
            @Nullable String failure) {
        /** Whether all keys were compared, without a difference. */
        public boolean isEqual() {
            return differences == 0 && isComplete();
        }

        /** Whether all keys were compared. */
        public boolean isComplete() {
            return notCompared == 0 && failure == null;
        }
    }

    public CheckRunner {
        checks = List.copyOf(checks);
    }

    /**
     * Runs the checks that an interrupted verification in the folder has not completed, or all.
     *
     * @return the result for each copy
     */
    public List<CopyResult> run(Instant now) throws IOException {
        State state = startState(now);
        Map<String, Completed> completed = new LinkedHashMap<>();
        state.checks().forEach(each -> completed.put(each.name(), each));
        Map<String, String> failures = new HashMap<>();
        long bytes = state.bytes();
        try (OutputStream file = folder.openDifferences(bytes)) {
            folder.writeState(state);
            folder.forEachDifference(listener);
            for (Check check : checks) {
                if (completed.containsKey(check.name())) {
                    continue;
                }
                try {
                    Differences differences = new Differences(file);
                    Check.Result result = check.run(differences);
                    file.flush();
                    bytes += differences.bytes;
                    completed.put(
                            check.name(),
                            new Completed(
                                    check.name(),
                                    result.rows(),
                                    result.expectedRows(),
                                    differences.count,
                                    result.notCompared(),
                                    result.note()));
                    folder.writeState(
                            new State(cluster, state.startedAt(), false, bytes, List.copyOf(completed.values())));
                } catch (VerifyException | KafkaException e) {
                    failures.put(check.name(), String.valueOf(e.getMessage()));
                    // A later check must not be appended to the differences of this one.
                    file.flush();
                    folder.openDifferences(bytes).close();
                }
            }
        }
        // A later run must not mix its results with these, which are of another time.
        folder.writeState(new State(cluster, state.startedAt(), true, bytes, List.copyOf(completed.values())));
        return results(completed, failures);
    }

    private State startState(Instant now) throws IOException {
        State last = folder.readState();
        if (last == null || !isContinuable(last)) {
            return new State(cluster, now.toString(), false, 0, List.of());
        }
        if (last.started().isBefore(now.minus(MAX_AGE))) {
            throw new VerifyException("the interrupted verification in " + folder.path() + " started at "
                    + last.startedAt() + ", more than a day ago; use --restart to verify from the beginning");
        }
        return last;
    }

    /**
     * Returns when the interrupted verification started that {@link #run} continues; null if it begins a new one.
     *
     * @throws VerifyException if the interrupted verification is too old to be continued
     */
    public @Nullable Instant continuedSince(Instant now) throws IOException {
        State state = startState(now);
        return state.checks().isEmpty() ? null : state.started();
    }

    /** Returns whether {@link #run} discards an interrupted verification because it is of another cluster. */
    public boolean discardsOtherCluster() throws IOException {
        State last = folder.readState();
        return last != null && isInterrupted(last) && !isOfCluster(last);
    }

    /** Returns the approximate number of records that {@link #run} will read. */
    public long recordsToRead(Instant now) throws IOException {
        Set<String> completed =
                startState(now).checks().stream().map(Completed::name).collect(Collectors.toSet());
        return checks.stream()
                .filter(check -> !completed.contains(check.name()))
                .mapToLong(Check::records)
                .sum();
    }

    /**
     * Whether a verification of the cluster was interrupted, and none of its completed checks is missing in this one.
     */
    private boolean isContinuable(State last) {
        Set<String> names = checks.stream().map(Check::name).collect(Collectors.toSet());
        return isInterrupted(last)
                && isOfCluster(last)
                && last.checks().stream().map(Completed::name).allMatch(names::contains);
    }

    /** Whether a verification was interrupted after a check. */
    private static boolean isInterrupted(State last) {
        return !last.isComplete() && !last.checks().isEmpty();
    }

    private boolean isOfCluster(State last) {
        return cluster.equals(last.cluster());
    }

    /** Writes differences to the file, and passes them on. */
    private final class Differences implements Consumer<Difference> {
        private final OutputStream file;
        long bytes;
        long count;

        Differences(OutputStream file) {
            this.file = file;
        }

        @Override
        public void accept(Difference difference) {
            byte[] line = VerifyFolder.line(difference);
            try {
                file.write(line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            bytes += line.length;
            count++;
            listener.accept(difference);
        }
    }

    private List<CopyResult> results(Map<String, Completed> completed, Map<String, String> failures) {
        Map<String, List<Check>> byCopy = new LinkedHashMap<>();
        checks.forEach(check -> byCopy.computeIfAbsent(check.part() + ' ' + check.copy(), none -> new ArrayList<>())
                .add(check));
        List<CopyResult> results = new ArrayList<>();
        for (List<Check> checksOfCopy : byCopy.values()) {
            results.add(result(checksOfCopy, completed, failures));
        }
        return results;
    }

    private CopyResult result(
            List<Check> checksOfCopy, Map<String, Completed> completed, Map<String, String> failures) {
        Check first = checksOfCopy.getFirst();
        long rows = 0;
        long expectedRows = 0;
        long differences = 0;
        long notCompared = 0;
        Check.Note note = null;
        List<String> failed = new ArrayList<>();
        for (Check check : checksOfCopy) {
            Completed done = completed.get(check.name());
            if (done == null) {
                String where = check.partition() == null ? "" : "partition " + check.partition() + ": ";
                failed.add(where + failures.get(check.name()));
                continue;
            }
            rows += done.rows();
            expectedRows += done.expectedRows();
            differences += done.differences();
            notCompared += done.notCompared();
            note = sum(note, done.note());
        }
        if (failed.isEmpty() && hasEvents && expectedRows == 0 && first.mustHaveRows()) {
            failed.add("no row of the source was compared, although services have published events");
        }
        return new CopyResult(
                first.part(),
                first.copy(),
                rows,
                differences,
                notCompared,
                note == null ? null : note.toString(),
                failed.isEmpty() ? null : String.join("; ", failed));
    }

    /** Adds the rows of two notes of checks of the same kind. */
    private static Check.@Nullable Note sum(Check.@Nullable Note first, Check.@Nullable Note second) {
        return first == null
                ? second
                : second == null ? first : new Check.Note(first.rows() + second.rows(), first.what());
    }
}
