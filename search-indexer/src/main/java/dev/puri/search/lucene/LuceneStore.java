package dev.puri.search.lucene;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PrivateFiles;
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
 * The Lucene indices in a folder, each in a subfolder of its own. For example:
 *
 * <pre>
 * current            a file with the name of the serving index, "index-3"; a switch replaces this file atomically
 * index-3/           the serving index
 * index-4/           the unfinished index of a rebuild; a number above the serving index's
 * index-2/           a replaced index; a number below the serving index's; the next start deletes this folder
 * index-1.refused/   an index that was damaged or unusable; kept until a complete index commits
 * </pre>
 */
public final class LuceneStore implements IndexStore {
    private static final Logger log = LoggerFactory.getLogger(LuceneStore.class);

    /** Lucene warns at each start that the incubating vector module is missing. This server does not need it. */
    private static final java.util.logging.Logger VECTOR_LOGGER =
            java.util.logging.Logger.getLogger("org.apache.lucene.internal.vectorization.VectorizationProvider");

    static {
        VECTOR_LOGGER.setLevel(Level.SEVERE);
    }

    private static final String CURRENT = "current";
    private static final Pattern INDEX_NAME = Pattern.compile("index-([1-9][0-9]{0,17})");
    private static final String REFUSED_SUFFIX = ".refused";

    private final Path root;
    private final CursorSeal seal;
    private @Nullable LuceneIndex servingIndex;
    private @Nullable LuceneIndex unfinishedIndex;

    /** Replaced indices that may still have readers. */
    private final List<LuceneIndex> replacedIndices = new ArrayList<>();

    /** Whether the folder may contain a refused index. */
    private volatile boolean mayHaveRefused = true;

    /**
     * Creates a store. The constructor reads and writes no file.
     *
     * @param root a folder that no other store uses; {@link #openServing} creates it if it is missing
     * @param seal encrypts cursors
     */
    public LuceneStore(Path root, CursorSeal seal) {
        this.root = root;
        this.seal = seal;
    }

    @Override
    public SearchIndex openServing() throws IndexUnavailableException {
        if (servingIndex != null && servingIndex.isOpen()) {
            throw new IllegalStateException("the serving index is already open");
        }
        return attempt(() -> {
            PrivateFiles.createFolder(root);
            OptionalLong number = currentNumber();
            LuceneIndex index = number.isPresent() ? openOrSetAside(folder(number.getAsLong())) : null;
            if (index == null) {
                index = create();
                makeCurrent(index);
            }
            servingIndex = index;
            removeReplaced();
            return index;
        });
    }

    @Override
    public @Nullable SearchIndex openUnfinished() throws IndexUnavailableException {
        if (unfinishedIndex != null && unfinishedIndex.isOpen()) {
            throw new IllegalStateException("the unfinished index is already open");
        }
        return this.<@Nullable SearchIndex>attempt(() -> {
            OptionalLong number = unfinishedNumber();
            if (number.isPresent() && !hasCommit(folder(number.getAsLong()))) {
                // The process ended while it created the index.
                IOUtils.rm(folder(number.getAsLong()));
                number = OptionalLong.empty();
            }
            unfinishedIndex = number.isPresent() ? openOrSetAside(folder(number.getAsLong())) : null;
            return unfinishedIndex;
        });
    }

    @Override
    public SearchIndex createUnfinished() throws IndexUnavailableException {
        return attempt(() -> {
            if (unfinishedNumber().isPresent()) {
                throw new IllegalStateException("there is already an unfinished index in " + root);
            }
            LuceneIndex index = create();
            unfinishedIndex = index;
            return index;
        });
    }

    @Override
    public void promote() throws IndexUnavailableException {
        LuceneIndex rebuiltIndex = unfinishedIndex;
        if (rebuiltIndex == null) {
            throw new IllegalStateException("there is no unfinished index");
        }
        rebuiltIndex.commitWithLastCheckpoint();
        this.<Boolean>attempt(() -> {
            makeCurrent(rebuiltIndex);
            return true;
        });
        if (servingIndex != null) {
            replacedIndices.add(servingIndex);
        }
        servingIndex = rebuiltIndex;
        unfinishedIndex = null;
    }

    @Override
    public boolean isServingUnchanged() throws IndexUnavailableException {
        OptionalLong number = attempt(this::currentNumber);
        return servingIndex != null
                && number.isPresent()
                && servingIndex.folder().equals(folder(number.getAsLong()));
    }

    @Override
    public void drop(SearchIndex index) throws IndexUnavailableException {
        if (index.equals(servingIndex)) {
            throw new IllegalStateException("the serving index cannot be dropped");
        }
        if (!(index instanceof LuceneIndex dropped)
                || !replacedIndices.contains(index) && !index.equals(unfinishedIndex)) {
            throw new IllegalArgumentException("the index is not a replaced or unfinished index in " + root);
        }
        dropped.close();
        this.<Boolean>attempt(() -> {
            IOUtils.rm(dropped.folder());
            return true;
        });
        // The store forgets the index last, so that the caller can try again after a failure.
        replacedIndices.remove(dropped);
        if (dropped.equals(unfinishedIndex)) {
            unfinishedIndex = null;
        }
    }

    @Override
    public void close() {
        if (servingIndex != null) {
            servingIndex.close();
        }
        if (unfinishedIndex != null) {
            unfinishedIndex.close();
        }
        replacedIndices.forEach(LuceneIndex::close);
    }

    private LuceneIndex create() throws IOException {
        List<Long> numbers = indexNumbers();
        Path folder = folder(numbers.isEmpty() ? 1 : numbers.getLast() + 1);
        PrivateFiles.createFolder(folder);
        return LuceneIndex.create(folder, seal, this::onCommit);
    }

    private static boolean hasCommit(Path folder) throws IOException {
        try (Directory files = FSDirectory.open(folder)) {
            return DirectoryReader.indexExists(files);
        }
    }

    /** Opens an index. If the index is damaged, has another format or no checkpoint, sets it aside and returns null. */
    private @Nullable LuceneIndex openOrSetAside(Path folder) throws IOException {
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
        // The store keeps at most one refused index.
        removeRefused();
        Path aside = folder.resolveSibling(folder.getFileName() + REFUSED_SUFFIX);
        mayHaveRefused = true;
        log.warn(
                "The index {} cannot be used. It is kept as {}, and a new index is built from the topics: {}",
                folder,
                aside,
                reason.toString());
        if (Files.exists(folder)) {
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private void onCommit(IndexCheckpoint checkpoint) {
        if (checkpoint.isComplete() && mayHaveRefused) {
            try {
                removeRefused();
            } catch (IOException e) {
                log.warn(
                        "The refused index in {} cannot be removed. The next commit tries again: {}",
                        root,
                        e.toString());
            }
        }
    }

    private void removeRefused() throws IOException {
        for (Path file : files()) {
            if (file.getFileName().toString().endsWith(REFUSED_SUFFIX)) {
                IOUtils.rm(file);
            }
        }
        mayHaveRefused = false;
    }

    /** Removes replaced indices that are not open. */
    private void removeReplaced() throws IOException {
        long servingNumber = currentNumber().orElseThrow();
        for (long number : indexNumbers()) {
            if (number < servingNumber && !isOpen(folder(number))) {
                IOUtils.rm(folder(number));
            }
        }
    }

    private boolean isOpen(Path folder) {
        return Stream.concat(replacedIndices.stream(), Stream.ofNullable(unfinishedIndex))
                .anyMatch(index -> index.isOpen() && index.folder().equals(folder));
    }

    private OptionalLong unfinishedNumber() throws IOException {
        long servingNumber = currentNumber().orElse(Long.MAX_VALUE);
        return indexNumbers().stream()
                .mapToLong(Long::longValue)
                .filter(number -> number > servingNumber)
                .max();
    }

    /** Returns the numbers of the existing index folders in ascending order. */
    private List<Long> indexNumbers() throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (Path file : files()) {
            Matcher name = INDEX_NAME.matcher(file.getFileName().toString());
            if (name.matches()) {
                numbers.add(Long.valueOf(name.group(1)));
            }
        }
        numbers.sort(null);
        return numbers;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(root)) {
            return files.toList();
        }
    }

    private Path folder(long number) {
        return root.resolve("index-" + number);
    }

    /** Returns the number of the serving index, from the file {@code current}. */
    private OptionalLong currentNumber() throws IOException {
        Path file = root.resolve(CURRENT);
        try {
            Matcher name = INDEX_NAME.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
            if (name.matches()) {
                return OptionalLong.of(Long.parseLong(name.group(1)));
            }
            log.warn("The file {} contains no index name. A new index is built from the topics", file);
        } catch (NoSuchFileException e) {
            // The server starts for the first time.
        }
        return OptionalLong.empty();
    }

    private void makeCurrent(LuceneIndex index) throws IOException {
        Path newFile = root.resolve(CURRENT + ".new");
        Files.deleteIfExists(newFile);
        PrivateFiles.createFile(newFile);
        Files.writeString(
                newFile,
                index.folder().getFileName().toString(),
                StandardCharsets.ISO_8859_1,
                StandardOpenOption.WRITE);
        IOUtils.fsync(newFile, false);
        Files.move(newFile, root.resolve(CURRENT), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
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
