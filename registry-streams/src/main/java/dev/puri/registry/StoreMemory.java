package dev.puri.registry;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * Configures RocksDB: sets a memory limit for all stores together, and a limit for the time that deleted data stays in
 * files. By default each store takes up to 98 MiB outside the heap, and each partition has four stores. The shared
 * cache is static, because Kafka Streams creates an instance of this class for each store.
 */
public final class StoreMemory implements RocksDBConfigSetter {
    /** Property: memory limit of all stores of this process in MiB. The first store that is opened sets the limit. */
    static final String MIB_CONFIG = "puri.store.memory.mib";

    /** Property: age in seconds at which RocksDB rewrites a file without its deleted and replaced entries. */
    static final String COMPACT_WITHIN_CONFIG = "puri.store.compact.within.seconds";

    /**
     * Share of the cache that data blocks cannot take from the blocks of indexes and filters. Most look-ups are for new
     * keys and need only filters, and the filters of 30 million identities take 75 MiB.
     */
    private static final double HIGH_PRIORITY_SHARE = 0.5;

    /**
     * The least memory of a shard of the cache. The filter of a file takes up to 1.5 MiB, and would not fit into a
     * shard of RocksDB's default size beside others.
     */
    private static final long MIN_SHARD_BYTES = 32L << 20;

    /** The maximum that RocksDB uses if it chooses the number of shards itself. */
    private static final int MAX_SHARD_BITS = 6;

    private static @Nullable Cache cache;
    private static @Nullable WriteBufferManager writeBuffers;

    /** Called by Kafka Streams through reflection. */
    public StoreMemory() {}

    /**
     * Sets this class as the topology's RocksDB configuration.
     *
     * @param properties properties of the topology; this method adds to them
     * @param mebibytes memory limit of all stores of this process, in MiB
     */
    public static void configure(Properties properties, int mebibytes) {
        properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, StoreMemory.class);
        properties.put(MIB_CONFIG, mebibytes);
        properties.put(COMPACT_WITHIN_CONFIG, Duration.ofDays(1).toSeconds());
    }

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        long bytes = Long.parseLong(String.valueOf(configs.get(MIB_CONFIG))) << 20;
        BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
        synchronized (StoreMemory.class) {
            Cache sharedCache = cache == null ? createSharedCache(bytes) : cache;
            table.setBlockCache(sharedCache);
            options.setWriteBufferManager(Objects.requireNonNull(writeBuffers));
        }
        // Index and filter blocks count towards the limit too.
        table.setCacheIndexAndFilterBlocks(true);
        table.setCacheIndexAndFilterBlocksWithHighPriority(true);
        table.setPinTopLevelIndexAndFilter(true);
        options.setTableFormatConfig(table);
        // By default Kafka Streams omits the filters of the last level. Then each look-up of a new key reads a block of
        // data.
        options.setOptimizeFiltersForHits(false);
        options.setWriteBufferSize(Math.min(bytes / 16, 8 << 20));
        options.setMaxWriteBufferNumber(2);
        // Otherwise a small store with few writes would keep deleted entries for ever.
        options.setPeriodicCompactionSeconds(Long.parseLong(String.valueOf(configs.get(COMPACT_WITHIN_CONFIG))));
        // Most look-ups are for new keys. For these the filter avoids a search in the write buffers.
        options.setMemtablePrefixBloomSizeRatio(0.1);
        options.setMemtableWholeKeyFiltering(true);
    }

    private static Cache createSharedCache(long bytes) {
        RocksDB.loadLibrary();
        Cache created = new LRUCache(bytes, shardBits(bytes), false, HIGH_PRIORITY_SHARE);
        // Write buffers take at most half of the cache.
        writeBuffers = new WriteBufferManager(bytes / 2, created);
        cache = created;
        return created;
    }

    /** Returns the binary logarithm of the number of shards of a cache. */
    static int shardBits(long bytes) {
        long shards = bytes / MIN_SHARD_BYTES;
        return Math.clamp(63L - Long.numberOfLeadingZeros(shards), 0, MAX_SHARD_BITS);
    }

    @Override
    public void close(String storeName, Options options) {
        // Other stores use the shared cache and write buffers.
    }
}
