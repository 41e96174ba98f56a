package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread that fills batches and one that writes them, against readers of both indexes and of scans. Every part of a
 * row is derived from its name's number and its version, so a mixture of two rows, or of a row and reused memory, is
 * detected as a row that was never written.
 */
@Timeout(60)
final class PackedTableStressIT {
    private static final int NAMES = 64;
    private static final int BATCHES = 4;
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(4);

    /** Rows that are seen and written at least, however busy the machine is. */
    private static final long ENOUGH = 10_000;

    private final PackedTable table = new PackedTable();
    private final BlockingQueue<RowBatch> empty = new ArrayBlockingQueue<>(BATCHES);
    private final BlockingQueue<Filled> full = new ArrayBlockingQueue<>(BATCHES);
    private final long seed = new Random().nextLong();
    private final AtomicBoolean over = new AtomicBoolean();

    /**
     * @param newest the last version in it
     */
    private record Filled(RowBatch rows, long newest) {}

    @Test
    void readersSeeOnlyRowsThatWereWritten() throws Exception {
        AtomicLong seen = new AtomicLong();
        AtomicLong versions = new AtomicLong();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> work = new ArrayList<>();
            work.add(threads.submit(this::fill));
            work.add(threads.submit(() -> write(versions)));
            for (int reader = 0; reader < 2; reader++) {
                Random random = new Random(seed + reader);
                work.add(threads.submit(() -> read(random, versions, seen)));
            }
            work.add(threads.submit(() -> {
                long scanned = 0;
                while (!over.get()) {
                    // A scan prevents the removal of words, so words must be removed between two scans.
                    if (versions.get() > scanned + 5_000) {
                        table.scan(PackedTableStressIT::assertWhole);
                        scanned = versions.get();
                    }
                    Thread.yield();
                }
            }));
            long end = System.nanoTime() + LONG_ENOUGH.toNanos();
            while ((System.nanoTime() < end || seen.get() <= ENOUGH || versions.get() <= ENOUGH)
                    && work.stream().noneMatch(Future::isDone)) {
                Thread.onSpinWait();
                Thread.yield();
            }
            over.set(true);
            for (Future<?> each : work) {
                each.get(20, TimeUnit.SECONDS);
            }
        }
        assertThat(seen.get()).as("rows seen").isGreaterThan(ENOUGH);
        assertThat(versions.get()).as("rows written").isGreaterThan(ENOUGH);
        TableStats stats = table.stats();
        assertThat(stats.byOwner().values().stream().mapToLong(rows -> rows).sum())
                .as("seed %d: rows by owner", seed)
                .isEqualTo(stats.rows());
    }

    /** Even names stay and only change; odd ones are added and removed; others make the tables grow and shrink. */
    private Void fill() throws InterruptedException {
        Random random = new Random(seed);
        for (int i = 1; i < BATCHES; i++) {
            empty.put(table.newBatch());
        }
        RowBatch batch = table.newBatch();
        for (int number = 0; number < NAMES; number += 2) {
            batch.put(name(number), row(number, 0));
        }
        long version = 0;
        int crowd = 0;
        while (!over.get()) {
            version++;
            int number = random.nextInt(NAMES);
            if (number % 2 == 1 && random.nextBoolean()) {
                batch.remove(name(number));
            } else {
                batch.put(name(number), row(number, version));
            }
            // In waves of 40,000.
            int inCrowd = NAMES + crowd % 40_000;
            if (crowd / 40_000 % 2 == 0) {
                batch.put(name(inCrowd), row(inCrowd, version));
            } else {
                batch.remove(name(inCrowd));
            }
            crowd++;
            if (batch.count + 2 > RowBatch.MAX_ROWS || random.nextInt(100) == 0) {
                full.put(new Filled(batch, version));
                batch = nextEmpty();
            }
        }
        return null;
    }

    /** Any, when all is over. */
    private RowBatch nextEmpty() throws InterruptedException {
        RowBatch batch = null;
        while (batch == null && !over.get()) {
            batch = empty.poll(10, TimeUnit.MILLISECONDS);
        }
        return batch == null ? table.newBatch() : batch;
    }

    private Void write(AtomicLong versions) throws InterruptedException {
        while (!over.get()) {
            Filled filled = full.poll(10, TimeUnit.MILLISECONDS);
            if (filled != null) {
                table.write(filled.rows);
                versions.setRelease(filled.newest);
                filled.rows.clear();
                empty.put(filled.rows);
            }
        }
        return null;
    }

    private void read(Random random, AtomicLong versions, AtomicLong seen) {
        long[] newest = new long[NAMES];
        while (versions.get() == 0 && !over.get()) {
            Thread.onSpinWait();
        }
        while (!over.get()) {
            int number = random.nextInt(NAMES);
            Identity identity = table.byPuri(name(number));
            if (identity == null) {
                assertThat(number % 2)
                        .as("seed %d: a name that stays is never missing", seed)
                        .isEqualTo(1);
                continue;
            }
            assertThat(identity.puri()).isEqualTo(name(number));
            assertWhole(identity);
            long version = identity.row().position().offset();
            assertThat(version).as("seed %d: versions do not decrease", seed).isGreaterThanOrEqualTo(newest[number]);
            newest[number] = version;
            Handle handle = identity.row().handle();
            if (handle != null) {
                Identity byHandle = table.byHandle(handle);
                if (byHandle != null) {
                    assertThat(byHandle.puri()).isEqualTo(name(number));
                    assertWhole(byHandle);
                }
                // Even names keep one handle forever.
                assertThat(byHandle != null || number % 2 == 1)
                        .as("seed %d", seed)
                        .isTrue();
            }
            seen.incrementAndGet();
        }
    }

    private static void assertWhole(Identity identity) {
        int number = Integer.parseInt(identity.puri().identifier().substring(1));
        Row row = identity.row();
        assertThat(row).isEqualTo(row(number, row.position().offset()));
    }

    private static Puri name(int number) {
        return Puri.of("n", "c", "x" + number);
    }

    private static Row row(int number, long version) {
        boolean merged = version % 5 == 0;
        return new Row(
                new UUID(version * 31 + number, version),
                new Owner("o" + version / 5),
                new Shard("s" + number),
                handle(number, number % 2 == 0 ? 0 : version),
                merged ? Row.Status.MERGED : Row.Status.ACTIVE,
                version + 1,
                Instant.ofEpochMilli(version * 1_000),
                Instant.ofEpochMilli(version * 1_001),
                merged ? Puri.of("n", "c", "y".repeat((int) (version % 50 + 1))) : null,
                new Position("puri.events.v1", number % 8, version));
    }

    private static Handle handle(int number, long version) {
        StringBuilder text = new StringBuilder();
        long rest = version << 24 | number;
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt((int) (rest & 31)));
            rest >>>= 5;
        }
        return Handle.of(new Prefix("trk"), text.toString());
    }
}
