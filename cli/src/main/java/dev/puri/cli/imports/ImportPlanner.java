package dev.puri.cli.imports;

import dev.puri.cli.imports.ImportFolder.InputCount;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.registry.AttributeBounds;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Refusal;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads all inputs and writes a plan: the rows to publish, and each conflict within the inputs and with the registry. It
 * publishes nothing. Of two rows that claim the same name, the first one is planned.
 */
final class ImportPlanner {
    private static final String INDEX = "index";

    private final ImportMapping mapping;
    private final Declarations declarations;
    private final RegistryComparison registry;
    private final Map<String, String> environment;
    private final LongConsumer progress;

    private final Map<Conflict.Kind, Long> conflictCounts = new EnumMap<>(Conflict.Kind.class);
    private final Set<String> collections = new TreeSet<>();
    private long readCount;
    private long plannedCount;
    private long presentCount;

    /**
     * @param environment contains the passwords of databases
     * @param progress gets the number of rows that were read, after each batch
     */
    ImportPlanner(
            ImportMapping mapping,
            Declarations declarations,
            IdentityResolver resolver,
            Map<String, String> environment,
            LongConsumer progress) {
        this.mapping = mapping;
        this.declarations = declarations;
        this.registry = new RegistryComparison(resolver);
        this.environment = environment;
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

    /** Makes a plan and replaces the plan of the folder by it. */
    Plan plan(ImportFolder folder, Instant now) throws IOException {
        Path draft = folder.newPlan();
        List<InputCount> inputs = new ArrayList<>();
        try (SourceIndex index = new SourceIndex(draft.resolve(INDEX));
                BufferedWriter rows = Files.newBufferedWriter(draft.resolve("rows.ndjson"));
                BufferedWriter conflicts = Files.newBufferedWriter(draft.resolve("conflicts.ndjson"))) {
            Output output = new Output(index, rows, conflicts);
            for (int i = 0; i < mapping.inputs().size(); i++) {
                ImportMapping.Input input = mapping.inputs().get(i);
                inputs.add(new InputCount(input.rows().name(), read(i, input, output)));
            }
        }
        ImportFolder.deleteIndex(draft.resolve(INDEX));
        Plan plan = new Plan(
                now.toString(),
                mapping.source(),
                List.copyOf(collections),
                inputs,
                plannedCount,
                presentCount,
                new LinkedHashMap<>(conflictCounts));
        folder.replacePlan(plan);
        return plan;
    }

    private long read(int number, ImportMapping.Input input, Output output) throws IOException {
        String name = input.rows().name();
        long rowNumber = 0;
        Set<String> missingColumns = new TreeSet<>(input.columns());
        try (RowSource source = RowSource.open(input.rows(), environment)) {
            Set<String> columns = source.columns();
            if (columns != null) {
                missingColumns.removeAll(columns);
                requireNoneMissing(name, missingColumns, String.join(", ", columns));
            }
            List<ImportRow> batch = new ArrayList<>();
            for (Map<String, String> row = source.next(); row != null; row = source.next()) {
                rowNumber++;
                readCount++;
                missingColumns.removeAll(row.keySet());
                ImportRow planned = output.claim(name, number, rowNumber, input, row);
                if (planned != null) {
                    batch.add(planned);
                }
                if (batch.size() == RegistryComparison.BATCH) {
                    output.write(name, batch);
                    batch.clear();
                    progress.accept(readCount);
                }
            }
            output.write(name, batch);
            progress.accept(readCount);
        } catch (IOException | SQLException e) {
            throw new ImportException(
                    name + ", after row " + rowNumber + ": " + (e.getMessage() == null ? e.toString() : e.getMessage()),
                    e);
        }
        if (rowNumber == 0) {
            throw new ImportException(name + " has no rows; remove the input from the mapping if this is right");
        }
        requireNoneMissing(name, missingColumns, "no row has them");
        return rowNumber;
    }

    private static void requireNoneMissing(String name, Set<String> missing, String known) {
        if (!missing.isEmpty()) {
            throw new ImportException(name + " does not have the columns " + String.join(", ", missing)
                    + " of the mapping; columns: " + known);
        }
    }

    private ImportRow convert(int number, long rowNumber, ImportMapping.Input input, Map<String, String> row)
            throws ConflictException {
        try {
            Puri puri = input.puri().expand(row);
            Owner owner = new Owner(required("owner", input.owner(), row));
            Shard shard = new Shard(required("shard", input.shard(), row));
            UUID uuid = input.uuid() == null
                    ? NameBasedIds.uuid(mapping.uuids(), puri)
                    : uuid(required("uuid", input.uuid(), row));
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
            // Checks the bounds of the event too, such as those of uuids.
            if (input.rows() instanceof RowSource.Export) {
                planned = planned.withState(row);
            }
            for (Event event : planned.events(mapping.source(), Instant.EPOCH)) {
                Refusal tooLarge = AttributeBounds.objectionTo(event.change());
                if (tooLarge != null) {
                    throw new ConflictException(Conflict.Kind.MALFORMED, tooLarge.detail());
                }
            }
            if (collection != null) {
                requireAllowed(collection, owner);
            }
            return planned;
        } catch (IllegalArgumentException e) {
            throw new ConflictException(Conflict.Kind.MALFORMED, e.getMessage());
        }
    }

    private static UUID uuid(String text) {
        UUID uuid = UUID.fromString(text);
        if (!uuid.toString().equalsIgnoreCase(text)) {
            throw new IllegalArgumentException("uuid: " + text + " is not a uuid");
        }
        return uuid;
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

    /** The files of a plan, and the names that its rows claim. */
    private final class Output {
        private final SourceIndex index;
        private final BufferedWriter rows;
        private final BufferedWriter conflicts;

        Output(SourceIndex index, BufferedWriter rows, BufferedWriter conflicts) {
            this.index = index;
            this.rows = rows;
            this.conflicts = conflicts;
        }

        /** Converts a row and claims its names; null if the row has a conflict. */
        @Nullable
        ImportRow claim(String name, int number, long rowNumber, ImportMapping.Input input, Map<String, String> row)
                throws IOException {
            String puri = null;
            try {
                ImportRow planned = convert(number, rowNumber, input, row);
                puri = planned.puri();
                requireFree(planned);
                SourceIndex.Claim claim = new SourceIndex.Claim(number, rowNumber, planned.shard());
                index.put(planned.puri(), claim);
                if (planned.handle() != null) {
                    index.put(planned.handle(), claim);
                }
                return planned;
            } catch (ConflictException e) {
                writeConflict(new Conflict(name, rowNumber, puri, e.kind, String.valueOf(e.getMessage())));
                return null;
            }
        }

        private void requireFree(ImportRow planned) throws ConflictException {
            SourceIndex.Claim ofPuri = index.find(planned.puri());
            if (ofPuri != null) {
                throw new ConflictException(
                        ofPuri.shard().equals(planned.shard())
                                ? Conflict.Kind.DUPLICATE_IN_SHARD
                                : Conflict.Kind.DUPLICATE_BETWEEN_SHARDS,
                        "the pURI is that of " + describe(ofPuri));
            }
            SourceIndex.Claim ofHandle = planned.handle() == null ? null : index.find(planned.handle());
            if (ofHandle != null) {
                throw new ConflictException(
                        Conflict.Kind.DUPLICATE_HANDLE,
                        "the handle " + planned.handle() + " is that of " + describe(ofHandle));
            }
        }

        private String describe(SourceIndex.Claim claim) {
            return "row " + claim.row() + " of "
                    + mapping.inputs().get(claim.input()).rows().name() + " in shard " + claim.shard();
        }

        /** Compares rows with the registry, and writes each to one of the files. */
        void write(String name, List<ImportRow> batch) throws IOException {
            if (batch.isEmpty()) {
                return;
            }
            List<RegistryComparison.Result> results = registry.compare(batch);
            for (int i = 0; i < batch.size(); i++) {
                ImportRow row = batch.get(i);
                switch (results.get(i)) {
                    case RegistryComparison.Result.Absent ignored -> writeRow(row);
                    case RegistryComparison.Result.Equal ignored -> {
                        presentCount++;
                        writeRow(row.asPresent());
                    }
                    case RegistryComparison.Result.Different different ->
                        writeConflict(new Conflict(
                                name, row.row(), row.puri(), Conflict.Kind.PURI_TAKEN, different.detail()));
                    case RegistryComparison.Result.HandleTaken taken ->
                        writeConflict(
                                new Conflict(name, row.row(), row.puri(), Conflict.Kind.HANDLE_TAKEN, taken.detail()));
                }
            }
        }

        private void writeRow(ImportRow row) throws IOException {
            plannedCount++;
            collections.add(Puri.parse(row.puri()).qualifiedCollection());
            rows.write(ImportFolder.line(row));
        }

        private void writeConflict(Conflict conflict) throws IOException {
            conflictCounts.merge(conflict.kind(), 1L, Long::sum);
            conflicts.write(ImportFolder.line(conflict));
        }
    }
}
