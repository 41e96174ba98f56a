package dev.puri.search;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.index.StoredHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An index in memory. It matches substrings, and a crash loses uncommitted changes. */
final class MemoryIndex implements SearchIndex {
    private static final CursorSeal SEAL = new CursorSeal(new byte[32]);

    private record Key(EntryKind kind, Puri puri) {}

    /**
     * @param hash the hash of the entry when it was written
     */
    private record Stored(Entry entry, int partition, long hash) {}

    private final Map<Puri, SearchedAttributes> declared = new ConcurrentHashMap<>();

    private final Map<Key, Stored> applied = new HashMap<>();
    private final AtomicInteger digestScans = new AtomicInteger();
    private final AtomicInteger purges = new AtomicInteger();
    private final AtomicInteger startedPurges = new AtomicInteger();
    private volatile CompletableFuture<Boolean> purgeResult = CompletableFuture.completedFuture(true);
    private volatile boolean isBroken;
    private volatile long reportedIdentities;
    private volatile Map<Key, Stored> visible = Map.of();
    private Map<Key, Stored> durable = Map.of();
    private volatile IndexCheckpoint checkpoint = IndexCheckpoint.NONE;
    private volatile boolean isUnavailable;
    private volatile boolean isApplyUnavailable;
    private volatile int unreadablePartition = -1;
    private volatile boolean isClosed;

    /** Makes all calls fail, or not. */
    void setUnavailable(boolean newValue) {
        isUnavailable = newValue;
    }

    /** Makes every application of changes fail, or not. */
    void setApplyUnavailable(boolean newValue) {
        isApplyUnavailable = newValue;
    }

    /**
     * Makes the reads of the hashes of a partition fail.
     *
     * @param partition -1 for none
     */
    void setUnreadablePartition(int partition) {
        unreadablePartition = partition;
    }

    /** Makes searches and commits throw unexpected errors, or not. */
    void setBroken(boolean broken) {
        isBroken = broken;
    }

    /** Adds a number to the reported number of identities. */
    void addReportedIdentities(long more) {
        reportedIdentities = more;
    }

    /** Returns how often the digests were computed. */
    int digestScans() {
        return digestScans.get();
    }

    int purges() {
        return purges.get();
    }

    int startedPurges() {
        return startedPurges.get();
    }

    /**
     * @param result completes when purges end; whether they succeed
     */
    void setPurgeResult(CompletableFuture<Boolean> result) {
        purgeResult = result;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Applies a change that is not in the topics, and makes it visible at once. */
    void plant(IndexChange change) {
        Map<Key, Stored> planted = new HashMap<>(visible);
        put(planted, change);
        put(applied, change);
        visible = Map.copyOf(planted);
    }

    /** Replaces a stored entry, visible at once, but not its hash, as a fault of a disk does. */
    void alter(Puri puri, Entry entry) {
        Key key = new Key(EntryKind.of(entry), puri);
        Map<Key, Stored> altered = new HashMap<>(visible);
        Stored stored = altered.get(key);
        altered.put(key, new Stored(entry, stored.partition(), stored.hash()));
        visible = Map.copyOf(altered);
    }

    /** Restores the state of the last commit, as after a crash. */
    synchronized void crash() {
        applied.clear();
        applied.putAll(durable);
        visible = durable;
        isClosed = false;
    }

    private void requireOpen() throws IndexUnavailableException {
        if (isUnavailable) {
            throw new IndexUnavailableException("the engine is unavailable", new IllegalStateException());
        }
        if (isClosed) {
            throw new IllegalStateException("the index is closed");
        }
    }

    @Override
    public IndexCheckpoint committedCheckpoint() throws IndexUnavailableException {
        requireOpen();
        return checkpoint;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        requireOpen();
        if (isApplyUnavailable) {
            throw new IndexUnavailableException("apply fails in this test", new IllegalStateException());
        }
        changes.forEach(change -> put(applied, change));
        changes.stream()
                .filter(change -> change.kind() == EntryKind.DOCUMENT)
                .forEach(change -> declared.put(change.puri(), change.searchedAttributes()));
    }

    /** Returns the declaration of the last applied document of a name; null if there was none. */
    @Nullable
    SearchedAttributes declaredOf(Puri puri) {
        return declared.get(puri);
    }

    private static void put(Map<Key, Stored> entries, IndexChange change) {
        Key key = new Key(change.kind(), change.puri());
        if (change.entry() == null) {
            entries.remove(key);
        } else {
            entries.put(key, new Stored(change.entry(), change.partition(), RowHash.of(change.puri(), change.entry())));
        }
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        requireOpen();
        visible = Map.copyOf(applied);
    }

    @Override
    public synchronized void commit(IndexCheckpoint newCheckpoint) throws IndexUnavailableException {
        requireOpen();
        if (isBroken) {
            throw new IllegalStateException("a bug");
        }
        if (Thread.currentThread().isInterrupted()) {
            // As engines do.
            throw new IndexUnavailableException("the commit was interrupted", new InterruptedException());
        }
        durable = Map.copyOf(applied);
        // Engines store the text of a checkpoint.
        checkpoint = IndexCheckpoint.parse(newCheckpoint.toString());
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        requireOpen();
        if (isBroken) {
            throw new StackOverflowError("a bug");
        }
        Map<Key, Stored> now = visible;
        EntryKind kind = query.text() == null ? EntryKind.IDENTITY : EntryKind.DOCUMENT;
        List<SearchResult.Hit> all = now.entrySet().stream()
                .filter(each -> each.getKey().kind() == kind)
                .filter(each ->
                        passes(query, each.getKey().puri(), each.getValue().entry()))
                .sorted(order(query))
                .map(each ->
                        hit(now, query, each.getKey().puri(), each.getValue().entry()))
                .toList();
        int from = query.after() == null ? 0 : Integer.parseInt(text(SEAL.open(query, query.after())));
        PageBudget budget = new PageBudget();
        List<SearchResult.Hit> hits = all.stream()
                .skip(from)
                .limit(query.limit())
                .takeWhile(budget::add)
                .toList();
        int to = from + hits.size();
        return new SearchResult(
                hits,
                all.size(),
                true,
                query.facets() ? counts(all, hit -> hit.puri().qualifiedCollection()) : Map.of(),
                query.facets() ? counts(all, hit -> hit.shard().text()) : Map.of(),
                to < all.size() ? SEAL.seal(query, Integer.toString(to).getBytes(StandardCharsets.US_ASCII)) : null);
    }

    private static String text(byte[] content) {
        return new String(content, StandardCharsets.US_ASCII);
    }

    private static boolean passes(SearchQuery query, Puri puri, Entry entry) {
        return isAmong(query.collections(), puri.qualifiedCollection())
                && isAmong(query.namespaces(), puri.namespace())
                && isAmong(query.shards(), entry.shard().text())
                && isAmong(query.owners(), entry.owner().text())
                && isAmong(query.statuses(), entry.status())
                && hasWords(query.text(), entry);
    }

    private static <T> boolean isAmong(Set<T> accepted, T value) {
        return accepted.isEmpty() || accepted.contains(value);
    }

    private static boolean hasWords(@Nullable String text, Entry entry) {
        if (text == null || !(entry instanceof Document document)) {
            return true;
        }
        String all = String.join(" ", document.attributes().values()).toLowerCase(Locale.ROOT);
        return List.of(text.toLowerCase(Locale.ROOT).split("\\s+")).stream().allMatch(all::contains);
    }

    private static Comparator<Map.Entry<Key, Stored>> order(SearchQuery query) {
        return switch (query.order()) {
            case RELEVANCE -> Comparator.comparing(each -> each.getKey().puri());
            case OLDEST ->
                Comparator.comparing(each -> row(each.getValue().entry()).uuid());
            case NEWEST ->
                Comparator.<Map.Entry<Key, Stored>, java.util.UUID>comparing(
                                each -> row(each.getValue().entry()).uuid())
                        .reversed();
        };
    }

    private static Row row(Entry entry) {
        return (Row) entry;
    }

    private static SearchResult.Hit hit(Map<Key, Stored> now, SearchQuery query, Puri puri, Entry entry) {
        Stored text = now.get(new Key(EntryKind.DOCUMENT, puri));
        Map<String, String> attributes =
                text != null && text.entry() instanceof Document document ? document.attributes() : Map.of();
        Map<String, List<String>> highlights = new TreeMap<>();
        if (query.text() != null && query.highlights()) {
            attributes.forEach((name, value) -> highlights.put(name, List.of("<em>" + value + "</em>")));
        }
        return new SearchResult.Hit(
                puri,
                entry.owner(),
                entry.shard(),
                entry.handle(),
                entry.status(),
                entry.mergedInto(),
                query.text() == null ? null : 1.5,
                attributes,
                highlights);
    }

    private static Map<String, Long> counts(List<SearchResult.Hit> hits, Function<SearchResult.Hit, String> by) {
        return hits.stream().collect(Collectors.groupingBy(by, TreeMap::new, Collectors.counting()));
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        requireOpen();
        Stored stored = visible.get(new Key(kind, puri));
        return stored == null ? null : stored.entry();
    }

    @Override
    public @Nullable Puri findByHandle(Handle handle) throws IndexUnavailableException {
        requireOpen();
        return visible.entrySet().stream()
                .filter(each -> each.getKey().kind() == EntryKind.IDENTITY
                        && handle.equals(each.getValue().entry().handle()))
                .map(each -> each.getKey().puri())
                .findAny()
                .orElse(null);
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException {
        requireOpen();
        new ArrayList<>(visible.entrySet()).forEach(each -> {
            if (each.getKey().kind() == kind) {
                reader.accept(each.getKey().puri(), each.getValue().entry());
            }
        });
    }

    @Override
    public EntryDigests digests() throws IndexUnavailableException {
        requireOpen();
        digestScans.incrementAndGet();
        EntryDigests.Sum digests = new EntryDigests.Sum();
        visible.forEach((key, stored) ->
                digests.add(key.kind(), stored.partition(), PartitionDigest.EMPTY.plus(stored.hash())));
        return digests.toDigests();
    }

    @Override
    public void forEachHash(EntryKind kind, int partition, Predicate<StoredHash> visitor)
            throws IndexUnavailableException {
        requireOpen();
        if (partition == unreadablePartition) {
            throw new IndexUnavailableException("the partition is unreadable in this test", new IOException());
        }
        for (Map.Entry<Key, Stored> each : visible.entrySet()) {
            Puri puri = each.getKey().puri();
            Stored stored = each.getValue();
            if (each.getKey().kind() == kind
                    && stored.partition() == partition
                    && !visitor.test(new StoredHash(puri, stored.hash(), RowHash.of(puri, stored.entry())))) {
                return;
            }
        }
    }

    @Override
    public void purge() throws IndexUnavailableException {
        requireOpen();
        startedPurges.incrementAndGet();
        if (!purgeResult.join()) {
            throw new OutOfMemoryError("simulated");
        }
        purges.incrementAndGet();
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        requireOpen();
        long identities = visible.keySet().stream()
                .filter(key -> key.kind() == EntryKind.IDENTITY)
                .count();
        return new IndexSize(identities + reportedIdentities, visible.size() - identities, 0, 100L * visible.size());
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
