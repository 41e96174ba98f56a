package dev.puri.cli.imports;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.io.FolderLock;
import dev.puri.http.DirectoryTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The folder of an import. Each stage writes its result to a file, which later stages read; a stage that is killed
 * leaves the last complete state.
 *
 * <pre>
 *   plan/plan.json            the counts, and what the load needs
 *   plan/rows.ndjson          the rows to publish, in the order of the inputs
 *   plan/conflicts.ndjson     the rows that are not imported, with the reasons
 *   load.json                 the progress of the load
 *   differences.ndjson        the planned rows that differ in the registry or are missing there
 *   verification.json         the counts of the last verification
 *   lock                      locked while a stage is running
 * </pre>
 */
record ImportFolder(Path path) {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final String PLAN_FILE = "plan.json";

    /**
     * The result of a plan.
     *
     * @param plannedAt time of the plan, ISO 8601; it is also the time of the events
     * @param source the source of the events
     * @param collections the collections of the planned rows
     * @param collectionsWithoutRows the collections whose rows all have conflicts
     * @param rows number of planned rows
     * @param existing number of planned rows that the registry already had when the plan was made
     * @param superseded number of rows of exports that another row of the same export replaces
     * @param conflicts number of rows that are not imported, by kind
     */
    record Plan(
            String plannedAt,
            String source,
            List<String> collections,
            List<String> collectionsWithoutRows,
            List<InputCount> inputs,
            long rows,
            @JsonProperty("present") long existing,
            long superseded,
            Map<Conflict.Kind, Long> conflicts) {
        Plan {
            // A plan of an earlier build does not have them.
            collectionsWithoutRows = Objects.requireNonNullElse(collectionsWithoutRows, List.of());
        }
    }

    /** The number of rows that were read from an input. */
    record InputCount(String input, long rows) {}

    /**
     * The progress of a load.
     *
     * @param plannedAt identifies the plan
     * @param rows number of rows of the file that are done
     * @param bytes number of bytes of the file that are done
     * @param published number of rows whose events the brokers acknowledged
     * @param publishesExisting whether the load also publishes the rows that the registry had when the plan was made
     * @param lastTokens for each partition, the last pURI and the token of its event
     */
    record LoadProgress(
            String plannedAt,
            long rows,
            long bytes,
            long published,
            @JsonProperty("includesPresent") boolean publishesExisting,
            Map<String, LastEvent> lastTokens) {
        /** Whether the load has skipped rows that are requested now, so that it must begin again. */
        boolean mustRestartFor(boolean publishExisting) {
            return publishExisting && !publishesExisting;
        }

        /** Returns the state before the load of a plan. */
        static LoadProgress none(Plan plan, boolean publishesExisting) {
            return new LoadProgress(plan.plannedAt(), 0, 0, 0, publishesExisting, Map.of());
        }
    }

    /** The last event of a partition. */
    record LastEvent(String puri, String token) {}

    /**
     * The result of a verification.
     *
     * @param plannedAt identifies the plan
     */
    record VerificationResult(String plannedAt, String verifiedAt, long rows, long differences) {}

    /** A planned row that differs in the registry or is missing there. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record RowDifference(String puri, String detail) {}

    /** Returns the folder of the plan. */
    Path plan() {
        return path.resolve("plan");
    }

    private Path draft() {
        return path.resolve("plan.draft");
    }

    Path rows() {
        return plan().resolve("rows.ndjson");
    }

    Path conflicts() {
        return plan().resolve("conflicts.ndjson");
    }

    Path differences() {
        return path.resolve("differences.ndjson");
    }

    /** Creates an empty folder for a new plan, which {@link #replacePlan} makes the plan. */
    Path newPlan() throws IOException {
        DirectoryTrees.delete(draft());
        return Files.createDirectories(draft());
    }

    /** Replaces the plan with the new one, and deletes the results of the load and verification of the old plan. */
    void replacePlan(Plan plan) throws IOException {
        // From here on the new plan counts: if this process is killed, the next one finishes.
        write(draft().resolve(PLAN_FILE), plan);
        finishReplacement();
    }

    /** Removes the old plan and moves the new one to its place, if there is a complete new plan. */
    private void finishReplacement() throws IOException {
        if (Files.exists(draft().resolve(PLAN_FILE))) {
            Files.deleteIfExists(loadFile());
            Files.deleteIfExists(verificationFile());
            Files.deleteIfExists(differences());
            DirectoryTrees.delete(plan());
            Files.move(draft(), plan(), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /**
     * Locks the folder for a stage, and finishes the replacement of a plan that was interrupted.
     *
     * @throws ImportException if another stage is running in the folder, or the folder does not exist
     */
    FolderLock lock() throws IOException {
        if (!Files.isDirectory(path)) {
            throw noPlan();
        }
        FolderLock lock = FolderLock.tryLock(path);
        if (lock == null) {
            throw new ImportException("another puri import is running in " + path);
        }
        finishReplacement();
        return lock;
    }

    /**
     * Returns the plan.
     *
     * @throws ImportException if there is no complete plan
     */
    Plan readPlan() throws IOException {
        Plan plan = read(plan().resolve(PLAN_FILE), Plan.class);
        if (plan == null) {
            throw noPlan();
        }
        if (plan.rows() == 0) {
            // A success with no rows would look like a finished import.
            throw new ImportException("no row is planned, because each row of the inputs has a conflict: " + conflicts()
                    + "; resolve them and run: puri import plan");
        }
        return plan;
    }

    private ImportException noPlan() {
        return new ImportException(
                "there is no plan in " + path + "; run first: puri import plan -f MAPPING -d " + path);
    }

    /** Returns the progress of the load of a plan. */
    LoadProgress readLoad(Plan plan) throws IOException {
        LoadProgress load = read(loadFile(), LoadProgress.class);
        return load == null || !load.plannedAt().equals(plan.plannedAt()) ? LoadProgress.none(plan, false) : load;
    }

    void writeLoad(LoadProgress load) throws IOException {
        write(loadFile(), load);
    }

    /** Returns the last verification; null if the plan was not verified, or the verification was not completed. */
    @Nullable
    VerificationResult readVerification(Plan plan) throws IOException {
        VerificationResult verification = read(verificationFile(), VerificationResult.class);
        return verification == null || !verification.plannedAt().equals(plan.plannedAt()) ? null : verification;
    }

    /** Forgets the last verification, because a new one begins, or rows are loaded after it. */
    void deleteVerification() throws IOException {
        Files.deleteIfExists(verificationFile());
    }

    void writeVerification(VerificationResult verification) throws IOException {
        write(verificationFile(), verification);
    }

    private Path loadFile() {
        return path.resolve("load.json");
    }

    private Path verificationFile() {
        return path.resolve("verification.json");
    }

    private static void write(Path file, Object value) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        Files.writeString(draft, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n");
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static <T> @Nullable T read(Path file, Class<T> type) throws IOException {
        try {
            return JSON.readValue(Files.readString(file), type);
        } catch (NoSuchFileException e) {
            return null;
        } catch (JsonProcessingException e) {
            throw new ImportException(file + " cannot be read: " + e.getOriginalMessage(), e);
        }
    }

    /** Returns a value as a line of JSON. */
    static String line(Object value) {
        try {
            return JSON.writeValueAsString(value) + "\n";
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
