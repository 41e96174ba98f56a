package dev.puri.search.lucene;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.OwnerOnly;
import dev.puri.search.index.SearchIndex;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexFormatTooNewException;
import org.apache.lucene.index.IndexFormatTooOldException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Lucene indices in a folder, each in its own subfolder.
 *
 * <pre>
 * current            names the serving index, "index-3"; replaced atomically
 * index-3/           the serving index
 * index-4/           an unfinished rebuild: its number is larger than that of current
 * index-2/           a replaced index: its number is smaller; the next start deletes it
 * index-1.refused/   a damaged index, or one of another format; kept for inspection until the serving index is complete
 * </pre>
 */
public final class LuceneStore implements IndexStore {
    private static final Logger log = LoggerFactory.getLogger(LuceneStore.class);

    /** Lucene logs a warning about the incubating vector module to java.util.logging at each start. */
    private static final java.util.logging.Logger VECTOR_LOGGER =
            java.util.logging.Logger.getLogger("org.apache.lucene.internal.vectorization.VectorizationProvider");

    static {
        VECTOR_LOGGER.setLevel(Level.SEVERE);
    }

    private static final String CURRENT = "current";
    private static final Pattern GENERATION = Pattern.compile("index-([1-9][0-9]{0,17})");
    private static final String REFUSED = ".refused";

    private final Path root;
    private final CursorSeal seal;
    private @Nullable LuceneIndex serving;
    private @Nullable LuceneIndex building;

    /** Replaced indices that may still have readers. */
    private final List<LuceneIndex> replaced = new ArrayList<>();

    /** Whether there may be a refused index. */
    private volatile boolean hasRefused = true;

    /**
     * Creates a store. It touches no file yet.
     *
     * @param root a folder for this store alone; created if it is missing
     * @param seal encrypts cursors
     */
    public LuceneStore(Path root, CursorSeal seal) {
        this.root = root;
        this.seal = seal;
    }

    @Override
    public SearchIndex serving() throws IndexUnavailableException {
        if (serving != null && serving.isOpen()) {
            throw new IllegalStateException("the serving index is open");
        }
        return attempt(() -> {
            OwnerOnly.createFolder(root);
            OptionalLong current = current();
            LuceneIndex opened = current.isPresent() ? open(folder(current.getAsLong())) : null;
            if (opened == null) {
                opened = create();
                makeCurrent(opened);
            }
            serving = opened;
            removeReplaced();
            return opened;
        });
    }

    @Override
    public @Nullable SearchIndex building() throws IndexUnavailableException {
        if (building != null && building.isOpen()) {
            throw new IllegalStateException("the unfinished index is open");
        }
        return this.<@Nullable SearchIndex>attempt(() -> {
            OptionalLong number = unfinished();
            if (number.isPresent() && !wasCommitted(folder(number.getAsLong()))) {
                // The process ended while it created the index. Nothing is lost.
                IOUtils.rm(folder(number.getAsLong()));
                number = OptionalLong.empty();
            }
            building = number.isPresent() ? open(folder(number.getAsLong())) : null;
            return building;
        });
    }

    @Override
    public SearchIndex build() throws IndexUnavailableException {
        return attempt(() -> {
            if (unfinished().isPresent()) {
                throw new IllegalStateException("there is already an unfinished index in " + root);
            }
            LuceneIndex created = create();
            building = created;
            return created;
        });
    }

    @Override
    public void promote() throws IndexUnavailableException {
        LuceneIndex built = building;
        if (built == null) {
            throw new IllegalStateException("there is no unfinished index");
        }
        built.commitWithLastCheckpoint();
        this.<Boolean>attempt(() -> {
            makeCurrent(built);
            return true;
        });
        if (serving != null) {
            replaced.add(serving);
        }
        serving = built;
        building = null;
    }

    @Override
    public void drop(SearchIndex index) throws IndexUnavailableException {
        if (index.equals(serving)) {
            throw new IllegalStateException("the serving index cannot be dropped");
        }
        if (!(index instanceof LuceneIndex ours) || !replaced.contains(index) && !index.equals(building)) {
            throw new IllegalArgumentException("not an index of " + root);
        }
        ours.close();
        this.<Boolean>attempt(() -> {
            IOUtils.rm(ours.folder());
            return true;
        });
        // Last, so that the caller can try again after a failure.
        replaced.remove(ours);
        if (ours.equals(building)) {
            building = null;
        }
    }

    @Override
    public void close() {
        if (serving != null) {
            serving.close();
        }
        if (building != null) {
            building.close();
        }
        replaced.forEach(LuceneIndex::close);
    }

    private LuceneIndex create() throws IOException {
        List<Long> numbers = generations();
        Path folder = folder(numbers.isEmpty() ? 1 : numbers.getLast() + 1);
        OwnerOnly.createFolder(folder);
        return LuceneIndex.create(folder, seal, this::onCommit);
    }

    private static boolean wasCommitted(Path folder) throws IOException {
        try (Directory files = FSDirectory.open(folder)) {
            return DirectoryReader.indexExists(files);
        }
    }

    /** Opens an index; sets it aside and returns null if it is damaged or has another format. */
    private @Nullable LuceneIndex open(Path folder) throws IOException {
        try {
            return LuceneIndex.open(folder, seal, this::onCommit);
        } catch (CorruptIndexException
                | IndexFormatTooOldException
                | IndexFormatTooNewException
                | FileNotFoundException
                | NoSuchFileException
                | EOFException
                | RuntimeException e) {
            setAside(folder, e);
            return null;
        }
    }

    private void setAside(Path folder, Exception reason) throws IOException {
        // The store keeps at most one.
        removeRefused();
        Path aside = folder.resolveSibling(folder.getFileName() + REFUSED);
        hasRefused = true;
        log.warn(
                "The index {} cannot be used. It is kept as {} and rebuilt from the topics: {}",
                folder,
                aside,
                reason.toString());
        if (Files.exists(folder)) {
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private void onCommit(IndexCheckpoint checkpoint) {
        if (checkpoint.complete() && hasRefused) {
            try {
                removeRefused();
            } catch (IOException e) {
                log.warn("The refused index in {} cannot be removed yet: {}", root, e.toString());
            }
        }
    }

    private void removeRefused() throws IOException {
        for (Path each : list()) {
            if (each.getFileName().toString().endsWith(REFUSED)) {
                IOUtils.rm(each);
            }
        }
        hasRefused = false;
    }

    /** Removes replaced indices that an earlier process left. */
    private void removeReplaced() throws IOException {
        long current = current().orElseThrow();
        for (long number : generations()) {
            if (number < current && !isOpen(folder(number))) {
                IOUtils.rm(folder(number));
            }
        }
    }

    private boolean isOpen(Path folder) {
        return Stream.concat(replaced.stream(), Stream.ofNullable(building))
                .anyMatch(index -> index.isOpen() && index.folder().equals(folder));
    }

    private OptionalLong unfinished() throws IOException {
        long current = current().orElse(Long.MAX_VALUE);
        return generations().stream()
                .mapToLong(Long::longValue)
                .filter(number -> number > current)
                .max();
    }

    /** Returns the numbers of the existing index folders in ascending order. */
    private List<Long> generations() throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (Path each : list()) {
            Matcher named = GENERATION.matcher(each.getFileName().toString());
            if (named.matches()) {
                numbers.add(Long.valueOf(named.group(1)));
            }
        }
        numbers.sort(null);
        return numbers;
    }

    private List<Path> list() throws IOException {
        try (Stream<Path> all = Files.list(root)) {
            return all.toList();
        }
    }

    private Path folder(long number) {
        return root.resolve("index-" + number);
    }

    private OptionalLong current() throws IOException {
        Path file = root.resolve(CURRENT);
        try {
            Matcher named = GENERATION.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
            if (named.matches()) {
                return OptionalLong.of(Long.parseLong(named.group(1)));
            }
            log.warn("{} names no index. A new index is built from the topics", file);
        } catch (NoSuchFileException e) {
            // First start.
        }
        return OptionalLong.empty();
    }

    private void makeCurrent(LuceneIndex index) throws IOException {
        Path written = root.resolve(CURRENT + ".new");
        Files.deleteIfExists(written);
        OwnerOnly.createFile(written);
        Files.writeString(
                written,
                index.folder().getFileName().toString(),
                StandardCharsets.ISO_8859_1,
                StandardOpenOption.WRITE);
        IOUtils.fsync(written, false);
        Files.move(written, root.resolve(CURRENT), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        IOUtils.fsync(root, true);
    }

    private <T extends @Nullable Object> T attempt(Operation<T> operation) throws IndexUnavailableException {
        try {
            return operation.run();
        } catch (IOException e) {
            throw IndexUnavailableException.causedBy("cannot use the indices in " + root, e);
        }
    }

    private interface Operation<T extends @Nullable Object> {
        T run() throws IOException;
    }
}
