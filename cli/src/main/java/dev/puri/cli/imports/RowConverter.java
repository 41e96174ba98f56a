package dev.puri.cli.imports;

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
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Converts rows of the inputs to rows of a plan, by the mapping and the declarations. Knows neither the other rows nor
 * the registry's identities. Thread-safe.
 */
final class RowConverter {
    private final ImportMapping mapping;
    private final List<String> inputNames;

    /** Whether an input has handles of its own. Those that are made from different pURIs differ, as their uuids do. */
    private final boolean inputsHaveHandles;

    private final Declarations declarations;

    RowConverter(ImportMapping mapping, Declarations declarations) {
        this.mapping = mapping;
        this.inputNames = mapping.inputNames();
        this.inputsHaveHandles = mapping.inputs().stream().anyMatch(input -> input.handle() != null);
        this.declarations = declarations;
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
    sealed interface Candidate {
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

        record Conflicting(Conflict conflict) implements Candidate {}

        record Superseded() implements Candidate {}
    }

    /**
     * Converts rows of an input.
     *
     * @param number index of the input in the mapping
     * @param firstRow number of the first of the rows in the input, from 1
     */
    List<Candidate> convert(int number, long firstRow, List<SourceRow> rows) {
        ImportMapping.Input input = mapping.inputs().get(number);
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
            return conflicting(
                    number, rowNumber, null, Conflict.Kind.MALFORMED, objection == null ? e.getMessage() : objection);
        }
        if (objection != null) {
            return conflicting(number, rowNumber, puri, Conflict.Kind.MALFORMED, objection);
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
            return conflicting(number, rowNumber, puri, Conflict.Kind.MALFORMED, e.getMessage());
        } catch (ConflictException e) {
            return conflicting(number, rowNumber, puri, e.kind, e.getMessage());
        }
    }

    private Candidate.Conflicting conflicting(
            int number, long rowNumber, @Nullable Puri puri, Conflict.Kind kind, @Nullable String detail) {
        return new Candidate.Conflicting(new Conflict(
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
                if (value.codePoints().anyMatch(c -> Character.getType(c) == Character.SURROGATE)) {
                    // UTF-8 would replace it by a question mark.
                    throw new IllegalArgumentException(attribute + " contains half of a surrogate pair");
                }
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
}
