package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/** A GlobalKTable on RocksDB and a database of handles, because one topic feeds one global store only. */
final class RocksDbStore implements RowStore {
    private final ReadOnlyKeyValueStore<byte[], byte[]> rows;
    private final RowDecoder decoder = new RowDecoder();
    private final Options options = new Options().setCreateIfMissing(true);
    private final RocksDB handles;

    /**
     * Fills the database of handles.
     *
     * @param rows that have handles
     */
    RocksDbStore(ReadOnlyKeyValueStore<byte[], byte[]> store, Path dir, int rows) throws IOException, RocksDBException {
        this.rows = store;
        RocksDB.loadLibrary();
        Files.createDirectories(dir);
        new GlobalStores.Tuned()
                .setConfig("handles", options.setTableFormatConfig(new BlockBasedTableConfig()), Map.of());
        handles = RocksDB.open(options, dir.toString());
        try (WriteOptions unlogged = new WriteOptions().setDisableWAL(true)) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        unlogged,
                        RowStore.key(Population.handle(number)),
                        Population.puri(number).toBytes());
            }
        }
    }

    @Override
    public @Nullable Row byPuri(Puri puri) {
        return decoded(rows.get(puri.toBytes()));
    }

    @Override
    public @Nullable Row byHandle(Handle handle) {
        try {
            byte[] key = handles.get(RowStore.key(handle));
            return key == null ? null : decoded(rows.get(key));
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    private @Nullable Row decoded(byte @Nullable [] value) {
        return value == null ? null : decoder.decode(value);
    }

    @Override
    public long scan(long most) {
        long seen = 0;
        try (KeyValueIterator<byte[], byte[]> all = rows.all()) {
            while (seen < most && all.hasNext()) {
                var next = all.next();
                RowDecoder.puri(next.key);
                seen += decoder.decode(next.value).epoch() > 0 ? 1 : 0;
            }
        }
        return seen;
    }

    @Override
    public void close() {
        handles.close();
        options.close();
    }
}
