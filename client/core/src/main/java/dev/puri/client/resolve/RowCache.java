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
 * Caches the verdicts of resolvers, and drops a verdict when a row changes that the verdict depends on. A verdict comes
 * from the table of one resolver. The feed of changes comes on another connection, perhaps from another resolver, so a
 * verdict may arrive before or after the report of a change that it contains. A verdict is cached only if
 *
 * <pre>
 *   time at which the feed reported the row's last change  +  replica lag  &lt;  time at which the request was sent
 * </pre>
 *
 * The verdict then contains that change, because the resolver's table was behind by at most the replica lag. A change
 * that is reported while the request is running prevents caching. A change that is reported later removes the verdict
 * from the cache. The times of recent changes are stored for each row, up to a maximum number of rows. A row without a
 * stored time counts as changed at the latest time that was forgotten, or at the beginning of the feed.
 *
 * <p>A verdict depends on these rows:
 *
 * <ul>
 *   <li>Found: the row of the identity.
 *   <li>Any verdict on a handle: the row of the pURI that had the handle. The handle in this row shows whether it still
 *       has the handle.
 *   <li>Merged, and deleted after a merge: the row of the identity, the row of the survivor, and the rows of the merged
 *       identities between these two, which the verdict does not name. A merged row changes only if it is deleted,
 *       erased or merged again. So each such change of any row drops all these verdicts.
 * </ul>
 *
 * Verdicts on unknown names are not cached, because anybody could fill the cache with such names. An erased name stays
 * in memory only as long as the time of its change is stored.
 */
final class RowCache {
    /**
     * Maximum number of rows whose times of change are stored. With the default lag this is enough for 6,500 changes/s.
     */
    static final int MAX_CHANGED_ROWS = 65_536;

    /** Time for which a time of change is stored, in addition to the replica lag. Longer than any request takes. */
    private static final Duration EXTRA_STORAGE_TIME = Duration.ofMinutes(1);

    private final Cache<Puri, Entry> rows;

    /** pURIs by handle, for rows in the cache only. */
    private final Cache<Handle, Puri> purisByHandle;

    /** Survivors of the merged rows in the cache, by the survivor's pURI. */
    private final Cache<Puri, Survivor> survivors =
            Caffeine.newBuilder().weakValues().executor(Runnable::run).build();

    private final long replicaLagNanos;
    private final int maxChangedRows;
    private final LongSupplier nanoClock;

    /** Time at which the feed reported the last change of a row. The oldest time is first. Guarded by this. */
    private final Map<Puri, Long> changedAt = new LinkedHashMap<>();

    /**
     * The latest time that was removed from {@link #changedAt}; counts as the time of change of every other row.
     * Guarded by this.
     */
    private long otherRowsChangedAt;

    /** Time of the last call of {@link #dropMergedAnswers}. Guarded by this. */
    private long mergesChangedAt;

    /**
     * Number of calls of {@link #dropMergedAnswers}. A verdict that depends on merges is valid only while this number
     * is unchanged.
     */
    private volatile long mergeGeneration;

    private volatile boolean isEnabled;

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder evictions = new LongAdder();
    private final LongAdder notKept = new LongAdder();
    private final LongAdder changes = new LongAdder();
    private final LongAdder resets = new LongAdder();

    /**
     * @param verdict a {@link Verdict.Found}, {@link Verdict.Merged} or {@link Verdict.Deleted}
     * @param token token of the request's reference; null if it had none
     * @param survivor null if the verdict depends only on the row of the identity
     * @param mergeGeneration value of the field of that name when the verdict was cached
     */
    private record Entry(
            Verdict verdict,
            @Nullable Position token,
            @Nullable Survivor survivor,
            long mergeGeneration) {}

    /**
     * A row that other rows were merged into. Only cache entries of those rows reference this object, so it is removed
     * with them.
     */
    private static final class Survivor {
        private volatile boolean isChanged;
    }

    /**
     * @param maxRows maximum number of rows
     * @param replicaLag maximum lag of the resolver that answers, compared with the resolver that reports changes
     */
    RowCache(int maxRows, Duration replicaLag, LongSupplier nanoClock) {
        this(maxRows, replicaLag, nanoClock, MAX_CHANGED_ROWS);
    }

    RowCache(int maxRows, Duration replicaLag, LongSupplier nanoClock, int maxChangedRows) {
        this.replicaLagNanos = replicaLag.toNanos();
        this.maxChangedRows = maxChangedRows;
        this.nanoClock = nanoClock;
        this.otherRowsChangedAt = nanoClock.getAsLong();
        this.mergesChangedAt = otherRowsChangedAt;
        // Maintenance runs on the writing thread, so no pool is needed and tests see its effects at once.
        purisByHandle = Caffeine.newBuilder()
                .maximumSize(maxRows)
                .executor(Runnable::run)
                .build();
        RemovalListener<Puri, Entry> onRemoval = this::removeHandle;
        rows = Caffeine.newBuilder()
                .maximumSize(maxRows)
                .executor(Runnable::run)
                .removalListener(onRemoval)
                .evictionListener((puri, entry, cause) -> evictions.increment())
                .build();
    }

    /**
     * Removes the handle of a removed row, so that no erased name stays in memory. The cache calls this on any thread
     * that uses the cache, perhaps while the thread has the cache's lock, so this method must not take another lock.
     */
    private void removeHandle(@Nullable Puri puri, @Nullable Entry entry, RemovalCause cause) {
        Handle handle = entry == null ? null : handleOf(entry.verdict);
        if (puri != null && handle != null && cause != RemovalCause.REPLACED) {
            purisByHandle.asMap().remove(handle, puri);
        }
    }

    /** Returns the time on the cache's clock. Read it before sending a request, and pass it to {@link #put}. */
    long now() {
        return nanoClock.getAsLong();
    }

    /** Returns the cached verdict if it is still valid; null if a resolver has to be asked. */
    @Nullable
    Verdict get(Ref ref) {
        Entry entry = isEnabled ? entry(ref) : null;
        if (entry == null || !isValidFor(entry, ref)) {
            misses.increment();
            return null;
        }
        hits.increment();
        return entry.verdict;
    }

    private boolean isValidFor(Entry entry, Ref ref) {
        // A verdict for one token is not valid for another token, even an earlier one: that token's event may have been
        // refused.
        Position token = ref.token();
        boolean isTokenAnswered = token == null || token.equals(entry.token);
        Survivor survivor = entry.survivor;
        return isTokenAnswered
                && (survivor == null || (!survivor.isChanged && entry.mergeGeneration == mergeGeneration));
    }

    private @Nullable Entry entry(Ref ref) {
        Puri puri = ref.puri();
        if (puri != null) {
            return rows.getIfPresent(puri);
        }
        Handle handle = ref.handle();
        Puri puriOfHandle = handle == null ? null : purisByHandle.getIfPresent(handle);
        Entry entry = puriOfHandle == null ? null : rows.getIfPresent(puriOfHandle);
        return entry != null && handle != null && handle.equals(handleOf(entry.verdict)) ? entry : null;
    }

    /**
     * Caches a verdict, unless it may be stale already.
     *
     * @param sentAt time at which the request was sent, from {@link #now}
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
        boolean mayBeCached = isCertainlyApplied(lastChangeAt(puri), sentAt)
                && (survivor == null
                        || (isCertainlyApplied(lastChangeAt(survivor), sentAt)
                                && isCertainlyApplied(mergesChangedAt, sentAt)));
        if (!mayBeCached) {
            notKept.increment();
            return;
        }
        Survivor survivorEntry = survivor == null ? null : survivors.get(survivor, unused -> new Survivor());
        Handle handle = handleOf(verdict);
        Entry previousEntry = rows.getIfPresent(puri);
        Handle previousHandle = previousEntry == null ? null : handleOf(previousEntry.verdict);
        if (previousHandle != null && !previousHandle.equals(handle)) {
            purisByHandle.invalidate(previousHandle);
        }
        // The handle is added before the row. If the row is evicted at once, its removal then removes the handle.
        if (handle != null && handle.equals(ref.handle())) {
            purisByHandle.put(handle, puri);
        }
        rows.put(puri, new Entry(verdict, ref.token(), survivorEntry, mergeGeneration));
    }

    private long lastChangeAt(Puri puri) {
        Long known = changedAt.get(puri);
        return known == null ? otherRowsChangedAt : known;
    }

    /**
     * Returns whether the answering resolver had applied a change when the request was sent, also if it had the maximum
     * lag.
     */
    private boolean isCertainlyApplied(long changedAt, long sentAt) {
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
     * Drops the verdicts that depend on a changed row.
     *
     * @param isActive false if the row is now merged, deleted or erased
     */
    synchronized void changed(Puri puri, boolean isActive) {
        changes.increment();
        long now = nanoClock.getAsLong();
        // The row is removed first, so that its new time is at the end of the map.
        changedAt.remove(puri);
        changedAt.put(puri, now);
        forgetOldChanges(now);
        rows.invalidate(puri);
        Survivor survivor = survivors.getIfPresent(puri);
        if (survivor != null) {
            survivor.isChanged = true;
            survivors.invalidate(puri);
            // These entries are no longer valid, and they contain the survivor's name, which may have been erased.
            rows.asMap().values().removeIf(entry -> entry.survivor == survivor);
        }
        if (!isActive) {
            dropMergedAnswers();
        }
    }

    /** Removes old times of change, and with them erased names. The feed calls this method at every id. */
    synchronized void forgetOldChanges() {
        forgetOldChanges(nanoClock.getAsLong());
    }

    private void forgetOldChanges(long now) {
        Iterator<Long> oldestFirst = changedAt.values().iterator();
        while (oldestFirst.hasNext()) {
            long oldest = oldestFirst.next();
            if (changedAt.size() <= maxChangedRows && now - oldest <= replicaLagNanos + EXTRA_STORAGE_TIME.toNanos()) {
                return;
            }
            otherRowsChangedAt = oldest;
            oldestFirst.remove();
        }
    }

    /** Drops all verdicts that depend on merged rows. */
    synchronized void dropMergedAnswers() {
        mergesChangedAt = nanoClock.getAsLong();
        mergeGeneration++;
    }

    /**
     * Clears the cache, because changes may have been missed. Verdicts of requests that were sent before this call are
     * not cached.
     */
    synchronized void clear() {
        resets.increment();
        changedAt.clear();
        otherRowsChangedAt = nanoClock.getAsLong();
        rows.invalidateAll();
        purisByHandle.invalidateAll();
        dropMergedAnswers();
    }

    /** Sets whether {@link #get} may return cached verdicts. */
    void setEnabled(boolean enabled) {
        isEnabled = enabled;
    }

    /** Returns all pURIs in memory, for tests. */
    synchronized Set<Puri> puris() {
        Set<Puri> puris = new HashSet<>(changedAt.keySet());
        puris.addAll(rows.asMap().keySet());
        puris.addAll(purisByHandle.asMap().values());
        rows.asMap().values().forEach(entry -> {
            Puri canonical = canonicalOf(entry.verdict);
            if (canonical != null) {
                puris.add(canonical);
            }
        });
        return puris;
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
