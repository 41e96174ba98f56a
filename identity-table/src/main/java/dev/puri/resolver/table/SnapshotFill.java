package dev.puri.resolver.table;

import dev.puri.resolver.table.SnapshotFormat.Block;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Fills an empty table with a snapshot's blocks, one thread a processor: first the records and the index of names, then
 * the index of handles. Each thread fills one small table after another, so that its working memory fits the cache.
 * Each thread needs a few MiB beside the table, however many rows there are.
 */
final class SnapshotFill {
    private static final int MOST_THREADS = 8;

    private final SnapshotParts parts;
    private final Slab slab;
    private final Index names;
    private final Index handles;
    private final Words words;
    private final long seed;
    private final List<List<Placed>> byTable = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    /** Records that were replaced during the dump. The topic has newer records of their names, which are read later. */
    private final Set<Long> replaced = ConcurrentHashMap.newKeySet();

    /** A block, and the address of its records in the table. */
    private record Placed(Block block, long address) {}

    SnapshotFill(SnapshotParts parts, Slab slab, Index names, Index handles, Words words, long seed) {
        this.parts = parts;
        this.slab = slab;
        this.names = names;
        this.handles = handles;
        this.words = words;
        this.seed = seed;
        for (int table = 0; table < Index.TABLES; table++) {
            byTable.add(new ArrayList<>());
        }
        for (int i = 0; i < Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()); i++) {
            workers.add(new Worker());
        }
    }

    /**
     * @return the number of rows
     */
    long fill(List<Block> blocks, RowCodec.RowCounter total) throws IOException, SnapshotRefusedException {
        for (Block block : blocks) {
            byTable.get(block.table()).add(new Placed(block, slab.allocateRoom(block.bytes() / Slab.UNIT)));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            forEachTable(threads, Worker::fillNames);
            names.installed();
            forEachTable(threads, Worker::fillHandles);
            handles.installed();
        }
        for (long address : replaced) {
            slab.freeRecord(address, Objects.requireNonNull(slab.read(address)).length / Slab.UNIT);
        }
        workers.forEach(worker -> worker.counts.addTo(total));
        return workers.stream().mapToLong(worker -> worker.rows).sum();
    }

    private interface Step {
        void run(Worker worker, int table) throws IOException, SnapshotRefusedException;
    }

    /** Lets the workers fill all small tables; none begins another after a failure. */
    private void forEachTable(ExecutorService threads, Step step) throws IOException, SnapshotRefusedException {
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        for (Worker worker : workers) {
            running.add(threads.submit(() -> {
                try {
                    for (int table = next.getAndIncrement(); table < Index.TABLES; table = next.getAndIncrement()) {
                        step.run(worker, table);
                    }
                    return null;
                } finally {
                    next.set(Index.TABLES);
                }
            }));
        }
        for (Future<?> each : running) {
            await(each);
        }
    }

    private static void await(Future<?> work) throws IOException, SnapshotRefusedException {
        try {
            work.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while reading a snapshot", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof SnapshotRefusedException refused) {
                throw refused;
            }
            if (cause instanceof IOException failed) {
                throw failed;
            }
            if (cause instanceof VirtualMachineError noMemory) {
                throw noMemory;
            }
            throw new IllegalStateException("a snapshot whose checksums are right cannot be read", cause);
        }
    }

    /** The working memory of one thread. */
    private final class Worker {
        private final RowCounts counts = new RowCounts();
        private final Presorted byHandle = new Presorted(slab);
        private final Slots slots = new Slots(slab);
        private final InBlock record = new InBlock();
        private final Bearer bearer = new Bearer();
        private final long[] page = new long[Slab.PAGE_UNITS];
        private byte[] bytes = {};
        private long rows;

        void fillNames(int table) throws IOException, SnapshotRefusedException {
            List<Placed> blocks = byTable.get(table);
            slots.begin(
                    slotsFor(blocks.stream().mapToInt(each -> each.block.rows()).sum()));
            for (Placed placed : blocks) {
                fillNames(placed);
            }
            names.install(table, slots);
        }

        private void fillNames(Placed placed) throws IOException, SnapshotRefusedException {
            Block block = placed.block;
            if (bytes.length < block.length()) {
                bytes = new byte[block.length()];
            }
            ByteBuffer tags = parts.read(block.place(), block.length(), "a block of its rows", bytes);
            int at = 4 * block.rows();
            int end = at + block.bytes();
            slab.copy(bytes, at, placed.address, block.bytes());
            long address = placed.address;
            for (int row = 0; row < block.rows(); row++) {
                int length = at < end ? (bytes[at] & 0xFF) * Slab.UNIT : 0;
                if (length == 0 || at + length > end) {
                    throw new SnapshotRefusedException("a record of it has a length that it cannot have");
                }
                record.begin = at;
                record.length = length;
                long before = slots.add(Index.slot(tags.getInt(), address), record);
                RowCodec.count(bytes, at, counts, 1);
                rows++;
                if (before != 0) {
                    replaced.add(before);
                    RowCodec.count(Objects.requireNonNull(slab.read(before)), counts, -1);
                }
                if (RowCodec.hasHandle(bytes, at)) {
                    byHandle.add(HandleKey.hashAt(bytes, at + RowCodec.HANDLE_AT, words, seed), address);
                }
                at += length;
                address += length / Slab.UNIT;
            }
        }

        void fillHandles(int table) {
            slots.begin(slotsFor(workers.stream()
                    .mapToInt(each -> each.byHandle.count(table))
                    .sum()));
            for (Worker each : workers) {
                each.byHandle.drain(table, page, this::addHandle);
            }
            handles.install(table, slots);
        }

        private void addHandle(long slot) {
            long address = Index.addressOf(slot);
            if (replaced.isEmpty() || !replaced.contains(address)) {
                bearer.address = address;
                slots.add(slot, bearer);
            }
        }

        /** A record of the current block, copied only for a comparison with a record of the same hash. */
        private final class InBlock implements Index.Match {
            private int begin;
            private int length;

            @Override
            public boolean in(byte[] other) {
                return RowCodec.sameName(Arrays.copyOfRange(bytes, begin, begin + length), other);
            }
        }
    }

    /** A record by its handle, read only for a comparison with a record of the same hash. */
    private final class Bearer implements Index.Match {
        private long address;

        @Override
        public boolean in(byte[] other) {
            byte[] record = slab.read(address);
            HandleKey handle = record == null ? null : HandleKey.of(record, words, seed);
            return handle != null && handle.in(other);
        }
    }

    private static int slotsFor(int entries) {
        return entries * 3 / 2 + 1;
    }
}
