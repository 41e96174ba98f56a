package dev.puri.resolver.live;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The topic, in memory. Every other offset is a transaction's marker. */
final class FakeLog implements ChangeLog {
    /** A record; a row that changed, or stands as it was. */
    record Entry(Puri puri, @Nullable Row row, boolean isChange) {}

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

    /** What stood before is gone. */
    void deleteBefore(int offset) {
        begin = offset;
    }

    /** Readings wait until they are let go. */
    CountDownLatch hold() {
        CountDownLatch latch = new CountDownLatch(1);
        held = latch;
        return latch;
    }

    void goAway() {
        isAway = true;
    }

    /** Readings fail with it. */
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
            for (long offset = from[partition] + from[partition] % 2; offset < to[partition]; offset += 2) {
                Entry entry = at(partition, offset);
                Change change = entry.isChange()
                        ? new Change(partition, offset, new Content.Decoded(entry.puri(), entry.row()))
                        : null;
                if (!receiver.receive(partition, offset + 1, change)) {
                    return;
                }
            }
        }
    }
}
