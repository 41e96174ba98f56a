package dev.puri.registry;

import java.time.Duration;
import java.util.Map;
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
 * One bound on the memory of all stores together, and one on the time that a file keeps what was deleted.
 * Left alone each store takes up to 98 MiB outside the heap, and there are four to a partition. Kafka
 * Streams makes one of these for every store, so what they share is static.
 */
public final class StoreMemory implements RocksDBConfigSetter {
    /** Setting: MiB for all stores of this process. The first topology in a process decides. */
    static final String MIB_CONFIG = "puri.store.memory.mib";

    /** Setting: within so many seconds a file of a store is written again, without what was deleted or replaced. */
    static final String COMPACT_WITHIN_CONFIG = "puri.store.compact.within.seconds";

    private static @Nullable Cache cache;
    private static @Nullable WriteBufferManager writeBuffers;

    /** Kafka Streams calls this by name. */
    public StoreMemory() {}

    /**
     * Lets Kafka Streams make one of these for every store.
     *
     * @param properties of the topology
     * @param mebibytes for all stores of this process
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
            Cache shared = cache == null ? shared(bytes) : cache;
            table.setBlockCache(shared);
            options.setWriteBufferManager(Started.with(writeBuffers));
        }
        // Index and filter blocks count against the bound too.
        table.setCacheIndexAndFilterBlocks(true);
        table.setCacheIndexAndFilterBlocksWithHighPriority(true);
        table.setPinTopLevelIndexAndFilter(true);
        options.setTableFormatConfig(table);
        options.setWriteBufferSize(Math.min(bytes / 16, 8 << 20));
        options.setMaxWriteBufferNumber(2);
        // Without it a small store keeps what was deleted for as long as nobody writes much.
        options.setPeriodicCompactionSeconds(Long.parseLong(String.valueOf(configs.get(COMPACT_WITHIN_CONFIG))));
        // Most look-ups are for names that nobody has claimed yet: the buffers need not be searched for them.
        options.setMemtablePrefixBloomSizeRatio(0.1);
        options.setMemtableWholeKeyFiltering(true);
    }

    private static Cache shared(long bytes) {
        RocksDB.loadLibrary();
        Cache made = new LRUCache(bytes, -1, false, 0.1);
        // Write buffers are charged to the same cache, a half of it at the most.
        writeBuffers = new WriteBufferManager(bytes / 2, made);
        cache = made;
        return made;
    }

    @Override
    public void close(String storeName, Options options) {
        // What is shared outlives every store.
    }
}
