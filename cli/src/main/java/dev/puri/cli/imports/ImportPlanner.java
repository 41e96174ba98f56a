package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.ProgressListener;
import dev.puri.cli.imports.Import.RegistryView;
import dev.puri.cli.imports.ImportFolder.InputCount;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.RowConverter.Candidate;
import dev.puri.cli.io.FileErrors;
import dev.puri.cli.io.RateLimiter;
import dev.puri.http.DirectoryTrees;
import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Reads all inputs and writes a plan: the rows to publish, and each conflict within the inputs and with the registry.
 * It publishes nothing. Of two rows that claim the same name, the first one is planned. Of two rows of an export, which
 * are states of one identity, the later state is planned.
 *
 * <pre>
 * input ──rows──▶ workers: convert ──▶ this thread: claim names ──▶ workers: ask the registry ──▶ this thread: files
 * </pre>
 *
 * Batches are converted and compared concurrently, but claim names and are written in their order.
 */
final class ImportPlanner {
    private static final String INDEX = "index";

    private final ImportMapping mapping;
    private final List<String> inputNames;

    private final RowConverter converter;
    private final RegistryComparison registry;
    private final Map<String, String> environment;
    private final RateLimiter limiter;
    private final ProgressListener progress;

    private final Map<Conflict.Kind, Long> conflictCounts = new EnumMap<>(Conflict.Kind.class);
    private final Set<String> collections = new TreeSet<>();
    private final Set<String> collectionsOfConflicts = new TreeSet<>();

    /** The columns of attributes that are empty in all rows of an input. */
    private final Set<String> emptyColumns = new TreeSet<>();

    /** The columns of attributes that have a value in an input. */
    private final Set<String> filledColumns = new HashSet<>();

    /** The number of rows of all inputs; null until they are counted, or if an input cannot be counted. */
    private volatile @Nullable Long expectedRows;

    private long doneCount;
    private long plannedCount;
    private long presentCount;
    private long supersededCount;

    /**
     * @param environment contains the passwords of databases
     * @param maxPerSecond maximum number of rows per second; null for no limit
     * @param progress gets the number of rows that are done, after each batch
     */
    ImportPlanner(
            ImportMapping mapping,
            RegistryView registry,
            Map<String, String> environment,
            @Nullable Integer maxPerSecond,
            ProgressListener progress) {
        this.mapping = mapping;
        this.inputNames = mapping.inputNames();
        this.converter = new RowConverter(mapping, registry.declarations());
        this.registry = new RegistryComparison(registry.resolver(), registry.collectionsWithRows());
        this.environment = environment;
        this.limiter = new RateLimiter(maxPerSecond);
        this.progress = progress;
    }

    /**
     * Rows that are compared with the registry, ready to be written.
     *
     * @param lines the planned rows
     * @param presentCount how many of them the registry has
     * @param supersededCount number of rows that are left out
     */
    private record Checked(
            int rowCount,
            byte[] lines,
            int plannedCount,
            int presentCount,
            int supersededCount,
            Set<String> collections,
            List<Conflict> conflicts) {}

    /** Makes a plan and replaces the plan of the folder by it. */
    Plan plan(ImportFolder folder, Instant now) throws IOException, InterruptedException {
        Path draft = folder.newPlan();
        List<InputCount> inputs = new ArrayList<>();
        try (Workers workers = new Workers();
                SourceIndex index = new SourceIndex(draft.resolve(INDEX));
                OutputStream rows = new BufferedOutputStream(Files.newOutputStream(draft.resolve("rows.ndjson")));
                BufferedWriter conflicts = Files.newBufferedWriter(draft.resolve("conflicts.ndjson"))) {
            // On another thread, because a database may need minutes.
            Thread.ofPlatform().daemon().name("puri-import-counter").start(() -> expectedRows = countRows());
            OrderedTasks<Checked> checks = new OrderedTasks<>(checked -> write(checked, rows, conflicts));
            Pipeline pipeline = new Pipeline(workers.executor(), index, checks);
            for (int i = 0; i < mapping.inputs().size(); i++) {
                inputs.add(new InputCount(inputNames.get(i), read(i, pipeline)));
            }
            checks.finish();
        }
        // A shard may have no value of a rare attribute.
        emptyColumns.removeAll(filledColumns);
        requireFilled(String.join(", ", inputNames), emptyColumns);
        DirectoryTrees.delete(draft.resolve(INDEX));
        Plan plan = new Plan(
                now.toString(),
                mapping.source(),
                List.copyOf(collections),
                collectionsWithoutRows(),
                inputs,
                plannedCount,
                presentCount,
                supersededCount,
                new LinkedHashMap<>(conflictCounts));
        folder.replacePlan(plan);
        return plan;
    }

    /** Returns the collections of the mapping and of the rows of which no row is planned. */
    private List<String> collectionsWithoutRows() {
        Set<String> withoutRows = new TreeSet<>(collectionsOfConflicts);
        for (ImportMapping.Input input : mapping.inputs()) {
            String collection = input.puri().collection();
            if (collection != null) {
                withoutRows.add(collection);
            }
        }
        withoutRows.removeAll(collections);
        return List.copyOf(withoutRows);
    }

    /** Returns the number of rows of all inputs; null if an input cannot be counted. */
    private @Nullable Long countRows() {
        long count = 0;
        for (ImportMapping.Input input : mapping.inputs()) {
            try {
                Long ofInput = RowSource.count(input.rows(), environment);
                if (ofInput == null) {
                    return null;
                }
                count += ofInput;
            } catch (IOException | RuntimeException e) {
                // Only the progress needs the number. If the input cannot be read either, reading it says why.
                return null;
            }
        }
        return count;
    }

    private long read(int number, Pipeline pipeline) throws IOException, InterruptedException {
        ImportMapping.Input input = mapping.inputs().get(number);
        String name = inputNames.get(number);
        // An export has all columns itself, and identities need no handles.
        Set<String> columns = input.rows() instanceof RowSource.Export ? Set.of() : input.columns();
        Set<String> empty = new TreeSet<>(columns);
        long rowCount = 0;
        try {
            RowSource source = RowSource.open(input.rows(), environment);
            try (InputReader reader = new InputReader(source, limiter.batchSize(RegistryComparison.MAX_BATCH))) {
                Set<String> sourceColumns = source.columns();
                if (sourceColumns != null) {
                    requireColumns(name, input.columns(), sourceColumns);
                }
                OrderedTasks<List<Candidate>> conversions = new OrderedTasks<>(pipeline::claimAndCheck);
                for (List<SourceRow> rows = reader.next(); !rows.isEmpty(); rows = reader.next()) {
                    limiter.await(rows.size());
                    if (!empty.isEmpty()) {
                        rows.forEach(row -> removeFilled(empty, row));
                    }
                    List<SourceRow> batch = rows;
                    long firstRow = rowCount + 1;
                    conversions.add(pipeline.workers().submit(() -> converter.convert(number, firstRow, batch)));
                    rowCount += rows.size();
                }
                conversions.finish();
            }
        } catch (IOException e) {
            throw unreadable(name, rowCount, FileErrors.reason(e), e);
        } catch (SQLException e) {
            throw unreadable(name, rowCount, e.getMessage() == null ? e.toString() : e.getMessage(), e);
        }
        if (rowCount == 0) {
            throw new ImportException(name + " has no rows; remove the input from the mapping if this is right");
        }
        columns.stream().filter(column -> !empty.contains(column)).forEach(filledColumns::add);
        Set<String> emptyOfIdentity = new TreeSet<>(empty);
        emptyOfIdentity.retainAll(input.identityColumns());
        requireFilled(name, emptyOfIdentity);
        emptyColumns.addAll(empty);
        return rowCount;
    }

    private static ImportException unreadable(String name, long rowCount, String reason, Exception cause) {
        return new ImportException(name + ", after at least " + rowCount + " rows: " + reason, cause);
    }

    private static void requireFilled(String name, Set<String> emptyColumns) {
        if (!emptyColumns.isEmpty()) {
            throw new ImportException(name + ": the mapping has the columns " + String.join(", ", emptyColumns)
                    + ", which are empty in all rows; remove them from the mapping if this is right");
        }
    }

    private static void requireColumns(String name, Set<String> mapped, Set<String> columns) {
        Set<String> missing = new TreeSet<>(mapped);
        missing.removeAll(columns);
        if (!missing.isEmpty()) {
            throw new ImportException(name + " does not have the columns " + String.join(", ", missing)
                    + " of the mapping; columns: " + String.join(", ", columns));
        }
    }

    private static void removeFilled(Set<String> columns, SourceRow row) {
        if (row instanceof SourceRow.Values values) {
            columns.removeAll(values.texts().keySet());
            columns.removeAll(values.structured());
        }
    }

    /** The checks of converted rows: against the other rows of all inputs, then against the registry. */
    private final class Pipeline {
        private final ExecutorService workers;
        private final SourceIndex index;
        private final OrderedTasks<Checked> checks;

        Pipeline(ExecutorService workers, SourceIndex index, OrderedTasks<Checked> checks) {
            this.workers = workers;
            this.index = index;
            this.checks = checks;
        }

        ExecutorService workers() {
            return workers;
        }

        /** Claims the names of the rows, and compares the rows that got their names with the registry. */
        void claimAndCheck(List<Candidate> candidates) throws IOException, InterruptedException {
            List<Candidate> claimed = new ArrayList<>(candidates.size());
            List<ImportRow> rows = new ArrayList<>(candidates.size());
            for (Candidate candidate : candidates) {
                switch (candidate) {
                    case Candidate.Conflicting conflicting -> claimed.add(conflicting);
                    case Candidate.Superseded superseded -> claimed.add(superseded);
                    case Candidate.Planned planned -> {
                        Conflict conflict = claim(planned);
                        if (conflict == null) {
                            rows.add(planned.row());
                        }
                        claimed.add(conflict == null ? planned : new Candidate.Conflicting(conflict));
                    }
                }
            }
            checks.add(registry.compare(rows, workers).thenApplyAsync(results -> check(claimed, results), workers));
        }

        /** Claims the names of a row; returns its conflict if an earlier row has one of them. */
        private @Nullable Conflict claim(Candidate.Planned planned) {
            ImportRow row = planned.row();
            SourceIndex.Claim ofPuri = index.find(planned.puri());
            if (ofPuri != null) {
                return conflict(
                        row,
                        ofPuri.shard().equals(row.shard())
                                ? Conflict.Kind.DUPLICATE_IN_SHARD
                                : Conflict.Kind.DUPLICATE_BETWEEN_SHARDS,
                        "the pURI is that of " + describe(ofPuri));
            }
            SourceIndex.Claim ofHandle = planned.handle() == null ? null : index.find(planned.handle());
            if (ofHandle != null) {
                return conflict(
                        row,
                        Conflict.Kind.DUPLICATE_HANDLE,
                        "the handle " + row.handle() + " is that of " + describe(ofHandle));
            }
            SourceIndex.Claim ofUuid = planned.uuid() == null ? null : index.find(planned.uuid());
            if (ofUuid != null) {
                return conflict(
                        row,
                        Conflict.Kind.DUPLICATE_UUID,
                        "the uuid " + row.uuid() + " is that of " + describe(ofUuid));
            }
            SourceIndex.Claim claim = new SourceIndex.Claim(row.input(), row.row(), row.shard());
            index.put(planned.puri(), claim);
            if (planned.handle() != null) {
                index.put(planned.handle(), claim);
            }
            if (planned.uuid() != null) {
                index.put(planned.uuid(), claim);
            }
            return null;
        }

        private String describe(SourceIndex.Claim claim) {
            return "row " + claim.row() + " of " + inputNames.get(claim.input()) + " in shard " + claim.shard();
        }
    }

    private Conflict conflict(ImportRow row, Conflict.Kind kind, String detail) {
        return new Conflict(inputNames.get(row.input()), row.row(), row.puri().toString(), kind, detail);
    }

    /**
     * Decides which rows are planned.
     *
     * @param results those of the candidates without a conflict, in their order
     */
    private Checked check(List<Candidate> candidates, List<RegistryComparison.Result> results) {
        List<ImportRow> planned = new ArrayList<>(candidates.size());
        List<Conflict> conflicts = new ArrayList<>();
        int superseded = 0;
        Iterator<RegistryComparison.Result> nextResult = results.iterator();
        for (Candidate candidate : candidates) {
            switch (candidate) {
                case Candidate.Conflicting conflicting -> conflicts.add(conflicting.conflict());
                case Candidate.Superseded ignored -> superseded++;
                case Candidate.Planned candidateRow -> {
                    ImportRow row = candidateRow.row();
                    switch (nextResult.next()) {
                        case RegistryComparison.Result.Absent ignored -> planned.add(row);
                        case RegistryComparison.Result.Equal ignored -> planned.add(row.asExisting());
                        case RegistryComparison.Result.Different different ->
                            conflicts.add(conflict(row, Conflict.Kind.PURI_TAKEN, different.detail()));
                        case RegistryComparison.Result.Malformed malformed ->
                            conflicts.add(conflict(row, Conflict.Kind.MALFORMED, malformed.detail()));
                        case RegistryComparison.Result.HandleTaken taken ->
                            conflicts.add(conflict(row, Conflict.Kind.HANDLE_TAKEN, taken.detail()));
                    }
                }
            }
        }
        Set<String> collectionsOfRows = new HashSet<>();
        planned.forEach(row -> collectionsOfRows.add(row.collection()));
        return new Checked(
                candidates.size(),
                ImportRow.toLines(planned),
                planned.size(),
                Math.toIntExact(planned.stream().filter(ImportRow::existing).count()),
                superseded,
                collectionsOfRows,
                conflicts);
    }

    private void write(Checked checked, OutputStream rows, BufferedWriter conflicts) {
        try {
            rows.write(checked.lines());
            for (Conflict conflict : checked.conflicts()) {
                conflicts.write(ImportFolder.line(conflict));
            }
        } catch (IOException e) {
            throw new ImportException("the plan cannot be written: " + e.getMessage(), e);
        }
        plannedCount += checked.plannedCount();
        presentCount += checked.presentCount();
        supersededCount += checked.supersededCount();
        collections.addAll(checked.collections());
        for (Conflict conflict : checked.conflicts()) {
            conflictCounts.merge(conflict.kind(), 1L, Long::sum);
            if (conflict.puri() != null) {
                collectionsOfConflicts.add(
                        conflict.puri().substring(0, conflict.puri().lastIndexOf(':')));
            }
        }
        doneCount += checked.rowCount();
        progress.show(doneCount, expectedRows);
    }
}
