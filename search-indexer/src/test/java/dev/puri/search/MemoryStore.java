package dev.puri.search;

import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Indices in memory. Committed changes survive the closing, as in a folder. */
final class MemoryStore implements IndexStore {
    private MemoryIndex serving = new MemoryIndex();
    private @Nullable MemoryIndex building;
    private boolean isNewIndexUnavailable;
    private boolean isDropUnavailable;
    private boolean isPromotionUnavailable;
    private int servingDrops;
    private volatile boolean hangsWhenClosed;
    private final CountDownLatch hanging = new CountDownLatch(1);

    /** Makes every closing wait until its thread is interrupted. */
    void hangWhenClosed() {
        hangsWhenClosed = true;
    }

    /** Waits until a closing hangs. */
    void awaitHang() throws InterruptedException {
        hanging.await();
    }

    /** Makes the next new index unavailable from its creation, or not. */
    synchronized void setNewIndexUnavailable(boolean newValue) {
        isNewIndexUnavailable = newValue;
    }

    /** Makes every drop fail, or not. */
    synchronized void setDropUnavailable(boolean newValue) {
        isDropUnavailable = newValue;
    }

    /** Makes every promotion fail, or not. */
    synchronized void setPromotionUnavailable(boolean newValue) {
        isPromotionUnavailable = newValue;
    }

    /** Returns how often a caller tried to drop the serving index. */
    synchronized int servingDrops() {
        return servingDrops;
    }

    /** Returns the serving index without opening it. */
    synchronized MemoryIndex serving() {
        return serving;
    }

    /** Returns the unfinished index without opening it; null if there is none. */
    synchronized @Nullable MemoryIndex unfinished() {
        return building;
    }

    @Override
    public MemoryIndex openServing() {
        return serving();
    }

    @Override
    public synchronized @Nullable MemoryIndex openUnfinished() {
        MemoryIndex unfinished = building;
        if (unfinished != null && unfinished.isClosed()) {
            unfinished.crash();
        }
        return unfinished;
    }

    @Override
    public synchronized MemoryIndex createUnfinished() {
        if (building != null) {
            throw new IllegalStateException("an index is already being built");
        }
        MemoryIndex created = new MemoryIndex();
        created.setUnavailable(isNewIndexUnavailable);
        building = created;
        return created;
    }

    @Override
    public synchronized void promote() throws IndexUnavailableException {
        MemoryIndex next = building;
        if (next == null) {
            throw new IllegalStateException("no index is being built");
        }
        if (isPromotionUnavailable) {
            throw new IndexUnavailableException("promotions fail in this test", new IllegalStateException());
        }
        serving = next;
        building = null;
    }

    @Override
    public boolean isServingUnchanged() {
        return true;
    }

    @Override
    public synchronized void drop(SearchIndex index) throws IndexUnavailableException {
        if (index == serving) {
            servingDrops++;
            throw new IllegalStateException("the index serves");
        }
        if (isDropUnavailable) {
            throw new IndexUnavailableException("drops fail in this test", new IllegalStateException());
        }
        index.close();
        if (index == building) {
            building = null;
        }
    }

    /** Discards uncommitted changes. */
    @Override
    public void close() {
        if (hangsWhenClosed) {
            hanging.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        discardUncommitted();
    }

    private synchronized void discardUncommitted() {
        serving.crash();
        MemoryIndex unfinished = building;
        if (unfinished != null) {
            unfinished.crash();
        }
    }
}
