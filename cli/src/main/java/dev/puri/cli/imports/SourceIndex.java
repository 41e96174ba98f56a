package dev.puri.cli.imports;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Maps each claimed pURI and handle to the input row that claimed it. It is stored on disk, because it may be larger than
 * the memory.
 *
 * <p>Nearly all names are new, and a filter in memory says so without a look at the disk. Names are written in batches;
 * those of the next batch are in a map. Not thread-safe.
 */
final class SourceIndex implements AutoCloseable {
    private static final int MAX_UNWRITTEN = 10_000;
    private static final long WRITE_BUFFER_BYTES = 64 << 20;

    /** The filter has 32 MiB, for 0.02 % of false answers at 2 million names, and 2 % at 20 million. */
    private static final int FILTER_BITS = 28;

    private static final int NEVER = Integer.MAX_VALUE;

    static {
        RocksDB.loadLibrary();
    }

    private final BloomFilter fileFilter = new BloomFilter();
    // Each name is written once and hardly any is read, so merging files would not pay.
    private final Options options = new Options()
            .setCreateIfMissing(true)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setWriteBufferSize(WRITE_BUFFER_BYTES)
            .setDisableAutoCompactions(true)
            .setLevel0SlowdownWritesTrigger(NEVER)
            .setLevel0StopWritesTrigger(NEVER)
            .setTableFormatConfig(new BlockBasedTableConfig().setFilterPolicy(fileFilter));
    // The index of a killed process is not read again.
    private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);
    private final RocksDB names;
    private final long[] filter = new long[1 << FILTER_BITS - 6];
    private final Map<String, Claim> unwritten = new HashMap<>();

    /** The row that claimed a name. */
    record Claim(int input, long row, String shard) {}

    SourceIndex(Path folder) {
        try {
            names = RocksDB.open(options, folder.toString());
        } catch (RocksDBException e) {
            throw new ImportException("the folder " + folder + " cannot be used: " + e.getMessage(), e);
        }
    }

    /** Returns the row that claimed a pURI or a handle; null if it is free. A handle never equals a pURI. */
    @Nullable
    Claim find(String name) {
        if (!mayContain(hash(name))) {
            return null;
        }
        Claim claim = unwritten.get(name);
        return claim == null ? read(name) : claim;
    }

    void put(String name, Claim claim) {
        addToFilter(hash(name));
        unwritten.put(name, claim);
        if (unwritten.size() >= MAX_UNWRITTEN) {
            write();
        }
    }

    private @Nullable Claim read(String name) {
        try {
            byte[] value = names.get(utf8(name));
            if (value == null) {
                return null;
            }
            ByteBuffer bytes = ByteBuffer.wrap(value);
            return new Claim(
                    bytes.getInt(),
                    bytes.getLong(),
                    StandardCharsets.UTF_8.decode(bytes).toString());
        } catch (RocksDBException e) {
            throw new ImportException("the index of names cannot be read: " + e.getMessage(), e);
        }
    }

    private void write() {
        try (WriteBatch batch = new WriteBatch()) {
            for (Map.Entry<String, Claim> entry : unwritten.entrySet()) {
                Claim claim = entry.getValue();
                byte[] shard = utf8(claim.shard());
                byte[] value = ByteBuffer.allocate(Integer.BYTES + Long.BYTES + shard.length)
                        .putInt(claim.input())
                        .putLong(claim.row())
                        .put(shard)
                        .array();
                batch.put(utf8(entry.getKey()), value);
            }
            names.write(writeOptions, batch);
            unwritten.clear();
        } catch (RocksDBException e) {
            throw new ImportException("the index of names cannot be written: " + e.getMessage(), e);
        }
    }

    private boolean mayContain(long hash) {
        return isSet(firstBit(hash)) && isSet(secondBit(hash));
    }

    private void addToFilter(long hash) {
        set(firstBit(hash));
        set(secondBit(hash));
    }

    private boolean isSet(int bit) {
        return (filter[bit >>> 6] & 1L << bit) != 0;
    }

    private void set(int bit) {
        filter[bit >>> 6] |= 1L << bit;
    }

    private static int firstBit(long hash) {
        return (int) (hash >>> Long.SIZE - FILTER_BITS);
    }

    private static int secondBit(long hash) {
        return (int) hash & (1 << FILTER_BITS) - 1;
    }

    /** Returns 64 bits, because those of a text's {@code hashCode} are too few for two places in the filter. */
    private static long hash(String name) {
        long hash = 0;
        for (int i = 0; i < name.length(); i++) {
            hash = hash * 0x100000001b3L + name.charAt(i);
        }
        // The finalizer of MurmurHash3.
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
        return hash ^ hash >>> 33;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        names.close();
        writeOptions.close();
        options.close();
        fileFilter.close();
    }
}
