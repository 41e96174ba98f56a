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
 * Fills an empty table with the blocks of a snapshot, with one thread for each processor. The threads first copy the
 * records and build the index of pURIs, and then build the index of handles. Each thread fills one segment of an
 * {@link Index} after the other, so that its working memory fits into the processor's cache. A thread needs a few MiB
 * of working memory, for any number of rows.
 */
final class SnapshotFill {
    private static final int MAX_THREADS = 8;

    private final SnapshotPartReader parts;
    private final Slab slab;
    private final Index puris;
    private final Index handles;
    private final Dictionaries dictionaries;
    private final long seed;
    private final int partitions;
    private final PartDigests digests;
    private final List<List<AllocatedBlock>> blocksBySegment = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    /**
     * Addresses of records that another record of the same pURI replaced. The snapshot contains both if the row changed
     * during the dump. The table reads the last record of such a pURI from the topic again.
     */
    private final Set<Long> replacedAddresses = ConcurrentHashMap.newKeySet();

    /** A block, and the address in the slab for its records. */
    private record AllocatedBlock(Block block, long address) {}

    /**
     * @param digests the digests of all rows of the snapshot. Those of replaced rows are subtracted
     */
    SnapshotFill(SnapshotPartReader parts, TableMemory memory, SnapshotReader.Head head, PartDigests digests) {
        this.parts = parts;
        slab = memory.slab();
        puris = memory.puris();
        handles = memory.handles();
        dictionaries = memory.dictionaries();
        seed = memory.seed();
        this.partitions = head.partitions();
        this.digests = digests;
        for (int segment = 0; segment < Index.SEGMENTS; segment++) {
            blocksBySegment.add(new ArrayList<>());
        }
        for (int i = 0; i < Math.min(MAX_THREADS, Runtime.getRuntime().availableProcessors()); i++) {
            workers.add(new Worker());
        }
    }

    /**
     * Fills the table.
     *
     * @return the number of rows of the snapshot
     */
    long fill(List<Block> blocks, RowCodec.RowCounter totals) throws IOException, SnapshotRefusedException {
        for (Block block : blocks) {
            blocksBySegment
                    .get(block.segment())
                    .add(new AllocatedBlock(block, slab.allocateSpace(block.bytes() / Slab.UNIT_BYTES)));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            forEachSegment(threads, Worker::fillPuris);
            puris.publishInstalled();
            forEachSegment(threads, Worker::fillHandles);
            handles.publishInstalled();
        }
        RecordHasher hasher = new RecordHasher(dictionaries);
        for (long address : replacedAddresses) {
            byte[] replaced = Objects.requireNonNull(slab.read(address));
            long hash = hasher.hash(replaced, 0);
            digests.subtract(hasher.partition(partitions), Index.segmentOf(hasher.indexHash(seed)), hash);
            slab.freeRecord(address, replaced.length / Slab.UNIT_BYTES);
        }
        workers.forEach(worker -> worker.counts.addTo(totals));
        return workers.stream().mapToLong(worker -> worker.rows).sum();
    }

    private interface Step {
        void run(Worker worker, int segment) throws IOException, SnapshotRefusedException;
    }

    /** Runs a step for all segments, on all workers. After a failure no worker starts another segment. */
    private void forEachSegment(ExecutorService threads, Step step) throws IOException, SnapshotRefusedException {
        AtomicInteger nextSegment = new AtomicInteger();
        List<Future<?>> running = new ArrayList<>();
        for (Worker worker : workers) {
            running.add(threads.submit(() -> {
                try {
                    for (int segment = nextSegment.getAndIncrement();
                            segment < Index.SEGMENTS;
                            segment = nextSegment.getAndIncrement()) {
                        step.run(worker, segment);
                    }
                    return null;
                } finally {
                    nextSegment.set(Index.SEGMENTS);
                }
            }));
        }
        for (Future<?> work : running) {
            await(work);
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
            throw new IllegalStateException("a snapshot with valid checksums cannot be read", cause);
        }
    }

    /** One thread with its working memory. */
    private final class Worker {
        private final RowCounts counts = new RowCounts();
        private final EntriesBySegment entriesByHandle = new EntriesBySegment(slab);
        private final SegmentBuilder segmentBuilder = new SegmentBuilder(slab);
        private final BlockRecord record = new BlockRecord();
        private final HandleRecord handleRecord = new HandleRecord();
        private final long[] pageBuffer = new long[Slab.PAGE_UNITS];
        private byte[] blockBytes = {};
        private long rows;

        void fillPuris(int segment) throws IOException, SnapshotRefusedException {
            List<AllocatedBlock> blocks = blocksBySegment.get(segment);
            segmentBuilder.begin(slotsFor(blocks.stream()
                    .mapToInt(allocated -> allocated.block.rows())
                    .sum()));
            for (AllocatedBlock allocated : blocks) {
                fillPuris(allocated);
            }
            puris.install(segment, segmentBuilder);
        }

        private void fillPuris(AllocatedBlock allocated) throws IOException, SnapshotRefusedException {
            Block block = allocated.block;
            if (blockBytes.length < block.length()) {
                blockBytes = new byte[block.length()];
            }
            ByteBuffer tags = parts.read(block.offset(), block.length(), "a block of rows", blockBytes);
            int offset = 4 * block.rows();
            int end = offset + block.bytes();
            slab.copy(blockBytes, offset, allocated.address, block.bytes());
            long address = allocated.address;
            for (int row = 0; row < block.rows(); row++) {
                int length = offset < end ? (blockBytes[offset] & 0xFF) * Slab.UNIT_BYTES : 0;
                if (length == 0 || offset + length > end) {
                    throw new SnapshotRefusedException("a record has an invalid length");
                }
                record.begin = offset;
                record.length = length;
                long replacedAddress = segmentBuilder.add(Index.toSlot(tags.getInt(), address), record);
                RowCodec.count(blockBytes, offset, counts, 1);
                rows++;
                if (replacedAddress != 0) {
                    replacedAddresses.add(replacedAddress);
                    RowCodec.count(Objects.requireNonNull(slab.read(replacedAddress)), counts, -1);
                }
                if (RowCodec.hasHandle(blockBytes, offset)) {
                    entriesByHandle.add(
                            HandleKey.hashAt(blockBytes, offset + RowCodec.HANDLE_OFFSET, dictionaries, seed), address);
                }
                offset += length;
                address += length / Slab.UNIT_BYTES;
            }
        }

        void fillHandles(int segment) {
            segmentBuilder.begin(slotsFor(workers.stream()
                    .mapToInt(worker -> worker.entriesByHandle.count(segment))
                    .sum()));
            for (Worker worker : workers) {
                worker.entriesByHandle.drain(segment, pageBuffer, this::addHandle);
            }
            handles.install(segment, segmentBuilder);
        }

        private void addHandle(long slot) {
            long address = Index.addressOf(slot);
            if (replacedAddresses.isEmpty() || !replacedAddresses.contains(address)) {
                handleRecord.address = address;
                segmentBuilder.add(slot, handleRecord);
            }
        }

        /** Compares a record of the current block by pURI. Copies the record only for this comparison. */
        private final class BlockRecord implements Index.RecordMatcher {
            private int begin;
            private int length;

            @Override
            public boolean matches(byte[] otherRecord) {
                return RowCodec.haveSamePuri(Arrays.copyOfRange(blockBytes, begin, begin + length), otherRecord);
            }
        }
    }

    /** Compares a record by handle. Reads the record only for this comparison. */
    private final class HandleRecord implements Index.RecordMatcher {
        private long address;

        @Override
        public boolean matches(byte[] otherRecord) {
            byte[] record = slab.read(address);
            HandleKey handle = record == null ? null : HandleKey.of(record, dictionaries, seed);
            return handle != null && handle.matches(otherRecord);
        }
    }

    private static int slotsFor(int entries) {
        return entries * 3 / 2 + 1;
    }
}
