package dev.puri.search;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An index in memory: words are found as they stand, and a crash loses what was not committed. */
final class MemoryIndex implements SearchIndex {
    private static final CursorSeal SEAL = new CursorSeal(new byte[32]);

    private record Key(EntryKind kind, Puri puri) {}

    private final Map<Puri, SearchedAttributes> declared = new ConcurrentHashMap<>();

    private final Map<Key, Entry> taken = new HashMap<>();
    private final AtomicInteger purges = new AtomicInteger();
    private final AtomicInteger purgesBegun = new AtomicInteger();
    private volatile CompletableFuture<Boolean> purging = CompletableFuture.completedFuture(true);
    private volatile boolean isBroken;
    private volatile long claimed;
    private volatile Map<Key, Entry> seen = Map.of();
    private Map<Key, Entry> kept = Map.of();
    private IndexCheckpoint reached = IndexCheckpoint.NONE;
    private volatile boolean isAway;
    private volatile boolean isClosed;

    /** Out of reach, or back. */
    void setAway(boolean away) {
        isAway = away;
    }

    /** Has a bug, or none any more. */
    void setBroken(boolean broken) {
        isBroken = broken;
    }

    /** Says that it has so many identities more. */
    void claim(long more) {
        claimed = more;
    }

    int purges() {
        return purges.get();
    }

    int purgesBegun() {
        return purgesBegun.get();
    }

    /**
     * @param end how long purges take, and whether they succeed
     */
    void setPurging(CompletableFuture<Boolean> end) {
        purging = end;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Changes what readers see behind the log's back. */
    void plant(IndexChange change) {
        Map<Key, Entry> planted = new HashMap<>(seen);
        put(planted, change);
        put(taken, change);
        seen = Map.copyOf(planted);
    }

    /** As it is after a crash. */
    synchronized void crash() {
        taken.clear();
        taken.putAll(kept);
        seen = kept;
        isClosed = false;
    }

    private void requireThere() throws IndexUnavailableException {
        if (isAway) {
            throw new IndexUnavailableException("the engine is away", new IllegalStateException());
        }
        if (isClosed) {
            throw new IllegalStateException("it is closed");
        }
    }

    @Override
    public IndexCheckpoint committed() throws IndexUnavailableException {
        requireThere();
        return reached;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        requireThere();
        changes.forEach(change -> put(taken, change));
        changes.stream()
                .filter(change -> change.kind() == EntryKind.DOCUMENT)
                .forEach(change -> declared.put(change.puri(), change.searchedAttributes()));
    }

    /** How the last document was to be searched that was taken of a name; null when none was. */
    @Nullable
    SearchedAttributes declaredOf(Puri puri) {
        return declared.get(puri);
    }

    private static void put(Map<Key, Entry> entries, IndexChange change) {
        Key key = new Key(change.kind(), change.puri());
        if (change.entry() == null) {
            entries.remove(key);
        } else {
            entries.put(key, change.entry());
        }
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        requireThere();
        seen = Map.copyOf(taken);
    }

    @Override
    public synchronized void commit(IndexCheckpoint now) throws IndexUnavailableException {
        requireThere();
        if (isBroken) {
            throw new IllegalStateException("a bug");
        }
        kept = Map.copyOf(taken);
        // As an engine keeps it.
        reached = IndexCheckpoint.parse(now.toString());
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        requireThere();
        if (isBroken) {
            throw new StackOverflowError("a bug");
        }
        Map<Key, Entry> now = seen;
        EntryKind kind = query.text() == null ? EntryKind.IDENTITY : EntryKind.DOCUMENT;
        List<SearchResult.Hit> all = now.entrySet().stream()
                .filter(each -> each.getKey().kind() == kind)
                .filter(each -> passes(query, each.getKey().puri(), each.getValue()))
                .sorted(order(query))
                .map(each -> hit(now, query, each.getKey().puri(), each.getValue()))
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

    private static <T> boolean isAmong(Set<T> wanted, T value) {
        return wanted.isEmpty() || wanted.contains(value);
    }

    private static boolean hasWords(@Nullable String text, Entry entry) {
        if (text == null || !(entry instanceof Entry.OfDocument document)) {
            return true;
        }
        String all = String.join(" ", document.document().attributes().values()).toLowerCase(Locale.ROOT);
        return List.of(text.toLowerCase(Locale.ROOT).split("\\s+")).stream().allMatch(all::contains);
    }

    private static Comparator<Map.Entry<Key, Entry>> order(SearchQuery query) {
        return switch (query.order()) {
            case RELEVANCE -> Comparator.comparing(each -> each.getKey().puri());
            case OLDEST -> Comparator.comparing(each -> row(each.getValue()).uuid());
            case NEWEST ->
                Comparator.<Map.Entry<Key, Entry>, java.util.UUID>comparing(
                                each -> row(each.getValue()).uuid())
                        .reversed();
        };
    }

    private static Row row(Entry entry) {
        return ((Entry.OfIdentity) entry).row();
    }

    private static SearchResult.Hit hit(Map<Key, Entry> now, SearchQuery query, Puri puri, Entry entry) {
        Entry text = now.get(new Key(EntryKind.DOCUMENT, puri));
        Map<String, String> attributes =
                text instanceof Entry.OfDocument document ? document.document().attributes() : Map.of();
        Puri survivor = entry instanceof Entry.OfIdentity identity
                ? identity.row().mergedInto()
                : ((Entry.OfDocument) entry).document().mergedInto();
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
                survivor,
                query.text() == null ? null : 1.5,
                attributes,
                highlights);
    }

    private static Map<String, Long> counts(List<SearchResult.Hit> hits, Function<SearchResult.Hit, String> by) {
        return hits.stream().collect(Collectors.groupingBy(by, TreeMap::new, Collectors.counting()));
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        requireThere();
        return seen.get(new Key(kind, puri));
    }

    @Override
    public @Nullable Puri findByHandle(Handle handle) throws IndexUnavailableException {
        requireThere();
        return seen.entrySet().stream()
                .filter(each -> each.getKey().kind() == EntryKind.IDENTITY
                        && handle.equals(each.getValue().handle()))
                .map(each -> each.getKey().puri())
                .findAny()
                .orElse(null);
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException {
        requireThere();
        new ArrayList<>(seen.entrySet()).forEach(each -> {
            if (each.getKey().kind() == kind) {
                reader.accept(each.getKey().puri(), each.getValue());
            }
        });
    }

    @Override
    public void purge() throws IndexUnavailableException {
        requireThere();
        purgesBegun.incrementAndGet();
        if (!purging.join()) {
            throw new OutOfMemoryError("a test's");
        }
        purges.incrementAndGet();
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        requireThere();
        long identities = seen.keySet().stream()
                .filter(key -> key.kind() == EntryKind.IDENTITY)
                .count();
        return new IndexSize(identities + claimed, seen.size() - identities, 0, 100L * seen.size());
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
