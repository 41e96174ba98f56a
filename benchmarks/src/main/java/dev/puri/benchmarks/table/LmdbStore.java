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
 * LMDB with the topic's bytes, by name and by handle. Each look-up renews its read transaction, or it would never see a
 * change. Used by one thread.
 */
final class LmdbStore implements RowStore {
    private static final int PAGE = 4096;

    /** Bytes of address space; memory is taken page by page. */
    private static final long SPACE_PER_ROW = 512;

    private static final long SPACE = 64L << 20;
    private static final int PUTS_AT_ONCE = 500_000;
    private static final int MAX_KEY_BYTES = 511;
    private static final int MAX_VALUE_BYTES = 2048;

    private final RowDecoder decoder = new RowDecoder();
    private final Env<ByteBuffer> env;
    private final Dbi<ByteBuffer> rows;
    private final Dbi<ByteBuffer> handles;
    private final ByteBuffer key = ByteBuffer.allocateDirect(MAX_KEY_BYTES);
    private final Txn<ByteBuffer> reads;

    LmdbStore(Path dir, int count) throws IOException {
        Files.createDirectories(dir);
        env = Env.create()
                .setMapSize(SPACE + SPACE_PER_ROW * count)
                .setMaxDbs(2)
                .open(dir.toFile(), EnvFlags.MDB_NOSYNC, EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NORDAHEAD);
        rows = env.openDbi("rows", DbiFlags.MDB_CREATE);
        handles = env.openDbi("handles", DbiFlags.MDB_CREATE);
        fillRows(count);
        fillHandles(count);
        reads = env.txnRead();
        reads.reset();
    }

    private void fillRows(int count) {
        try (Filling filling = new Filling(rows)) {
            for (int number = 0; number < count; number++) {
                filling.put(
                        Population.puri(number).toBytes(),
                        RowEncoder.encode(Population.SCHEMA_ID, Population.row(number, 0)));
            }
        }
    }

    private void fillHandles(int count) {
        try (Filling filling = new Filling(handles)) {
            Consumer<Population.NumberedHandle> put = each -> filling.put(
                    RowStore.key(each.handle()), Population.puri(each.number()).toBytes());
            Population.forEachByHandle(count, put);
        }
    }

    /** Puts keys in their order, so that pages are full. */
    private final class Filling implements AutoCloseable {
        private final Dbi<ByteBuffer> to;
        private final ByteBuffer value = ByteBuffer.allocateDirect(MAX_VALUE_BYTES);
        private Txn<ByteBuffer> writes = env.txnWrite();
        private int put;

        Filling(Dbi<ByteBuffer> to) {
            this.to = to;
        }

        void put(byte[] from, byte[] bytes) {
            to.put(writes, key(from), value.clear().put(bytes).flip(), PutFlags.MDB_APPEND);
            if (++put % PUTS_AT_ONCE == 0) {
                writes.commit();
                writes.close();
                writes = env.txnWrite();
            }
        }

        @Override
        public void close() {
            writes.commit();
            writes.close();
        }
    }

    private ByteBuffer key(byte[] bytes) {
        return key.clear().put(bytes).flip();
    }

    /** Returns the bytes of its file that are in use, as many as it takes in memory when all of it is there. */
    long bytes() {
        return (env.info().lastPageNumber + 1) * PAGE;
    }

    @Override
    public @Nullable Row byPuri(Puri puri) {
        reads.renew();
        Row row = decoded(rows.get(reads, key(puri.toBytes())));
        reads.reset();
        return row;
    }

    @Override
    public @Nullable Row byHandle(Handle handle) {
        reads.renew();
        ByteBuffer puri = handles.get(reads, key(RowStore.key(handle)));
        Row row = puri == null ? null : decoded(rows.get(reads, puri));
        reads.reset();
        return row;
    }

    private @Nullable Row decoded(@Nullable ByteBuffer value) {
        return value == null ? null : decoder.decode(bytes(value));
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    @Override
    public long scan(long most) {
        long seen = 0;
        try (Txn<ByteBuffer> scan = env.txnRead();
                CursorIterable<ByteBuffer> all = rows.iterate(scan)) {
            for (CursorIterable.KeyVal<ByteBuffer> each : all) {
                if (seen == most) {
                    break;
                }
                RowDecoder.puri(bytes(each.key()));
                seen += decoder.decode(bytes(each.val())).epoch() > 0 ? 1 : 0;
            }
        }
        return seen;
    }

    @Override
    public void close() {
        reads.close();
        env.close();
    }
}
