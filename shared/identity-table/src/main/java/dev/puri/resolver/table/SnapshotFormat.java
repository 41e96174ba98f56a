package dev.puri.resolver.table;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The layout of a snapshot file. Numbers are big-endian. Each part ends with the CRC-32C of its other bytes.
 *
 * <pre>
 * head     magic, version, topic id, number of partitions, times, seed, offset of each partition (-1: none)
 * block…   tag of each record, then the records as in memory. A block has records of one segment of the index of
 *          pURIs; the blocks are in the order of the segments
 * words    texts of the words that records refer to by code. This part follows the blocks, so that it has the words
 *          of all blocks. The text of an unused code is empty
 * digests  number of rows and sum of their hashes, for each partition and segment; of exactly the rows in the blocks
 * index    offset, segment, number of rows and bytes of each block
 * foot     offsets and lengths of words, digests and index, number of all rows, magic
 * </pre>
 */
final class SnapshotFormat {
    static final long MAGIC = 0x7075_7269_7461_626cL; // "puritabl"
    static final int VERSION = 4;
    static final int CRC_BYTES = 4;
    static final int FIXED_HEAD_BYTES = 8 + 4 + 4 + 16 + 8 + 8 + 8;
    static final int FOOT_BYTES = 3 * (8 + 4) + 8 + 8 + CRC_BYTES;

    /** The maximum number of bytes of the records of a block. A reader verifies and copies a whole block at once. */
    static final int BLOCK_BYTES = 1 << 16;

    private SnapshotFormat() {}

    /** An entry of the index part, which describes one block. */
    record Block(long offset, int segment, int rows, int bytes) {
        static final int BYTES = 8 + 4 + 4 + 4;

        int length() {
            return 4 * rows + bytes + CRC_BYTES;
        }

        void put(ByteBuffer out) {
            out.putLong(offset).putInt(segment).putInt(rows).putInt(bytes);
        }

        static Block get(ByteBuffer in) {
            return new Block(in.getLong(), in.getInt(), in.getInt(), in.getInt());
        }
    }

    static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    static void putTexts(List<String> texts, ByteBuffer out) {
        out.putInt(texts.size());
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            out.putShort((short) bytes.length).put(bytes);
        }
    }

    /** Returns the number of bytes that {@link #putTexts} writes. */
    static int encodedLength(List<String> texts) {
        return 4 + texts.stream().mapToInt(text -> 2 + text.length()).sum();
    }

    static List<String> getTexts(ByteBuffer in) {
        List<String> texts = new ArrayList<>();
        for (int remaining = in.getInt(); remaining > 0; remaining--) {
            byte[] bytes = new byte[in.getShort()];
            in.get(bytes);
            texts.add(new String(bytes, StandardCharsets.US_ASCII));
        }
        return texts;
    }
}
