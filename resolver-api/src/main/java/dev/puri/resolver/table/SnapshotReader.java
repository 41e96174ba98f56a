package dev.puri.resolver.table;

import dev.puri.resolver.table.SnapshotFormat.Block;
import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Fills an empty table from a snapshot, by as many threads as there are processors: first the records
 * and the doors by name, small table by small table, then the doors by handle, likewise. So every part of
 * memory that a thread is busy with fits its cache.
 */
final class SnapshotReader implements AutoCloseable {
    private static final int MOST_PARTITIONS = 100_000;

    private final FileChannel in;
    private final long size;
    private final Slab slab;
    private final Index names;
    private final Index handles;
    private final Words words;
    private final long seed;

    /** What a table is made with. */
    record Head(long seed, Map<Integer, Long> offsets) {}

    SnapshotReader(Path file, long seed, Slab slab, Index names, Index handles, Words words) throws IOException {
        this.in = FileChannel.open(file, StandardOpenOption.READ);
        this.size = in.size();
        this.slab = slab;
        this.names = names;
        this.handles = handles;
        this.words = words;
        this.seed = seed;
    }

    /** Reads a snapshot's head and holds it against the topic. */
    static Head head(Path file, SnapshotTerms terms) throws IOException, SnapshotRefusedException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer fixed = read(in, 0, SnapshotFormat.FIXED_HEAD_BYTES);
            if (fixed.getLong() != SnapshotFormat.MAGIC) {
                throw new SnapshotRefusedException("it is no snapshot");
            }
            int version = fixed.getInt();
            if (version != SnapshotFormat.VERSION) {
                throw new SnapshotRefusedException(
                        "its format is of version " + version + ", not " + SnapshotFormat.VERSION);
            }
            int partitions = fixed.getInt();
            if (partitions < 0 || partitions > MOST_PARTITIONS) {
                throw new SnapshotRefusedException("its head is damaged");
            }
            ByteBuffer head = checked(
                    in, 0, SnapshotFormat.FIXED_HEAD_BYTES + 8 * partitions + SnapshotFormat.CRC_BYTES, "its head");
            head.position(16);
            requireSameTopic(new Uuid(head.getLong(), head.getLong()), partitions, terms);
            head.getLong();
            requireYoung(Instant.ofEpochMilli(head.getLong()), terms);
            long seed = head.getLong();
            Map<Integer, Long> offsets = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                long offset = head.getLong();
                if (offset >= 0) {
                    requireWithin(partition, offset, terms);
                    offsets.put(partition, offset);
                }
            }
            return new Head(seed, offsets);
        } catch (EOFException e) {
            throw new SnapshotRefusedException("it is torn off in its head", e);
        }
    }

    private static void requireSameTopic(Uuid topic, int partitions, SnapshotTerms terms)
            throws SnapshotRefusedException {
        if (!topic.equals(terms.topicId())) {
            throw new SnapshotRefusedException(
                    "it is of the topic with id " + topic + ", which is now " + terms.topicId());
        }
        if (partitions != terms.ends().size()) {
            throw new SnapshotRefusedException("it is of " + partitions + " partitions, and there are "
                    + terms.ends().size());
        }
    }

    private static void requireYoung(Instant asOf, SnapshotTerms terms) throws SnapshotRefusedException {
        Duration age = Duration.between(asOf, terms.now());
        if (age.compareTo(terms.trusted()) > 0) {
            throw new SnapshotRefusedException("it is as of " + asOf + ", and tombstones are kept for "
                    + terms.tombstonesKept() + ": one that it missed may be gone");
        }
    }

    private static void requireWithin(int partition, long offset, SnapshotTerms terms) throws SnapshotRefusedException {
        long begin = terms.begins().getOrDefault(partition, 0L);
        long end = terms.ends().getOrDefault(partition, 0L);
        if (offset < begin || offset > end) {
            throw new SnapshotRefusedException("it goes up to offset " + offset + " of partition " + partition
                    + ", which has " + begin + " to " + end);
        }
    }

    /** Fills the table, into which readers must not be let before. */
    void fill(RowCodec.Tally total) throws IOException, SnapshotRefusedException {
        try (ExecutorService threads =
                Executors.newFixedThreadPool(Math.min(8, Runtime.getRuntime().availableProcessors()))) {
            Foot foot = foot();
            readWords(foot);
            Map<Integer, List<Placed>> byTable = allocate(foot);
            Set<Long> replaced = ConcurrentHashMap.newKeySet();
            List<Future<Filled>> filling = new ArrayList<>();
            for (Map.Entry<Integer, List<Placed>> each : byTable.entrySet()) {
                filling.add(threads.submit(() -> fillNames(each.getKey(), each.getValue(), replaced)));
            }
            Map<Integer, List<Entries>> byHandleTable = new HashMap<>();
            long rows = 0;
            for (Future<Filled> each : filling) {
                Filled filled = await(each);
                rows += filled.rows;
                filled.counts.addTo(total);
                for (int table = 0; table < Index.TABLES; table++) {
                    Entries entries = filled.handles[table];
                    if (entries != null) {
                        byHandleTable
                                .computeIfAbsent(table, t -> new ArrayList<>())
                                .add(entries);
                    }
                }
            }
            if (rows != foot.rows) {
                throw new SnapshotRefusedException("it has " + rows + " rows instead of " + foot.rows);
            }
            names.filled();
            byHandleTable.forEach((table, entries) -> handles.reserve(
                    table, entries.stream().mapToInt(each -> each.count).sum()));
            List<Future<?>> linking = new ArrayList<>();
            byHandleTable.forEach((table, entries) ->
                    linking.add(threads.submit(callable(() -> fillHandles(table, entries, replaced)))));
            for (Future<?> each : linking) {
                await(each);
            }
            handles.filled();
            for (long address : replaced) {
                slab.freeRecord(address, Objects.requireNonNull(slab.read(address)).length / Slab.UNIT);
            }
        } catch (EOFException e) {
            throw new SnapshotRefusedException("it is torn off", e);
        } catch (BufferUnderflowException e) {
            throw new SnapshotRefusedException("its words or its index are damaged", e);
        }
    }

    private static Callable<Void> callable(Runnable task) {
        return () -> {
            task.run();
            return null;
        };
    }

    private record Foot(ByteBuffer words, ByteBuffer index, long rows) {}

    private Foot foot() throws IOException, SnapshotRefusedException {
        if (size < SnapshotFormat.FOOT_BYTES) {
            throw new SnapshotRefusedException("it is torn off");
        }
        ByteBuffer foot = checked(
                in, size - SnapshotFormat.FOOT_BYTES, SnapshotFormat.FOOT_BYTES, "its foot, or it is torn off there,");
        long wordsPlace = foot.getLong();
        int wordsLength = foot.getInt();
        long indexPlace = foot.getLong();
        int indexLength = foot.getInt();
        long rows = foot.getLong();
        return new Foot(
                checked(in, wordsPlace, wordsLength, "its list of words"),
                checked(in, indexPlace, indexLength, "its index"),
                rows);
    }

    private void readWords(Foot foot) {
        SnapshotFormat.getTexts(foot.words).forEach(words.collections::intern);
        SnapshotFormat.getTexts(foot.words).forEach(words.owners::intern);
        SnapshotFormat.getTexts(foot.words).forEach(words.shards::intern);
        SnapshotFormat.getTexts(foot.words).forEach(words.topics::intern);
        for (int left = foot.words.getInt(); left > 0; left--) {
            words.intern(foot.words.getShort());
        }
    }

    private record Placed(Block block, long address) {}

    private Map<Integer, List<Placed>> allocate(Foot foot) {
        Map<Integer, List<Placed>> byTable = new HashMap<>();
        while (foot.index.remaining() >= Block.BYTES + SnapshotFormat.CRC_BYTES) {
            Block block = Block.get(foot.index);
            long address = slab.allocateRoom(block.bytes() / Slab.UNIT);
            byTable.computeIfAbsent(block.table(), table -> new ArrayList<>()).add(new Placed(block, address));
        }
        byTable.forEach((table, blocks) -> names.reserve(
                table, blocks.stream().mapToInt(each -> each.block.rows()).sum()));
        return byTable;
    }

    /** Slots to be. */
    private static final class Entries {
        private long[] tags = new long[8];
        private long[] addresses = new long[8];
        private int count;

        void add(long tag, long address) {
            if (count == tags.length) {
                tags = Arrays.copyOf(tags, 2 * count);
                addresses = Arrays.copyOf(addresses, 2 * count);
            }
            tags[count] = tag;
            addresses[count++] = address;
        }
    }

    private static final class Filled {
        private final @Nullable Entries[] handles = new Entries[Index.TABLES];
        private final Counts counts = new Counts();
        private long rows;

        Entries handlesOf(int table) {
            Entries known = handles[table];
            if (known == null) {
                known = new Entries();
                handles[table] = known;
            }
            return known;
        }
    }

    /** Counts of one small table's rows, to be added up by one thread. Neighbours are mostly of one kind. */
    private static final class Counts implements RowCodec.Tally {
        private final Map<Long, Integer> rows = new HashMap<>();
        private long last = -1;
        private int ofLast;

        @Override
        public void count(int collection, int owner, int shard, int status, int more) {
            long key = (((long) collection << 20 | owner) << 20 | shard) << 2 | status;
            if (key != last) {
                flush();
                last = key;
            }
            ofLast += more;
        }

        private void flush() {
            if (ofLast != 0) {
                rows.merge(last, ofLast, Integer::sum);
                ofLast = 0;
            }
        }

        void addTo(RowCodec.Tally total) {
            flush();
            rows.forEach((key, count) -> total.count(
                    (int) (key >>> 42),
                    (int) (key >>> 22 & 0xFFFFF),
                    (int) (key >>> 2 & 0xFFFFF),
                    (int) (key & 3),
                    count));
        }
    }

    /** A record among the bytes of its block, copied only when another is met whose hash is the same. */
    private static final class InBlock implements Index.Match {
        private byte[] bytes = {};
        private int begin;
        private int length;

        @Override
        public boolean in(byte[] other) {
            return RowCodec.sameName(Arrays.copyOfRange(bytes, begin, begin + length), other);
        }
    }

    private Filled fillNames(int table, List<Placed> blocks, Set<Long> replaced)
            throws IOException, SnapshotRefusedException {
        Filled filled = new Filled();
        InBlock record = new InBlock();
        for (Placed placed : blocks) {
            Block block = placed.block;
            byte[] bytes = checked(in, block.place(), block.length(), "a block of its rows")
                    .array();
            ByteBuffer tags = ByteBuffer.wrap(bytes);
            int at = 4 * block.rows();
            slab.copy(bytes, at, placed.address, block.bytes());
            long address = placed.address;
            record.bytes = bytes;
            for (int row = 0; row < block.rows(); row++) {
                record.begin = at;
                record.length = (bytes[at] & 0xFF) * Slab.UNIT;
                if (record.length == 0 || at + record.length > 4 * block.rows() + block.bytes()) {
                    throw new SnapshotRefusedException("a record of it has a length that it cannot have");
                }
                long before = names.fill(table, tags.getInt(), address, record);
                RowCodec.count(bytes, at, filled.counts, 1);
                if (before != 0) {
                    // A row that was written anew during the dump, and is read again from the topic.
                    replaced.add(before);
                    RowCodec.count(Objects.requireNonNull(slab.read(before)), filled.counts, -1);
                }
                if (RowCodec.hasHandle(bytes, at)) {
                    long hash = HandleKey.at(bytes, at + RowCodec.HANDLE_AT, words, seed)
                            .hash();
                    filled.handlesOf(Index.table(hash)).add(Index.tag(hash), address);
                }
                filled.rows++;
                at += record.length;
                address += record.length / Slab.UNIT;
            }
        }
        return filled;
    }

    private void fillHandles(int table, List<Entries> all, Set<Long> replaced) {
        for (Entries entries : all) {
            for (int i = 0; i < entries.count; i++) {
                long address = entries.addresses[i];
                if (!replaced.contains(address)) {
                    handles.fill(table, entries.tags[i], address, other -> bearsTheSame(address, other));
                }
            }
        }
    }

    /** Reads the record only when another is met whose hash is the same, which is rare. */
    private boolean bearsTheSame(long address, byte[] other) {
        byte[] record = slab.read(address);
        HandleKey handle = record == null ? null : HandleKey.of(record, words, seed);
        return handle != null && handle.in(other);
    }

    private static <T> T await(Future<T> work) throws IOException, SnapshotRefusedException {
        try {
            return work.get();
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

    /** A part of the file that ends with its checksum, read from its beginning. */
    private static ByteBuffer checked(FileChannel in, long place, int length, String what)
            throws IOException, SnapshotRefusedException {
        if (place < 0 || length < SnapshotFormat.CRC_BYTES || place + length > in.size()) {
            throw new SnapshotRefusedException(what + " is damaged");
        }
        ByteBuffer part = read(in, place, length);
        int end = length - SnapshotFormat.CRC_BYTES;
        if (part.getInt(end) != SnapshotFormat.crc(part.array(), end)) {
            throw new SnapshotRefusedException(what + " is damaged");
        }
        return part;
    }

    private static ByteBuffer read(FileChannel in, long place, int length) throws IOException {
        ByteBuffer part = ByteBuffer.allocate(length);
        while (part.hasRemaining()) {
            if (in.read(part, place + part.position()) < 0) {
                throw new EOFException("the file ends");
            }
        }
        return part.flip();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
