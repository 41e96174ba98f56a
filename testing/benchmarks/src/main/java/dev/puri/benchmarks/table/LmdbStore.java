package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.CursorIterable;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.PutFlags;
import org.lmdbjava.Txn;

/**
 * An LMDB store with the encoded rows by pURI, and the pURIs by handle. Each look-up renews the read transaction,
 * because otherwise it would not see later changes. Used by one thread.
 */
final class LmdbStore implements RowStore {
    private static final int PAGE_BYTES = 4096;

    /** Address space per row; memory is allocated page by page. */
    private static final long MAP_BYTES_PER_ROW = 512;

    private static final long MIN_MAP_BYTES = 64L << 20;
    private static final int PUTS_PER_TRANSACTION = 500_000;
    private static final int MAX_KEY_BYTES = 511;
    private static final int MAX_VALUE_BYTES = 2048;

    private final RowDecoder decoder = new RowDecoder();
    private final Env<ByteBuffer> env;
    private final Dbi<ByteBuffer> rows;
    private final Dbi<ByteBuffer> handles;
    private final ByteBuffer key = ByteBuffer.allocateDirect(MAX_KEY_BYTES);
    private final Txn<ByteBuffer> readTransaction;

    LmdbStore(Path dir, int count) throws IOException {
        Files.createDirectories(dir);
        env = Env.create()
                .setMapSize(MIN_MAP_BYTES + MAP_BYTES_PER_ROW * count)
                .setMaxDbs(2)
                .open(dir.toFile(), EnvFlags.MDB_NOSYNC, EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NORDAHEAD);
        rows = env.openDbi("rows", DbiFlags.MDB_CREATE);
        handles = env.openDbi("handles", DbiFlags.MDB_CREATE);
        fillRows(count);
        fillHandles(count);
        readTransaction = env.txnRead();
        readTransaction.reset();
    }

    private void fillRows(int count) {
        try (Appender appender = new Appender(rows)) {
            for (int number = 0; number < count; number++) {
                appender.put(
                        Population.puri(number).toBytes(),
                        RowEncoder.encode(Population.SCHEMA_ID, Population.row(number, 0)));
            }
        }
    }

    private void fillHandles(int count) {
        try (Appender appender = new Appender(handles)) {
            Consumer<Population.NumberedHandle> put = row -> appender.put(
                    RowStore.key(row.handle()), Population.puri(row.number()).toBytes());
            Population.forEachByHandle(count, put);
        }
    }

    /** Appends entries in the order of their keys, so that pages are full. */
    private final class Appender implements AutoCloseable {
        private final Dbi<ByteBuffer> database;
        private final ByteBuffer value = ByteBuffer.allocateDirect(MAX_VALUE_BYTES);
        private Txn<ByteBuffer> writeTransaction = env.txnWrite();
        private int putCount;

        Appender(Dbi<ByteBuffer> database) {
            this.database = database;
        }

        void put(byte[] keyBytes, byte[] bytes) {
            database.put(
                    writeTransaction, key(keyBytes), value.clear().put(bytes).flip(), PutFlags.MDB_APPEND);
            if (++putCount % PUTS_PER_TRANSACTION == 0) {
                writeTransaction.commit();
                writeTransaction.close();
                writeTransaction = env.txnWrite();
            }
        }

        @Override
        public void close() {
            writeTransaction.commit();
            writeTransaction.close();
        }
    }

    private ByteBuffer key(byte[] bytes) {
        return key.clear().put(bytes).flip();
    }

    /** Returns the number of bytes of the file that are in use; with all pages in memory, it is the memory in use. */
    long bytes() {
        return (env.info().lastPageNumber + 1) * PAGE_BYTES;
    }

    @Override
    public @Nullable Row byPuri(Puri puri) {
        readTransaction.renew();
        Row row = decodeOrNull(rows.get(readTransaction, key(puri.toBytes())));
        readTransaction.reset();
        return row;
    }

    @Override
    public @Nullable Row byHandle(Handle handle) {
        readTransaction.renew();
        ByteBuffer puri = handles.get(readTransaction, key(RowStore.key(handle)));
        Row row = puri == null ? null : decodeOrNull(rows.get(readTransaction, puri));
        readTransaction.reset();
        return row;
    }

    private @Nullable Row decodeOrNull(@Nullable ByteBuffer value) {
        return value == null ? null : decoder.decode(bytes(value));
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    @Override
    public long scan(long minRows) {
        long rowCount = 0;
        try (Txn<ByteBuffer> scan = env.txnRead();
                CursorIterable<ByteBuffer> entries = rows.iterate(scan)) {
            for (CursorIterable.KeyVal<ByteBuffer> entry : entries) {
                if (rowCount == minRows) {
                    break;
                }
                RowDecoder.puri(bytes(entry.key()));
                rowCount += decoder.decode(bytes(entry.val())).epoch() > 0 ? 1 : 0;
            }
        }
        return rowCount;
    }

    @Override
    public void close() {
        readTransaction.close();
        env.close();
    }
}
