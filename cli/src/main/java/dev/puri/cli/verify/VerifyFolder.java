package dev.puri.cli.verify;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.io.FolderLock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a verification. A file is replaced as a whole, or appended to and cut to the length that the state
 * names, so that a verification that was killed continues with the next check.
 *
 * <pre>
 *   state.json           the completed checks
 *   differences.ndjson   a line for each difference
 *   index.ndjson         the response of an indexer, during its check
 *   lock                 locked while a verification is running
 * </pre>
 */
public record VerifyFolder(Path path) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String DRAFT = "state.json.draft";

    /**
     * The progress of a verification.
     *
     * @param cluster id of the Kafka cluster; null in a folder of an earlier build
     * @param startedAt ISO 8601, {@link Instant}
     * @param isComplete whether all checks ran, even if some failed. The next verification then starts from
     *     the beginning
     * @param bytes length of the differences of the completed checks
     */
    public record State(
            @JsonProperty("cluster") @Nullable String cluster,
            @JsonProperty("startedAt") String startedAt,
            @JsonProperty("complete") boolean isComplete,
            @JsonProperty("bytes") long bytes,
            @JsonProperty("checks") List<Completed> checks) {
        /**
         * @throws DateTimeParseException if {@code startedAt} is no time
         */
        public State {
            var unused = Instant.parse(startedAt);
        }

        Instant started() {
            return Instant.parse(startedAt);
        }
    }

    /**
     * A completed check.
     *
     * @param expectedRows number of keys that the source has
     * @param notCompared number of keys that could not be compared
     * @param note which keys were not compared; null if all were
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Completed(
            @JsonProperty("name") String name,
            @JsonProperty("rows") long rows,
            @JsonProperty("expectedRows") long expectedRows,
            @JsonProperty("differences") long differences,
            @JsonProperty("notCompared") long notCompared,
            @JsonProperty("note") Check.@Nullable Note note) {}

    /** Returns the file with the differences. */
    public Path differences() {
        return path.resolve("differences.ndjson");
    }

    /** Returns the file for the response of an indexer. */
    public Path indexLines() {
        return path.resolve("index.ndjson");
    }

    private Path stateFile() {
        return path.resolve("state.json");
    }

    /**
     * Creates the folder if needed, and locks it.
     *
     * @throws VerifyException if another verification is running in it
     */
    public FolderLock lock() throws IOException {
        Files.createDirectories(path);
        FolderLock lock = FolderLock.tryLock(path);
        if (lock == null) {
            throw new VerifyException("another puri verify is running in " + path);
        }
        return lock;
    }

    /** Returns the state of the last verification; null if there was none. */
    public @Nullable State readState() throws IOException {
        try {
            return JSON.readValue(Files.readString(stateFile()), State.class);
        } catch (NoSuchFileException e) {
            return null;
        } catch (JsonProcessingException e) {
            throw new VerifyException(
                    stateFile() + " cannot be read, so use --restart to verify from the beginning: "
                            + e.getOriginalMessage(),
                    e);
        }
    }

    /** Writes the state. The differences that it names must be on disk. */
    void writeState(State state) throws IOException {
        Path draft = path.resolve(DRAFT);
        Files.writeString(draft, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(state) + "\n");
        Files.move(draft, stateFile(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Opens the differences for appending, and cuts them to a length. */
    OutputStream openDifferences(long length) throws IOException {
        Files.createDirectories(path);
        try (FileChannel file = FileChannel.open(differences(), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            if (file.size() < length) {
                throw new VerifyException(differences() + " is shorter than " + stateFile()
                        + " says; delete the folder and verify again");
            }
            file.truncate(length);
        }
        return Files.newOutputStream(differences(), StandardOpenOption.APPEND);
    }

    /**
     * Passes all differences to the consumer.
     *
     * @throws VerifyException if a line is damaged
     */
    public void forEachDifference(Consumer<Difference> consumer) throws IOException {
        if (!Files.exists(differences())) {
            return;
        }
        try (BufferedReader lines = Files.newBufferedReader(differences())) {
            long number = 1;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                consumer.accept(difference(line, number++));
            }
        }
    }

    private Difference difference(String line, long number) {
        try {
            return JSON.readValue(line, Difference.class);
        } catch (JsonProcessingException e) {
            throw new VerifyException(
                    "line " + number + " of " + differences()
                            + " cannot be read, so use --restart to verify from the beginning: "
                            + e.getOriginalMessage(),
                    e);
        }
    }

    /** Deletes the files of a verification. */
    public void clear() throws IOException {
        Files.deleteIfExists(stateFile());
        Files.deleteIfExists(differences());
        Files.deleteIfExists(path.resolve(DRAFT));
        Files.deleteIfExists(indexLines());
    }

    /** Deletes a folder in which no verification is running or will run. */
    public void delete() throws IOException {
        clear();
        Files.deleteIfExists(path.resolve(FolderLock.FILE));
        Files.delete(path);
    }

    /** Returns a value as a line of JSON. */
    static byte[] line(Object value) {
        try {
            return (JSON.writeValueAsString(value) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
