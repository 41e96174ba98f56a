package dev.puri.resolver.live;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A topic in memory. Every second offset is a transaction marker. Reads also return some later records. */
final class FakeLog implements ChangeLog {
    /** A record. Its row has changed, or is as it was before. */
    record Entry(Puri puri, @Nullable Row row, boolean isChange) {}

    private static final int MAX_LATER_OFFSETS = 20;

    private final List<List<Entry>> partitions = new ArrayList<>();
    private volatile int begin;
    private final AtomicInteger readings = new AtomicInteger();
    private volatile @Nullable CountDownLatch held;
    private volatile boolean isAway;
    private volatile @Nullable Error error;

    FakeLog(int partitions) {
        for (int i = 0; i < partitions; i++) {
            this.partitions.add(new ArrayList<>());
        }
    }

    synchronized void add(int partition, Puri puri, @Nullable Row row, boolean isChange) {
        partitions.get(partition).add(new Entry(puri, row, isChange));
    }

    synchronized long end(int partition) {
        return 2L * partitions.get(partition).size();
    }

    /** The record at an even offset. */
    synchronized Entry at(int partition, long offset) {
        return partitions.get(partition).get((int) (offset / 2));
    }

    /** Deletes all records before an offset. */
    void deleteBefore(int offset) {
        begin = offset;
    }

    /** Makes reads wait until the latch is counted down. */
    CountDownLatch hold() {
        CountDownLatch latch = new CountDownLatch(1);
        held = latch;
        return latch;
    }

    /** Makes reads fail as if no broker answered. */
    void goAway() {
        isAway = true;
    }

    /** Makes reads fail with an error. */
    void failWith(Error error) {
        this.error = error;
    }

    int readings() {
        return readings.get();
    }

    @Override
    public void read(long[] from, long[] to, Receiver receiver) throws GoneException {
        readings.incrementAndGet();
        Error thrown = error;
        if (thrown != null) {
            throw thrown;
        }
        CountDownLatch waitFor = held;
        if (waitFor != null) {
            try {
                waitFor.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        if (isAway) {
            throw new IllegalStateException("no broker answers");
        }
        for (int partition = 0; partition < from.length; partition++) {
            if (from[partition] < begin) {
                throw new GoneException("before " + begin);
            }
            long end =
                    from[partition] < to[partition] ? Math.min(end(partition), to[partition] + MAX_LATER_OFFSETS) : 0;
            for (long offset = from[partition] + from[partition] % 2; offset < end; offset += 2) {
                Entry entry = at(partition, offset);
                Change change = entry.isChange()
                        ? new Change(partition, offset, new ChangeContent.Decoded(entry.puri(), entry.row()))
                        : null;
                if (!receiver.receive(partition, offset + 1, change)) {
                    return;
                }
            }
        }
    }
}
