package dev.puri.cli.imports;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/** The names that rows of the inputs have claimed. It is on disk, so that its size does not depend on the memory. */
final class SourceIndex implements AutoCloseable {
    private static final long WRITE_BUFFER_BYTES = 64 << 20;

    static {
        RocksDB.loadLibrary();
    }

    private final Options options = new Options()
            .setCreateIfMissing(true)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setWriteBufferSize(WRITE_BUFFER_BYTES);
    // The index of a killed process is not read again.
    private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);
    private final RocksDB names;

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

    void put(String name, Claim claim) {
        byte[] shard = utf8(claim.shard());
        byte[] value = ByteBuffer.allocate(Integer.BYTES + Long.BYTES + shard.length)
                .putInt(claim.input())
                .putLong(claim.row())
                .put(shard)
                .array();
        try {
            names.put(writeOptions, utf8(name), value);
        } catch (RocksDBException e) {
            throw new ImportException("the index of names cannot be written: " + e.getMessage(), e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        names.close();
        writeOptions.close();
        options.close();
    }
}
