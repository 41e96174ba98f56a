package dev.puri.resolver.table;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reads the parts of a snapshot file. Each part ends with its checksum. Thread-safe. */
final class SnapshotPartReader implements AutoCloseable {
    private final FileChannel file;
    private final long size;

    SnapshotPartReader(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.READ);
        size = file.size();
    }

    long size() {
        return size;
    }

    /**
     * Reads a part and verifies its checksum.
     *
     * @param length the number of bytes, including the checksum
     * @param partName the name of the part, for the error message
     * @throws SnapshotRefusedException if the part is not within the file, or its checksum does not match
     */
    ByteBuffer read(long offset, int length, String partName) throws IOException, SnapshotRefusedException {
        requireWithin(offset, length, partName);
        return read(offset, length, partName, new byte[length]);
    }

    /** Reads a part into an array that is large enough, and verifies its checksum. */
    ByteBuffer read(long offset, int length, String partName, byte[] into)
            throws IOException, SnapshotRefusedException {
        requireWithin(offset, length, partName);
        ByteBuffer part = readUnchecked(offset, length, into);
        int end = length - SnapshotFormat.CRC_BYTES;
        if (part.getInt(end) != SnapshotFormat.crc(into, end)) {
            throw new SnapshotRefusedException(partName + " is damaged");
        }
        return part;
    }

    private void requireWithin(long offset, int length, String partName) throws SnapshotRefusedException {
        if (offset < 0 || length < SnapshotFormat.CRC_BYTES || offset + length > size) {
            throw new SnapshotRefusedException(partName + " is damaged");
        }
    }

    /** Reads the beginning of a part, without verifying the checksum. It contains the length of the part. */
    ByteBuffer readUnchecked(long offset, int length) throws IOException {
        return readUnchecked(offset, length, new byte[length]);
    }

    private ByteBuffer readUnchecked(long offset, int length, byte[] into) throws IOException {
        ByteBuffer part = ByteBuffer.wrap(into, 0, length);
        while (part.hasRemaining()) {
            if (file.read(part, offset + part.position()) < 0) {
                throw new EOFException("the file ends within a part");
            }
        }
        return part.flip();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
