package dev.puri.cli.imports;

import dev.puri.schemas.identity.Shard;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.EnvOptions;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileWriter;

/**
 * The names and uuids that rows of the inputs have claimed, as 128 bits of a SHA-256 each. Not thread-safe.
 *
 * <p>Names are in a table in memory. When it is full, it is written to a sorted file on disk and emptied, so that the
 * number of names does not depend on the memory. Nearly all names are new, and the filters of the files detect this
 * without reading the disk.
 *
 * <pre>
 * slot of the table:  hash, 16 bytes | number of the row, 8 bytes | input, 4 bytes | shard, 4 bytes
 * </pre>
 */
final class SourceIndex implements AutoCloseable {
    private static final int LONGS_PER_SLOT = 4;
    private static final int SLOT_BYTES = LONGS_PER_SLOT * Long.BYTES;
    private static final int MIN_SLOTS = 1 << 10;

    /** 128 MiB: the names of one and a half million rows with handles. */
    private static final int MAX_SLOTS = 1 << 22;

    static {
        RocksDB.loadLibrary();
    }

    private final Path folder;
    private final int maxSlots;
    private final List<Shard> shards = new ArrayList<>();
    private final Map<Shard, Integer> shardNumbers = new HashMap<>();

    /** A slot is free if its number of the row is 0. */
    private long[] table;

    private int nameCount;
    private @Nullable Files files;

    /** A name as the index knows it. */
    record Name(long high, long low) {
        /** Returns the name of a text. Texts of pURIs, handles and uuids differ. */
        static Name of(String text) {
            ByteBuffer hash = NameBasedIds.Version.V8.hash(text);
            return new Name(hash.getLong(), hash.getLong());
        }
    }

    /** The row that claimed a name; the first row has number 1. */
    record Claim(int input, long row, Shard shard) {}

    /**
     * @param folder for the files; it need not exist
     */
    SourceIndex(Path folder) {
        // With a small heap, a quarter of it.
        this(folder, (int)
                Math.min(MAX_SLOTS, Long.highestOneBit(Runtime.getRuntime().maxMemory() / 4 / SLOT_BYTES)));
    }

    /**
     * @param maxSlots size of the table, a power of 2; three quarters of it are used
     */
    SourceIndex(Path folder, int maxSlots) {
        this.folder = folder;
        this.maxSlots = maxSlots;
        table = new long[Math.min(MIN_SLOTS, maxSlots) * LONGS_PER_SLOT];
    }

    /** Returns the row that claimed a name; null if the name is free. */
    @Nullable
    Claim find(Name name) {
        int slot = slot(table, name.high(), name.low());
        if (table[slot + 2] != 0) {
            return claim(table[slot + 2], table[slot + 3]);
        }
        return files == null ? null : files.find(name);
    }

    /** Adds a name that is free. */
    void put(Name name, Claim claim) {
        if (nameCount >= table.length / LONGS_PER_SLOT / 4 * 3) {
            if (table.length / LONGS_PER_SLOT < maxSlots) {
                grow();
            } else {
                writeFile();
            }
        }
        int slot = slot(table, name.high(), name.low());
        table[slot] = name.high();
        table[slot + 1] = name.low();
        table[slot + 2] = claim.row();
        table[slot + 3] = (long) claim.input() << Integer.SIZE | shardNumber(claim.shard());
        nameCount++;
    }

    private Claim claim(long row, long inputAndShard) {
        return new Claim((int) (inputAndShard >>> Integer.SIZE), row, shards.get((int) inputAndShard));
    }

    private int shardNumber(Shard shard) {
        return shardNumbers.computeIfAbsent(shard, newShard -> {
            shards.add(newShard);
            return shards.size() - 1;
        });
    }

    /** Returns the index of the slot that has the hash, or of the free one where it belongs. */
    private static int slot(long[] table, long high, long low) {
        int mask = table.length / LONGS_PER_SLOT - 1;
        int slot = (int) low & mask;
        while (table[slot * LONGS_PER_SLOT + 2] != 0
                && (table[slot * LONGS_PER_SLOT] != high || table[slot * LONGS_PER_SLOT + 1] != low)) {
            slot = slot + 1 & mask;
        }
        return slot * LONGS_PER_SLOT;
    }

    private void grow() {
        long[] larger = new long[table.length * 2];
        for (int from = 0; from < table.length; from += LONGS_PER_SLOT) {
            if (table[from + 2] != 0) {
                int to = slot(larger, table[from], table[from + 1]);
                System.arraycopy(table, from, larger, to, LONGS_PER_SLOT);
            }
        }
        table = larger;
    }

    private void writeFile() {
        if (files == null) {
            files = new Files();
        }
        Integer[] slots = new Integer[nameCount];
        int used = 0;
        for (int slot = 0; slot < table.length; slot += LONGS_PER_SLOT) {
            if (table[slot + 2] != 0) {
                slots[used++] = slot;
            }
        }
        // A sorted file needs its keys in order.
        Arrays.sort(slots, (a, b) -> {
            int byHigh = Long.compareUnsigned(table[a], table[b]);
            return byHigh == 0 ? Long.compareUnsigned(table[a + 1], table[b + 1]) : byHigh;
        });
        files.write(slots);
        Arrays.fill(table, 0);
        nameCount = 0;
    }

    @Override
    public void close() {
        if (files != null) {
            files.close();
        }
    }

    /** The names that are on disk. */
    private final class Files implements AutoCloseable {
        private final BloomFilter filter = new BloomFilter();
        // Each name is written once and hardly any is read, so merging files would not pay.
        private final Options options = new Options()
                .setCreateIfMissing(true)
                .setDisableAutoCompactions(true)
                .setTableFormatConfig(new BlockBasedTableConfig().setFilterPolicy(filter));
        private final RocksDB names;
        private int fileCount;

        Files() {
            try {
                names = RocksDB.open(options, folder.toString());
            } catch (RocksDBException e) {
                throw new ImportException("the folder " + folder + " cannot be used: " + e.getMessage(), e);
            }
        }

        @Nullable
        Claim find(Name name) {
            try {
                byte[] value = names.get(bytes(name.high(), name.low()));
                if (value == null) {
                    return null;
                }
                ByteBuffer buffer = ByteBuffer.wrap(value);
                return claim(buffer.getLong(), buffer.getLong());
            } catch (RocksDBException e) {
                throw new ImportException("the index of names cannot be read: " + e.getMessage(), e);
            }
        }

        void write(Integer[] slots) {
            String file = folder.resolve("sorted-" + fileCount++).toString();
            try (EnvOptions environment = new EnvOptions();
                    SstFileWriter writer = new SstFileWriter(environment, options);
                    IngestExternalFileOptions ingestion = new IngestExternalFileOptions().setMoveFiles(true)) {
                writer.open(file);
                for (int slot : slots) {
                    writer.put(bytes(table[slot], table[slot + 1]), bytes(table[slot + 2], table[slot + 3]));
                }
                writer.finish();
                names.ingestExternalFile(List.of(file), ingestion);
            } catch (RocksDBException e) {
                throw new ImportException("the index of names cannot be written: " + e.getMessage(), e);
            }
        }

        private static byte[] bytes(long first, long second) {
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(first)
                    .putLong(second)
                    .array();
        }

        @Override
        public void close() {
            names.close();
            options.close();
            filter.close();
        }
    }
}
