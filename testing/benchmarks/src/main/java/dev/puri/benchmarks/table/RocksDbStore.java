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

/** A GlobalKTable on RocksDB, with a separate RocksDB of handles, because a topic can feed only one global store. */
final class RocksDbStore implements RowStore {
    private final ReadOnlyKeyValueStore<byte[], byte[]> rows;
    private final RowDecoder decoder = new RowDecoder();
    private final Options options = new Options().setCreateIfMissing(true);
    private final RocksDB handles;

    /**
     * Fills the database of handles.
     *
     * @param rows number of rows, which all have handles
     */
    RocksDbStore(ReadOnlyKeyValueStore<byte[], byte[]> store, Path dir, int rows) throws IOException, RocksDBException {
        this.rows = store;
        RocksDB.loadLibrary();
        Files.createDirectories(dir);
        new GlobalStore.TunedRocksDb()
                .setConfig("handles", options.setTableFormatConfig(new BlockBasedTableConfig()), Map.of());
        handles = RocksDB.open(options, dir.toString());
        try (WriteOptions withoutLog = new WriteOptions().setDisableWAL(true)) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        withoutLog,
                        RowStore.key(Population.handle(number)),
                        Population.puri(number).toBytes());
            }
        }
    }

    @Override
    public @Nullable Row byPuri(Puri puri) {
        return decodeOrNull(rows.get(puri.toBytes()));
    }

    @Override
    public @Nullable Row byHandle(Handle handle) {
        try {
            byte[] key = handles.get(RowStore.key(handle));
            return key == null ? null : decodeOrNull(rows.get(key));
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    private @Nullable Row decodeOrNull(byte @Nullable [] value) {
        return value == null ? null : decoder.decode(value);
    }

    @Override
    public long scan(long minRows) {
        long rowCount = 0;
        try (KeyValueIterator<byte[], byte[]> entries = rows.all()) {
            while (rowCount < minRows && entries.hasNext()) {
                var entry = entries.next();
                RowDecoder.puri(entry.key);
                rowCount += decoder.decode(entry.value).epoch() > 0 ? 1 : 0;
            }
        }
        return rowCount;
    }

    @Override
    public void close() {
        handles.close();
        options.close();
    }
}
