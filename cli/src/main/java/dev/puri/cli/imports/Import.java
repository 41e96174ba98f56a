package dev.puri.cli.imports;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.imports.ImportFolder.LoadProgress;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.VerificationResult;
import dev.puri.cli.io.FolderLock;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Imports existing objects from files and databases into the registry, in the stages {@link #plan}, {@link #load},
 * {@link #verify} and {@link #opening}. Each stage reads the results of the earlier ones from a folder, and may be
 * repeated.
 */
public final class Import {
    /** A resolver reads the end offsets every second. If they are older, the lag that it reports is stale. */
    private static final double MAX_LAG_AGE_SECONDS = 10;

    private final ImportFolder folder;

    /**
     * @param folder the folder of the import; the plan creates it
     */
    public Import(Path folder) {
        this.folder = new ImportFolder(folder);
    }

    /**
     * The result of a plan.
     *
     * @param inputs number of rows of each input, by name
     * @param rows number of planned rows
     * @param existing number of planned rows that the registry has already
     * @param superseded number of rows of exports that are left out, because the same export has a later state of them
     * @param conflicts number of rows that are not imported, by the name of the reason
     * @param advice what has to be declared before the load, and which collections have no planned rows
     */
    public record PlanResult(
            Map<String, Long> inputs,
            long rows,
            @JsonProperty("present") long existing,
            long superseded,
            Map<String, Long> conflicts,
            List<String> advice) {}

    /**
     * The result of a load.
     *
     * @param rows number of loaded rows
     * @param published number of those that loads of the plan published
     * @param publishesExisting whether these loads also published the rows that the registry had when the plan was made
     */
    public record LoadResult(
            long rows,
            long published,
            @JsonProperty("includesPresent") boolean publishesExisting) {
        private static LoadResult of(LoadProgress load) {
            return new LoadResult(load.rows(), load.published(), load.publishesExisting());
        }
    }

    /**
     * The declarations that open the collections of a plan.
     *
     * @param declarations the declarations to apply; empty if all collections are open
     * @param stillImporting the collections in mode IMPORT that are not opened, because no row of them is planned
     */
    public record Opening(List<Declaration> declarations, List<String> stillImporting) {}

    /** The number of compared rows, and of those that differ in the registry or that it does not have. */
    public record VerifyResult(long rows, long differences) {}

    /** Returns the file of planned rows. */
    public Path rowsFile() {
        return folder.rows();
    }

    /** Returns the file of rows that are not imported. */
    public Path conflictsFile() {
        return folder.conflicts();
    }

    /** Returns the file of rows that differ in the registry or that it does not have. */
    public Path differencesFile() {
        return folder.differences();
    }

    /** Receives the progress of a stage, after each batch. */
    public interface ProgressListener {
        /**
         * Shows the progress.
         *
         * @param done number of rows that are done
         * @param total number of all rows; null if it is not known
         */
        void show(long done, @Nullable Long total);
    }

    /**
     * The state of the registry with which a plan compares its rows.
     *
     * @param collectionsWithRows the collections of which the registry has identities, from {@link
     *     #collectionsWithRows}; null if they are not known. Rows of other collections need no look-ups
     */
    public record RegistryView(
            Declarations declarations,
            IdentityResolver resolver,
            @Nullable Set<String> collectionsWithRows) {}

    /**
     * Returns the collections of which the registry has identities.
     *
     * @param stats the response of a resolver's {@code GET /v1/stats}
     * @return null if the response does not list all, or the resolver has not read everything, or cannot tell whether
     *     it has, because the brokers have not reported the end offsets for some seconds
     */
    public static @Nullable Set<String> collectionsWithRows(JsonNode stats) {
        Set<String> names = new HashSet<>();
        stats.path("byCollection").forEach(each -> names.add(each.path("name").asText()));
        JsonNode lag = stats.path("lag");
        boolean isComplete = stats.path("collections").asInt(-1) == names.size()
                && lag.path("records").asLong(-1) == 0
                && lag.path("ageSeconds").asDouble(Double.MAX_VALUE) < MAX_LAG_AGE_SECONDS;
        return isComplete ? names : null;
    }

    /**
     * Reads the inputs of a mapping file and writes a plan. Publishes nothing.
     *
     * @param environment contains the passwords of databases
     * @param maxPerSecond maximum number of rows per second; null for no limit
     * @throws ImportException if the mapping file has mistakes, or an input cannot be read or has no rows, or another
     *     stage is running
     */
    public PlanResult plan(
            Path mappingFile,
            RegistryView registry,
            Map<String, String> environment,
            @Nullable Integer maxPerSecond,
            Instant now,
            ProgressListener progress)
            throws IOException, InterruptedException {
        ImportMapping mapping = ImportMapping.read(mappingFile);
        Files.createDirectories(folder.path());
        try (FolderLock unused = folder.lock()) {
            Plan plan = new ImportPlanner(mapping, registry, environment, maxPerSecond, progress).plan(folder, now);
            Map<String, Long> inputs = new LinkedHashMap<>();
            plan.inputs().forEach(input -> inputs.put(input.input(), input.rows()));
            Map<String, Long> conflicts = new LinkedHashMap<>();
            plan.conflicts().forEach((kind, count) -> conflicts.put(kind.name(), count));
            List<String> advice = new ArrayList<>(notAccepting(plan, registry.declarations()));
            advice.addAll(notImporting(plan, registry.declarations()));
            for (String collection : plan.collectionsWithoutRows()) {
                advice.add("no row of the collection " + collection + " is planned, because each has a conflict");
            }
            return new PlanResult(inputs, plan.rows(), plan.existing(), plan.superseded(), conflicts, advice);
        }
    }

    /**
     * Publishes the planned rows that are not loaded yet.
     *
     * @param whileOpen whether to load into collections that are not in mode IMPORT with the source of the plan
     * @param maxPerSecond maximum number of published rows per second; null for no limit
     * @param publishExisting whether to publish also the rows that the registry had when the plan was made; they are
     *     also published if an earlier load of the plan requested it
     * @throws ImportException if there is no plan, it has no rows, an event is not acknowledged, or another stage is
     *     running. Also if rows are left to publish, and a collection is not in mode IMPORT or accepts no events of the
     *     source
     */
    public LoadResult load(
            IdentityPublisher publisher,
            Declarations declarations,
            boolean whileOpen,
            @Nullable Integer maxPerSecond,
            boolean publishExisting,
            ProgressListener progress)
            throws IOException, InterruptedException {
        try (FolderLock unused = folder.lock()) {
            Plan plan = folder.readPlan();
            LoadProgress earlier = folder.readLoad(plan);
            if (earlier.rows() == plan.rows() && !earlier.mustRestartFor(publishExisting)) {
                // Nothing is left to publish, so the collections may be open.
                return LoadResult.of(earlier);
            }
            requireAccepting(plan, declarations);
            List<String> objections = whileOpen ? List.of() : notImporting(plan, declarations);
            if (!objections.isEmpty()) {
                throw new ImportException(String.join("\n", objections)
                        + "\nor load with --while-open, if services may write to it meanwhile");
            }
            return LoadResult.of(
                    new ImportLoader(publisher, maxPerSecond, publishExisting, progress).load(folder, plan));
        }
    }

    /**
     * Compares the registry with the planned rows.
     *
     * @param wait how long the resolver may take to read the last event of each partition, and how long it may then
     *     take until all rows are equal
     * @param maxPerSecond maximum number of rows per second; null for no limit
     * @throws ImportException if the load is not complete, or the resolver has not read its events, or another stage is
     *     running
     */
    public VerifyResult verify(
            IdentityResolver resolver,
            Duration wait,
            @Nullable Integer maxPerSecond,
            Instant now,
            ProgressListener progress)
            throws IOException, InterruptedException {
        try (FolderLock unused = folder.lock()) {
            VerificationResult verification =
                    new ImportVerifier(resolver, wait, maxPerSecond, progress).verify(folder, folder.readPlan(), now);
            return new VerifyResult(verification.rows(), verification.differences());
        }
    }

    /**
     * Returns copies, with mode READ_WRITE, of the declarations that are in mode IMPORT: of the plan's collections and
     * their namespaces.
     *
     * <p>The mode of a namespace closes all of its collections, also those of other imports, which this folder does not
     * know. So a namespace is only opened on request.
     *
     * @param opensNamespaces whether to open namespaces
     * @throws ImportException if there is no verification without differences, or a collection or its namespace accepts
     *     no events of the plan's source, or a namespace is in mode IMPORT and must not be opened, or another stage is
     *     running
     */
    public Opening opening(Declarations declarations, boolean opensNamespaces) throws IOException {
        try (FolderLock unused = folder.lock()) {
            Plan plan = folder.readPlan();
            VerificationResult verification = folder.readVerification(plan);
            if (verification == null || verification.differences() > 0) {
                throw new ImportException(
                        verification == null
                                ? "the import is not verified; run first: puri import verify -d " + folder.path()
                                : verification.differences() + " rows differ: " + folder.differences()
                                        + "; resolve them and verify again");
            }
            requireAccepting(plan, declarations);
            List<Declaration> opened = new ArrayList<>();
            List<String> objections = new ArrayList<>();
            for (Declaration declaration : declarationsOf(plan, declarations)) {
                if (isImporting(declaration, plan)) {
                    opened.add(withMode(declaration, WriteMode.READ_WRITE));
                    if (declaration instanceof Namespace namespace && !opensNamespaces) {
                        objections.add(objectionToOpening(namespace, plan));
                    }
                }
            }
            if (!objections.isEmpty()) {
                throw new ImportException(String.join("\n", objections)
                        + "\nif no other import needs them closed, run: puri import open -d " + folder.path()
                        + " --namespace");
            }
            List<String> stillImporting = new ArrayList<>();
            for (String name : plan.collectionsWithoutRows()) {
                Collection collection = declarations.collection(name);
                if (collection != null && collection.mode().isImport()) {
                    stillImporting.add(name);
                } else if (opened.stream()
                        .anyMatch(declaration -> declaration.key().equals(namespaceOf(name)))) {
                    objections.add("each row of " + name + " has a conflict (" + folder.conflicts()
                            + "), and opening its namespace would let services write to it; declare mode IMPORT for "
                            + name + " first (puri collections apply)");
                }
            }
            if (!objections.isEmpty()) {
                throw new ImportException(String.join("\n", objections));
            }
            return new Opening(opened, stillImporting);
        }
    }

    private static String objectionToOpening(Namespace namespace, Plan plan) {
        List<String> collections = plan.collections().stream()
                .filter(name -> namespaceOf(name).equals(namespace.name()))
                .toList();
        return "the namespace " + namespace.name() + " is in mode " + namespace.mode()
                + ", which closes all of its collections; this import has only " + String.join(", ", collections);
    }

    private static String namespaceOf(String collection) {
        return collection.substring(0, collection.indexOf(':'));
    }

    private static List<String> notImporting(Plan plan, Declarations declarations) {
        List<String> objections = new ArrayList<>();
        for (String name : plan.collections()) {
            Collection collection = declarations.collection(name);
            Namespace namespace = declarations.namespace(namespaceOf(name));
            boolean isImporting = collection != null && isImporting(collection, plan)
                    || namespace != null && isImporting(namespace, plan);
            if (!isImporting) {
                objections.add("the collection " + name + " is not in mode IMPORT with importer " + plan.source()
                        + "; declare this mode for the collection or its namespace (puri collections apply)");
            }
        }
        return objections;
    }

    /** An event needs the consent of its collection and of its namespace, if they are declared. */
    private static List<String> notAccepting(Plan plan, Declarations declarations) {
        List<String> objections = new ArrayList<>();
        for (Declaration declaration : declarationsOf(plan, declarations)) {
            if (!declaration.mode().accepts(plan.source())) {
                objections.add(declaration.key() + " is in mode " + declaration.mode() + ", which accepts no events of "
                        + plan.source());
            }
        }
        return objections;
    }

    private static void requireAccepting(Plan plan, Declarations declarations) {
        List<String> objections = notAccepting(plan, declarations);
        if (!objections.isEmpty()) {
            throw new ImportException(String.join("\n", objections)
                    + "\ndeclare mode IMPORT with this importer (puri collections apply)");
        }
    }

    private static boolean isImporting(Declaration declaration, Plan plan) {
        return declaration.mode().isImport() && declaration.mode().accepts(plan.source());
    }

    private static Set<Declaration> declarationsOf(Plan plan, Declarations declarations) {
        Set<Declaration> found = new LinkedHashSet<>();
        for (String name : plan.collections()) {
            Namespace namespace = declarations.namespace(namespaceOf(name));
            Collection collection = declarations.collection(name);
            if (namespace != null) {
                found.add(namespace);
            }
            if (collection != null) {
                found.add(collection);
            }
        }
        return found;
    }

    private static Declaration withMode(Declaration declaration, WriteMode mode) {
        return switch (declaration) {
            case Namespace namespace -> new Namespace(namespace.name(), namespace.ownsTopic(), mode);
            case Collection collection ->
                new Collection(
                        collection.namespace(),
                        collection.name(),
                        collection.prefix(),
                        collection.owners(),
                        collection.search(),
                        collection.attributes(),
                        collection.isPublic(),
                        collection.description(),
                        collection.retired(),
                        mode);
        };
    }
}
