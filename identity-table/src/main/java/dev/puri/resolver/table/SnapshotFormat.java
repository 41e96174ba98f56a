package dev.puri.resolver.table;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The layout of a snapshot. Numbers are big-endian. Each part ends with the CRC-32C of its other bytes.
 *
 * <pre>
 * head     magic, version, topic id, partitions, times, seed, offset by partition (-1: none)
 * block…   tag of each record, then the records as in memory; each block is of one small table, in their order
 * words    texts that records refer to by number; written after the blocks, so that it has all words of all blocks. A
 *          number that no record refers to has no text
 * index    offset, small table, rows and bytes of each block
 * foot     offsets of words and index, total of rows, magic
 * </pre>
 */
final class SnapshotFormat {
    static final long MAGIC = 0x7075_7269_7461_626cL; // "puritabl"
    static final int VERSION = 2;
    static final int CRC_BYTES = 4;
    static final int FIXED_HEAD_BYTES = 8 + 4 + 4 + 16 + 8 + 8 + 8;
    static final int FOOT_BYTES = 8 + 4 + 8 + 4 + 8 + 8 + CRC_BYTES;

    /** The most bytes of a block's records. A block is checked and copied at once. */
    static final int BLOCK_BYTES = 1 << 16;

    private SnapshotFormat() {}

    /** An entry of the index: one block. */
    record Block(long place, int table, int rows, int bytes) {
        static final int BYTES = 8 + 4 + 4 + 4;

        int length() {
            return 4 * rows + bytes + CRC_BYTES;
        }

        void put(ByteBuffer out) {
            out.putLong(place).putInt(table).putInt(rows).putInt(bytes);
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

    static int bytesOf(List<String> texts) {
        return 4 + texts.stream().mapToInt(text -> 2 + text.length()).sum();
    }

    static List<String> getTexts(ByteBuffer in) {
        List<String> texts = new ArrayList<>();
        for (int left = in.getInt(); left > 0; left--) {
            byte[] bytes = new byte[in.getShort()];
            in.get(bytes);
            texts.add(new String(bytes, StandardCharsets.US_ASCII));
        }
        return texts;
    }
}
