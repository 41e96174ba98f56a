package dev.puri.client.resolve;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.RemovalListener;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches answers and drops those whose rows change. An answer comes from one resolver's table, and the feed of changes comes
 * on another connection, perhaps from another resolver, so either may overtake the other. An answer is kept only if
 *
 * <pre>
 *   feed reported the row's last change  +  replica lag  &lt;  request sent
 * </pre>
 *
 * A change that the feed reported before that line is in the answer, because the answering table was at most that lag behind.
 * A change reported while the request is under way forbids keeping the answer; one reported later removes it.
 * Changes are remembered by row, up to a bound. A row without a remembered change counts as changed at the latest change that
 * was forgotten, and every row counts as changed when the feed began.
 *
 * <p>What an answer depends on:
 *
 * <ul>
 *   <li>Found: its own row.
 *   <li>An answer by handle: the row of the pURI that the handle leads to. The row's own handle shows whether it still leads there.
 *   <li>Merged, and deleted after a merge: its row, the survivor's row, and the rows between, which no answer names. Rows between are
 *       merged, so they change only by being deleted, erased or merged again: any such change of any row ends all these answers.
 * </ul>
 *
 * Unknown names are not cached: anybody could fill the cache with them. An erased name is in memory only as long as its change is
 * remembered.
 */
final class RowCache {
    /** Most rows whose changes are remembered; with the default lag this is enough for 6,500 changes a second. */
    static final int MAX_CHANGED = 65_536;

    /** How long a change is remembered beyond the lag; longer than a request takes. */
    private static final Duration REMEMBERED = Duration.ofMinutes(1);

    private final Cache<Puri, Entry> rows;

    /** Names by handle, only of rows in the cache. */
    private final Cache<Handle, Puri> namesByHandle;

    /** Survivors of merged rows in the cache, by their names. */
    private final Cache<Puri, Survivor> survivors =
            Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

    private final long replicaLagNanos;
    private final int maxChanged;
    private final LongSupplier nanoClock;

    /** Time at which the feed reported the last change of each row, oldest first. Guarded by this. */
    private final Map<Puri, Long> changedAt = new LinkedHashMap<>();

    /** Time of the latest change that is forgotten; it counts for every row not in {@link #changedAt}. Guarded by this. */
    private long othersChangedAt;

    /** When a row was last merged, deleted or erased. Guarded by this. */
    private long chainsChangedAt;

    /** Number of changes so far that ended all answers that depend on a chain of merges. */
    private volatile long chains;

    private volatile boolean isUsed;

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder evictions = new LongAdder();
    private final LongAdder notKept = new LongAdder();
    private final LongAdder changes = new LongAdder();
    private final LongAdder resets = new LongAdder();

    /**
     * @param verdict found, merged or deleted
     * @param token the token of the request; null for none
     * @param survivor null if the answer depends on its own row alone
     * @param chains value of the counter when the answer was cached
     */
    private record Entry(
            Verdict verdict,
            @Nullable Position token,
            @Nullable Survivor survivor,
            long chains) {}

    /** A row that others were merged into. Only their entries reference it. */
    private static final class Survivor {
        private volatile boolean isChanged;
    }

    /**
     * @param maxRows most rows
     * @param replicaLag how far the answering resolver may be behind the one that reports changes
     */
    RowCache(int maxRows, Duration replicaLag, LongSupplier nanoClock) {
        this(maxRows, replicaLag, nanoClock, MAX_CHANGED);
    }

    RowCache(int maxRows, Duration replicaLag, LongSupplier nanoClock, int maxChanged) {
        this.replicaLagNanos = replicaLag.toNanos();
        this.maxChanged = maxChanged;
        this.nanoClock = nanoClock;
        this.othersChangedAt = nanoClock.getAsLong();
        this.chainsChangedAt = othersChangedAt;
        // On the thread that writes, so that no pool is needed and tests see the effects at once.
        namesByHandle = Caffeine.newBuilder()
                .maximumSize(maxRows)
                .executor(Runnable::run)
                .build();
        RemovalListener<Puri, Entry> onRemoval = this::removed;
        rows = Caffeine.newBuilder()
                .maximumSize(maxRows)
                .executor(Runnable::run)
                .removalListener(onRemoval)
                .evictionListener((puri, entry, cause) -> evictions.increment())
                .build();
    }

    /**
     * Removes a row's handle with it, so that it leaves no erased name behind. Any thread that uses the cache calls this, perhaps
     * holding the cache's lock, so it must not take another lock.
     */
    private void removed(@Nullable Puri puri, @Nullable Entry entry, RemovalCause cause) {
        Handle handle = entry == null ? null : handleOf(entry.verdict);
        if (puri != null && handle != null && cause != RemovalCause.REPLACED) {
            namesByHandle.asMap().remove(handle, puri);
        }
    }

    /** The current time on the cache's clock; to be read before a request is sent. */
    long now() {
        return nanoClock.getAsLong();
    }

    /** Returns the cached answer if it is still true; null if a resolver has to be asked. */
    @Nullable
    Verdict get(Ref ref) {
        Entry entry = isUsed ? entry(ref) : null;
        if (entry == null || !answers(entry, ref)) {
            misses.increment();
            return null;
        }
        hits.increment();
        return entry.verdict;
    }

    private boolean answers(Entry entry, Ref ref) {
        // An answer to one token says nothing of an earlier one, whose event may have been refused.
        Position token = ref.at();
        boolean isOfToken = token == null || token.equals(entry.token);
        Survivor survivor = entry.survivor;
        return isOfToken && (survivor == null || (!survivor.isChanged && entry.chains == chains));
    }

    private @Nullable Entry entry(Ref ref) {
        Puri puri = ref.puri();
        if (puri != null) {
            return rows.getIfPresent(puri);
        }
        Handle handle = ref.handle();
        Puri name = handle == null ? null : namesByHandle.getIfPresent(handle);
        Entry entry = name == null ? null : rows.getIfPresent(name);
        return entry != null && handle != null && handle.equals(handleOf(entry.verdict)) ? entry : null;
    }

    /**
     * Caches an answer unless it may be stale already.
     *
     * @param sentAt when its request was sent
     */
    void put(Ref ref, Verdict verdict, long sentAt) {
        if (verdict instanceof Verdict.Found found) {
            put(ref, found.puri(), null, verdict, sentAt);
        } else if (verdict instanceof Verdict.Merged merged && merged.canonical() != null) {
            put(ref, merged.puri(), merged.canonical(), verdict, sentAt);
        } else if (verdict instanceof Verdict.Deleted deleted) {
            put(ref, deleted.puri(), deleted.canonical(), verdict, sentAt);
        }
    }

    private synchronized void put(Ref ref, Puri puri, @Nullable Puri survivor, Verdict verdict, long sentAt) {
        boolean mayBeKept = isApplied(lastChange(puri), sentAt)
                && (survivor == null
                        || (isApplied(lastChange(survivor), sentAt) && isApplied(chainsChangedAt, sentAt)));
        if (!mayBeKept) {
            notKept.increment();
            return;
        }
        Survivor dependsOn = survivor == null ? null : survivors.get(survivor, unused -> new Survivor());
        Handle handle = handleOf(verdict);
        Entry before = rows.getIfPresent(puri);
        Handle handleBefore = before == null ? null : handleOf(before.verdict);
        if (handleBefore != null && !handleBefore.equals(handle)) {
            namesByHandle.invalidate(handleBefore);
        }
        // Before its row, which may be evicted at once and then removes the handle.
        if (handle != null && handle.equals(ref.handle())) {
            namesByHandle.put(handle, puri);
        }
        rows.put(puri, new Entry(verdict, ref.at(), dependsOn, chains));
    }

    private long lastChange(Puri puri) {
        Long known = changedAt.get(puri);
        return known == null ? othersChangedAt : known;
    }

    /** Whether the answering resolver had applied a change that was reported at a time, however far it may be behind. */
    private boolean isApplied(long changedAt, long sentAt) {
        return sentAt - changedAt > replicaLagNanos;
    }

    private static @Nullable Handle handleOf(Verdict verdict) {
        if (verdict instanceof Verdict.Found found) {
            return found.handle();
        }
        if (verdict instanceof Verdict.Merged merged) {
            return merged.handle();
        }
        return verdict instanceof Verdict.Deleted deleted ? deleted.handle() : null;
    }

    /**
     * Drops the answers that depend on a changed row.
     *
     * @param isActive false if the row is merged, deleted or erased now
     */
    synchronized void changed(Puri puri, boolean isActive) {
        changes.increment();
        long now = nanoClock.getAsLong();
        // Removed first, so that it moves to the end.
        changedAt.remove(puri);
        changedAt.put(puri, now);
        forgetChanges(now);
        rows.invalidate(puri);
        Survivor survivor = survivors.getIfPresent(puri);
        if (survivor != null) {
            survivor.isChanged = true;
            survivors.invalidate(puri);
            // These entries are no longer used, and contain its name, which may have been erased.
            rows.asMap().values().removeIf(entry -> entry.survivor == survivor);
        }
        if (!isActive) {
            dropChains();
        }
    }

    /** Forgets old changes, and with them erased names. The feed calls it at every id. */
    synchronized void forgetChanges() {
        forgetChanges(nanoClock.getAsLong());
    }

    private void forgetChanges(long now) {
        Iterator<Long> oldestFirst = changedAt.values().iterator();
        while (oldestFirst.hasNext()) {
            long oldest = oldestFirst.next();
            if (changedAt.size() <= maxChanged && now - oldest <= replicaLagNanos + REMEMBERED.toNanos()) {
                return;
            }
            othersChangedAt = oldest;
            oldestFirst.remove();
        }
    }

    /** Ends all answers that depend on a chain of merges. */
    synchronized void dropChains() {
        chainsChangedAt = nanoClock.getAsLong();
        chains++;
    }

    /** Empties the cache, because changes may have been missed. Answers to earlier requests will not be cached. */
    synchronized void clear() {
        resets.increment();
        changedAt.clear();
        othersChangedAt = nanoClock.getAsLong();
        rows.invalidateAll();
        namesByHandle.invalidateAll();
        dropChains();
    }

    /** Sets whether look-ups may be answered from the cache. */
    void use(boolean isCurrent) {
        isUsed = isCurrent;
    }

    /** All names in memory; for tests. */
    synchronized Set<Puri> names() {
        Set<Puri> names = new HashSet<>(changedAt.keySet());
        names.addAll(rows.asMap().keySet());
        names.addAll(namesByHandle.asMap().values());
        rows.asMap().values().forEach(entry -> {
            Puri canonical = canonicalOf(entry.verdict);
            if (canonical != null) {
                names.add(canonical);
            }
        });
        return names;
    }

    private static @Nullable Puri canonicalOf(Verdict verdict) {
        if (verdict instanceof Verdict.Merged merged) {
            return merged.canonical();
        }
        return verdict instanceof Verdict.Deleted deleted ? deleted.canonical() : null;
    }

    CacheStatistics statistics(long connections, CacheStatistics.Feed feed, @Nullable String trouble) {
        return new CacheStatistics(
                hits.sum(),
                misses.sum(),
                rows.estimatedSize(),
                evictions.sum(),
                notKept.sum(),
                changes.sum(),
                resets.sum(),
                connections,
                feed,
                trouble);
    }
}
