package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.Progress;
import dev.puri.cli.imports.Import.Registry;
import dev.puri.cli.imports.ImportFolder.InputCount;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.registry.AttributeBounds;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Uuids;
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
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Reads all inputs and writes a plan: the rows to publish, and each conflict within the inputs and with the registry. It
 * publishes nothing. Of two rows that claim the same name, the first one is planned. Of two rows of an export, which are
 * states of one identity, the later state is planned.
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

    /** Whether an input has handles of its own. Those that are made from different pURIs differ, as their uuids do. */
    private final boolean inputsHaveHandles;

    private final Declarations declarations;
    private final RegistryComparison registry;
    private final Map<String, String> environment;
    private final Pace pace;
    private final Progress progress;

    private final Map<Conflict.Kind, Long> conflictCounts = new EnumMap<>(Conflict.Kind.class);
    private final Set<String> collections = new TreeSet<>();
    private final Set<String> collectionsOfConflicts = new TreeSet<>();

    /** The columns of attributes that are empty in all rows of an input. */
    private final Set<String> emptyColumns = new TreeSet<>();

    /** The columns of attributes that have a value in an input. */
    private final Set<String> filledColumns = new HashSet<>();

    /** Number of rows of all inputs; null while it is not known. */
    private volatile @Nullable Long total;

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
            Registry registry,
            Map<String, String> environment,
            @Nullable Integer maxPerSecond,
            Progress progress) {
        this.mapping = mapping;
        this.inputNames = mapping.inputNames();
        this.inputsHaveHandles = mapping.inputs().stream().anyMatch(input -> input.handle() != null);
        this.declarations = registry.declarations();
        this.registry = new RegistryComparison(registry.resolver(), registry.collectionsWithRows());
        this.environment = environment;
        this.pace = new Pace(maxPerSecond);
        this.progress = progress;
    }

    /** A row cannot be imported. */
    private static final class ConflictException extends Exception {
        private static final long serialVersionUID = 1L;

        private final Conflict.Kind kind;

        ConflictException(Conflict.Kind kind, @Nullable String detail) {
            super(detail, null, false, false);
            this.kind = kind;
        }
    }

    /** A row that was read: it is planned, or it has a conflict, or another row of its export replaces it. */
    private sealed interface Candidate {
        /**
         * A row without a conflict so far.
         *
         * @param puri the pURI for the index
         * @param handle the handle for the index; null if no other row can have it
         * @param uuid the uuid for the index; null if no other row can have it, or if it is that of an export
         */
        record Planned(
                ImportRow row,
                SourceIndex.Name puri,
                SourceIndex.@Nullable Name handle,
                SourceIndex.@Nullable Name uuid)
                implements Candidate {}

        record Refused(Conflict conflict) implements Candidate {}

        record Superseded() implements Candidate {}
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
            Thread.ofPlatform().daemon().name("puri-import-counter").start(() -> total = expectedRows());
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
        ImportFolder.deleteIndex(draft.resolve(INDEX));
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
    private @Nullable Long expectedRows() {
        long count = 0;
        for (ImportMapping.Input input : mapping.inputs()) {
            try {
                Long ofInput = RowSource.count(input.rows(), environment);
                if (ofInput == null) {
                    return null;
                }
                count += ofInput;
            } catch (IOException e) {
                // Reading the input fails too, and says why.
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
            try (BatchReader reader = new BatchReader(source, pace.batchSize(RegistryComparison.MAX_BATCH))) {
                Set<String> sourceColumns = source.columns();
                if (sourceColumns != null) {
                    requireColumns(name, input.columns(), sourceColumns);
                }
                OrderedTasks<List<Candidate>> conversions = new OrderedTasks<>(pipeline::claimAndCheck);
                for (List<SourceRow> rows = reader.next(); !rows.isEmpty(); rows = reader.next()) {
                    pace.await(rows.size());
                    if (!empty.isEmpty()) {
                        rows.forEach(row -> removeFilled(empty, row));
                    }
                    List<SourceRow> batch = rows;
                    long firstRow = rowCount + 1;
                    conversions.add(pipeline.workers().submit(() -> convert(number, firstRow, input, batch)));
                    rowCount += rows.size();
                }
                conversions.finish();
            }
        } catch (IOException | SQLException e) {
            throw new ImportException(
                    name + ", after row " + rowCount + ": " + (e.getMessage() == null ? e.toString() : e.getMessage()),
                    e);
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

    private List<Candidate> convert(int number, long firstRow, ImportMapping.Input input, List<SourceRow> rows) {
        MappedColumns columns = new MappedColumns(input.columns(), input.identityColumns());
        List<Candidate> candidates = new ArrayList<>(rows.size());
        for (int i = 0; i < rows.size(); i++) {
            candidates.add(
                    switch (rows.get(i)) {
                        case SourceRow.Values row -> candidate(number, firstRow + i, input, columns, row);
                        case SourceRow.Superseded ignored -> new Candidate.Superseded();
                    });
        }
        return candidates;
    }

    /**
     * The columns that the mapping of an input uses.
     *
     * @param ofIdentity those of all fields but the attributes
     */
    private record MappedColumns(Set<String> all, Set<String> ofIdentity) {
        /** Returns which values of a row cannot be used; null if all can. */
        @Nullable
        String objection(SourceRow.Values row) {
            String structured = common(all, row.structured());
            if (structured != null) {
                return "the column " + structured + " has an array or an object, which is no text";
            }
            String fractional = common(ofIdentity, row.fractional());
            return fractional == null
                    ? null
                    : "the column " + fractional + " has a number with a fraction or an exponent, which is no name;"
                            + " write it as an integer or as a text";
        }

        private static @Nullable String common(Set<String> columns, Set<String> ofRow) {
            if (ofRow.isEmpty()) {
                return null;
            }
            List<String> both = columns.stream().filter(ofRow::contains).toList();
            return both.isEmpty() ? null : String.join(", ", both);
        }
    }

    /** Converts a row. */
    private Candidate candidate(
            int number, long rowNumber, ImportMapping.Input input, MappedColumns columns, SourceRow.Values row) {
        String objection = columns.objection(row);
        Puri puri;
        try {
            puri = input.puri().expand(row.texts());
        } catch (IllegalArgumentException e) {
            return refused(
                    number, rowNumber, null, Conflict.Kind.MALFORMED, objection == null ? e.getMessage() : objection);
        }
        if (objection != null) {
            return refused(number, rowNumber, puri, Conflict.Kind.MALFORMED, objection);
        }
        try {
            ImportRow planned = convert(number, rowNumber, input, row.texts(), puri);
            return new Candidate.Planned(
                    planned,
                    SourceIndex.Name.of(puri.toString()),
                    planned.handle() == null || !inputsHaveHandles
                            ? null
                            : SourceIndex.Name.of(planned.handle().text()),
                    input.uuid() == null || input.rows() instanceof RowSource.Export
                            ? null
                            : SourceIndex.Name.of(puri.qualifiedCollection() + ' ' + planned.uuid()));
        } catch (IllegalArgumentException e) {
            return refused(number, rowNumber, puri, Conflict.Kind.MALFORMED, e.getMessage());
        } catch (ConflictException e) {
            return refused(number, rowNumber, puri, e.kind, e.getMessage());
        }
    }

    private Candidate.Refused refused(
            int number, long rowNumber, @Nullable Puri puri, Conflict.Kind kind, @Nullable String detail) {
        return new Candidate.Refused(new Conflict(
                inputNames.get(number),
                rowNumber,
                puri == null ? null : puri.toString(),
                kind,
                String.valueOf(detail)));
    }

    private ImportRow convert(int number, long rowNumber, ImportMapping.Input input, Map<String, String> row, Puri puri)
            throws ConflictException {
        Owner owner = new Owner(required("owner", input.owner(), row));
        Shard shard = new Shard(required("shard", input.shard(), row));
        UUID uuid = input.uuid() == null
                ? NameBasedIds.uuid(mapping.uuids(), puri)
                : Uuids.parse(required("uuid", input.uuid(), row), "uuid");
        Collection collection = declarations.collectionOf(puri);
        Map<String, String> attributes = new LinkedHashMap<>();
        input.attributes().forEach((attribute, template) -> {
            String value = template.expand(row);
            if (value != null) {
                attributes.put(attribute, value);
            }
        });
        ImportRow planned = ImportRow.of(
                number, rowNumber, puri, uuid, owner, shard, handle(puri, input, row, collection), attributes);
        if (input.rows() instanceof RowSource.Export) {
            planned = planned.withState(row);
            // Creating the events checks the bounds of their times.
            var unused = planned.events(mapping.source(), Instant.EPOCH);
        }
        // Creating the change checks the bounds of uuids.
        Refusal tooLarge = AttributeBounds.objectionTo(planned.created());
        if (tooLarge != null) {
            throw new ConflictException(Conflict.Kind.MALFORMED, tooLarge.detail());
        }
        if (collection != null) {
            requireAllowed(collection, owner);
        }
        return planned;
    }

    private static String required(String field, Template template, Map<String, String> row) {
        String value = template.expand(row);
        if (value == null) {
            throw new IllegalArgumentException(field + ": the column " + template.emptyColumns(row) + " is empty");
        }
        return value;
    }

    private static @Nullable Handle handle(
            Puri puri, ImportMapping.Input input, Map<String, String> row, @Nullable Collection collection)
            throws ConflictException {
        Prefix prefix = collection == null ? null : collection.prefix();
        if (input.generatesHandles()) {
            if (prefix == null) {
                throw new ConflictException(
                        Conflict.Kind.NOT_ALLOWED,
                        "handles are generated, but the collection " + puri.qualifiedCollection()
                                + " is not declared with a prefix");
            }
            return NameBasedIds.handle(prefix, puri);
        }
        String text = input.handle() == null ? null : input.handle().expand(row);
        if (text == null) {
            return null;
        }
        Handle handle = Handle.parse(text);
        if (!handle.prefix().equals(prefix)) {
            throw new ConflictException(
                    Conflict.Kind.NOT_ALLOWED,
                    "the handle " + handle + " needs the prefix " + handle.prefix() + ", but the collection "
                            + puri.qualifiedCollection() + " is declared with "
                            + (prefix == null ? "none" : prefix.toString()));
        }
        return handle;
    }

    private static void requireAllowed(Collection collection, Owner owner) throws ConflictException {
        if (collection.retired()) {
            throw new ConflictException(
                    Conflict.Kind.NOT_ALLOWED, "the collection " + collection.qualifiedName() + " is retired");
        }
        if (!collection.owners().isEmpty() && !collection.owners().contains(owner)) {
            throw new ConflictException(
                    Conflict.Kind.NOT_ALLOWED,
                    "the owner " + owner + " is not an owner of the collection " + collection.qualifiedName());
        }
    }

    /** What the rows of all inputs pass after their conversion. */
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

        /** Claims the names of rows, and lets those that got them be compared with the registry. */
        void claimAndCheck(List<Candidate> candidates) throws IOException, InterruptedException {
            List<Candidate> claimed = new ArrayList<>(candidates.size());
            List<ImportRow> rows = new ArrayList<>(candidates.size());
            for (Candidate candidate : candidates) {
                switch (candidate) {
                    case Candidate.Refused refused -> claimed.add(refused);
                    case Candidate.Superseded superseded -> claimed.add(superseded);
                    case Candidate.Planned planned -> {
                        Conflict conflict = claim(planned);
                        if (conflict == null) {
                            rows.add(planned.row());
                        }
                        claimed.add(conflict == null ? planned : new Candidate.Refused(conflict));
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
                case Candidate.Refused refused -> conflicts.add(refused.conflict());
                case Candidate.Superseded ignored -> superseded++;
                case Candidate.Planned candidateRow -> {
                    ImportRow row = candidateRow.row();
                    switch (nextResult.next()) {
                        case RegistryComparison.Result.Absent ignored -> planned.add(row);
                        case RegistryComparison.Result.Equal ignored -> planned.add(row.asPresent());
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
                Math.toIntExact(planned.stream().filter(ImportRow::present).count()),
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
        progress.show(doneCount, total);
    }
}
