package dev.puri.resolver.table;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The parts of a snapshot's file, each of which ends with its checksum. Any number of threads may read. */
final class SnapshotParts implements AutoCloseable {
    private final FileChannel in;
    private final long size;

    SnapshotParts(Path file) throws IOException {
        in = FileChannel.open(file, StandardOpenOption.READ);
        size = in.size();
    }

    long size() {
        return size;
    }

    /**
     * Reads a part and checks it.
     *
     * @param what name of the part, for the message
     * @throws SnapshotRefusedException when the checksum does not match
     */
    ByteBuffer read(long place, int length, String what) throws IOException, SnapshotRefusedException {
        requireWithin(place, length, what);
        return read(place, length, what, new byte[length]);
    }

    /** Reads a part into an array that is long enough, and checks it. */
    ByteBuffer read(long place, int length, String what, byte[] into) throws IOException, SnapshotRefusedException {
        requireWithin(place, length, what);
        ByteBuffer part = readUnchecked(place, length, into);
        int end = length - SnapshotFormat.CRC_BYTES;
        if (part.getInt(end) != SnapshotFormat.crc(into, end)) {
            throw new SnapshotRefusedException(what + " is damaged");
        }
        return part;
    }

    private void requireWithin(long place, int length, String what) throws SnapshotRefusedException {
        if (place < 0 || length < SnapshotFormat.CRC_BYTES || place + length > size) {
            throw new SnapshotRefusedException(what + " is damaged");
        }
    }

    /** Reads bytes that tell the length of a part, before the part can be checked. */
    ByteBuffer readUnchecked(long place, int length) throws IOException {
        return readUnchecked(place, length, new byte[length]);
    }

    private ByteBuffer readUnchecked(long place, int length, byte[] into) throws IOException {
        ByteBuffer part = ByteBuffer.wrap(into, 0, length);
        while (part.hasRemaining()) {
            if (in.read(part, place + part.position()) < 0) {
                throw new EOFException("the file ends");
            }
        }
        return part.flip();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
