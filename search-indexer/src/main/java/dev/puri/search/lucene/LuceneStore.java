package dev.puri.search.lucene;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.OwnerOnly;
import dev.puri.search.index.IndexCheckpoint;
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
 * Indices in a folder, each in one of its own.
 *
 * <pre>
 * current            "index-3"; moved into place, so it names either one or the other
 * index-3/           serves
 * index-4/           is being built: its number is larger than that of current
 * index-2/           served before: smaller; the next start removes it
 * index-1.refused/   was damaged or of another version, and waits for somebody to look at it until an index
 *                    that serves is complete
 * </pre>
 */
public final class LuceneStore implements IndexStore {
    private static final Logger log = LoggerFactory.getLogger(LuceneStore.class);

    /** Warns, beside all other logs, at each start that a module could be used which is in incubation yet. */
    private static final java.util.logging.Logger VECTORS =
            java.util.logging.Logger.getLogger("org.apache.lucene.internal.vectorization.VectorizationProvider");

    static {
        VECTORS.setLevel(Level.SEVERE);
    }

    private static final String CURRENT = "current";
    private static final Pattern GENERATION = Pattern.compile("index-([1-9][0-9]{0,17})");
    private static final String REFUSED = ".refused";

    private final Path root;
    private final CursorSeal seal;
    private @Nullable LuceneIndex serving;
    private @Nullable LuceneIndex building;

    /** Served before, and may have readers yet. */
    private final List<LuceneIndex> retired = new ArrayList<>();

    /** Until it is known that there is none. */
    private volatile boolean hasRefused = true;

    /**
     * @param root a folder of this alone, which is made when it is missing
     * @param seal makes cursors
     */
    public LuceneStore(Path root, CursorSeal seal) {
        this.root = root;
        this.seal = seal;
    }

    @Override
    public SearchIndex serving() throws IndexUnavailableException {
        if (serving != null && serving.isOpen()) {
            throw new IllegalStateException("the index that serves is open");
        }
        return attempt(() -> {
            OwnerOnly.createFolder(root);
            OptionalLong current = current();
            LuceneIndex opened = current.isPresent() ? open(folder(current.getAsLong())) : null;
            if (opened == null) {
                opened = create();
                point(opened);
            }
            serving = opened;
            removeFormer();
            return opened;
        });
    }

    @Override
    public @Nullable SearchIndex building() throws IndexUnavailableException {
        if (building != null && building.isOpen()) {
            throw new IllegalStateException("the index that is being built is open");
        }
        return this.<@Nullable SearchIndex>attempt(() -> {
            OptionalLong number = unfinished();
            if (number.isPresent() && !wasCommitted(folder(number.getAsLong()))) {
                // An end came while it was made: nothing is damaged, and nothing is lost.
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
                throw new IllegalStateException("an index is being built already in " + root);
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
            throw new IllegalStateException("no index is being built");
        }
        built.commitAgain();
        this.<Boolean>attempt(() -> {
            point(built);
            return true;
        });
        if (serving != null) {
            retired.add(serving);
        }
        serving = built;
        building = null;
    }

    @Override
    public void drop(SearchIndex index) throws IndexUnavailableException {
        if (index.equals(serving)) {
            throw new IllegalStateException("the index that serves is not dropped");
        }
        if (!(index instanceof LuceneIndex ours) || !retired.contains(index) && !index.equals(building)) {
            throw new IllegalArgumentException("not an index of " + root);
        }
        ours.close();
        this.<Boolean>attempt(() -> {
            IOUtils.rm(ours.folder());
            return true;
        });
        // Not before: it may have to be tried again.
        retired.remove(ours);
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
        retired.forEach(LuceneIndex::close);
    }

    private LuceneIndex create() throws IOException {
        List<Long> numbers = generations();
        Path folder = folder(numbers.isEmpty() ? 1 : numbers.getLast() + 1);
        OwnerOnly.createFolder(folder);
        return LuceneIndex.create(folder, seal, this::committed);
    }

    private static boolean wasCommitted(Path folder) throws IOException {
        try (Directory files = FSDirectory.open(folder)) {
            return DirectoryReader.indexExists(files);
        }
    }

    /** Null when it is damaged or of another version. */
    private @Nullable LuceneIndex open(Path folder) throws IOException {
        try {
            return LuceneIndex.open(folder, seal, this::committed);
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
        // One is kept at most.
        removeRefused();
        Path aside = folder.resolveSibling(folder.getFileName() + REFUSED);
        hasRefused = true;
        log.warn("{} is not used and set aside as {}, the index is built anew: {}", folder, aside, reason.toString());
        if (Files.exists(folder)) {
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private void committed(IndexCheckpoint reached) {
        if (reached.complete() && hasRefused) {
            try {
                removeRefused();
            } catch (IOException e) {
                log.warn("What was set aside in {} cannot be removed yet: {}", root, e.toString());
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

    /** What served before the one that serves, which an end left. */
    private void removeFormer() throws IOException {
        long current = current().orElseThrow();
        for (long number : generations()) {
            if (number < current && !isOpen(folder(number))) {
                IOUtils.rm(folder(number));
            }
        }
    }

    private boolean isOpen(Path folder) {
        return Stream.concat(retired.stream(), Stream.ofNullable(building))
                .anyMatch(index -> index.isOpen() && index.folder().equals(folder));
    }

    private OptionalLong unfinished() throws IOException {
        long current = current().orElse(Long.MAX_VALUE);
        return generations().stream()
                .mapToLong(Long::longValue)
                .filter(number -> number > current)
                .max();
    }

    /** The numbers of the folders that are there, the largest last. */
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
            log.warn("{} names no index, which is built anew", file);
        } catch (NoSuchFileException e) {
            // The first start.
        }
        return OptionalLong.empty();
    }

    private void point(LuceneIndex index) throws IOException {
        Path written = root.resolve(CURRENT + ".new");
        Files.deleteIfExists(written);
        OwnerOnly.create(written);
        Files.writeString(
                written,
                index.folder().getFileName().toString(),
                StandardCharsets.ISO_8859_1,
                StandardOpenOption.WRITE);
        IOUtils.fsync(written, false);
        Files.move(written, root.resolve(CURRENT), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        IOUtils.fsync(root, true);
    }

    private <T extends @Nullable Object> T attempt(Attempt<T> attempt) throws IndexUnavailableException {
        try {
            return attempt.make();
        } catch (IOException e) {
            throw IndexUnavailableException.because("cannot use the indices in " + root, e);
        }
    }

    private interface Attempt<T extends @Nullable Object> {
        T make() throws IOException;
    }
}
