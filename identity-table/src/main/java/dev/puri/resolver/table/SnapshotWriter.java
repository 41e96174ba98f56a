package dev.puri.resolver.table;

import dev.puri.resolver.table.SnapshotFormat.Block;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Dumps a table, one small table after another, while it is read and written. The dump is not a consistent state: rows
 * that change during it may be old or new. Its head has the offsets that the table had reached before the dump, and a
 * reader reads the topic from there. So the last record of each changed name is read again and replaces the dumped row.
 */
final class SnapshotWriter {
    private static final long DISK_CHUNK = 1L << 24;

    private static final String WRITING = ".writing-";

    private final Index names;
    private final Words words;
    private final long seed;
    private final List<Block> blocks = new ArrayList<>();
    private final ByteBuffer block = ByteBuffer.allocate(3 * SnapshotFormat.BLOCK_BYTES + SnapshotFormat.CRC_BYTES);
    private final Used used = new Used();
    private long place;
    private long rows;
    private long forced;

    SnapshotWriter(Index names, Words words, long seed) {
        this.names = names;
        this.words = words;
        this.seed = seed;
    }

    /**
     * Writes to a temporary file and renames it after it is synced, so that there is a complete snapshot at any time.
     */
    void write(Path file, SnapshotOrigin origin, Map<Integer, Long> offsets, Instant now) throws IOException {
        deleteUnfinished(file);
        // With a unique name, so that a slow writer of an earlier snapshot cannot rename this file.
        Path writing = file.resolveSibling(file.getFileName() + WRITING + UUID.randomUUID());
        try {
            writeAll(writing, origin, offsets, now);
            Files.move(writing, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            // Remains only after a failure; on a full disk it would take space.
            Files.deleteIfExists(writing);
        }
        forceFolderOf(file);
    }

    private void writeAll(Path writing, SnapshotOrigin origin, Map<Integer, Long> offsets, Instant now)
            throws IOException {
        // No number may get another word during the dump.
        try (Words.Hold held = words.hold();
                FileChannel out = FileChannel.open(
                        writing, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), ownerOnly(writing))) {
            write(out, head(origin, offsets, now));
            Part part = new Part();
            for (int table = 0; table < Index.TABLES; table++) {
                names.read(table, part);
                writeBlocks(out, table, part);
            }
            writeEnd(out);
            out.force(true);
        }
    }

    /** Deletes temporary files that a killed process left. */
    private static void deleteUnfinished(Path file) throws IOException {
        try (DirectoryStream<Path> unfinished =
                Files.newDirectoryStream(file.toAbsolutePath().getParent(), file.getFileName() + WRITING + "*")) {
            for (Path each : unfinished) {
                Files.deleteIfExists(each);
            }
        }
    }

    private ByteBuffer head(SnapshotOrigin origin, Map<Integer, Long> offsets, Instant now) {
        ByteBuffer head = ByteBuffer.allocate(
                SnapshotFormat.FIXED_HEAD_BYTES + 8 * origin.partitions() + SnapshotFormat.CRC_BYTES);
        head.putLong(SnapshotFormat.MAGIC)
                .putInt(SnapshotFormat.VERSION)
                .putInt(origin.partitions())
                .putLong(origin.topicId().getMostSignificantBits())
                .putLong(origin.topicId().getLeastSignificantBits())
                .putLong(now.toEpochMilli())
                .putLong(origin.asOf().toEpochMilli())
                .putLong(seed);
        for (int partition = 0; partition < origin.partitions(); partition++) {
            head.putLong(offsets.getOrDefault(partition, -1L));
        }
        return head;
    }

    private void writeBlocks(FileChannel out, int table, Part part) throws IOException {
        int from = 0;
        while (from < part.count) {
            int bytes = 0;
            int to = from;
            while (to < part.count && bytes + part.lengths[to] <= SnapshotFormat.BLOCK_BYTES) {
                used.addWordsOf(part.records, part.offsets[to]);
                bytes += part.lengths[to++];
            }
            block.clear();
            for (int i = from; i < to; i++) {
                block.putInt(part.tags[i]);
            }
            block.put(part.records, part.offsets[from], bytes);
            blocks.add(new Block(place, table, to - from, bytes));
            rows += to - from;
            write(out, block);
            from = to;
        }
    }

    private void writeEnd(FileChannel out) throws IOException {
        List<List<String>> dictionaries = List.of(
                words.collections.texts(used.collections),
                words.owners.texts(used.owners),
                words.shards.texts(used.shards),
                words.topics.texts(used.topics));
        List<Integer> prefixes = words.prefixes();
        ByteBuffer said = ByteBuffer.allocate(
                dictionaries.stream().mapToInt(SnapshotFormat::bytesOf).sum()
                        + 4
                        + 2 * prefixes.size()
                        + SnapshotFormat.CRC_BYTES);
        dictionaries.forEach(texts -> SnapshotFormat.putTexts(texts, said));
        said.putInt(prefixes.size());
        prefixes.forEach(prefix -> said.putShort((short) (int) prefix));
        long wordsPlace = place;
        write(out, said);

        ByteBuffer index = ByteBuffer.allocate(blocks.size() * Block.BYTES + SnapshotFormat.CRC_BYTES);
        blocks.forEach(each -> each.put(index));
        long indexPlace = place;
        write(out, index);

        ByteBuffer foot = ByteBuffer.allocate(SnapshotFormat.FOOT_BYTES);
        foot.putLong(wordsPlace)
                .putInt((int) (indexPlace - wordsPlace))
                .putLong(indexPlace)
                .putInt((int) (place - indexPlace))
                .putLong(rows)
                .putLong(SnapshotFormat.MAGIC);
        write(out, foot);
    }

    private void write(FileChannel out, ByteBuffer part) throws IOException {
        part.putInt(SnapshotFormat.crc(part.array(), part.position()));
        part.flip();
        place += part.remaining();
        while (part.hasRemaining()) {
            out.write(part);
        }
        if (place - forced > DISK_CHUNK) {
            // In small portions: one sync at the end would block other writers for seconds.
            out.force(false);
            forced = place;
        }
    }

    private static FileAttribute<?>[] ownerOnly(Path file) {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                        && file.getFileSystem().equals(FileSystems.getDefault())
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }

    private static void forceFolderOf(Path file) throws IOException {
        try (FileChannel folder = FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    /** Numbers of the words that the dumped records refer to; other words may be erased ones. */
    private static final class Used implements RowCodec.RowCounter {
        private final BitSet collections = new BitSet();
        private final BitSet owners = new BitSet();
        private final BitSet shards = new BitSet();
        private final BitSet topics = new BitSet();

        void addWordsOf(byte[] records, int begin) {
            RowCodec.count(records, begin, this, 1);
            topics.set(RowCodec.topic(records, begin));
        }

        @Override
        public void count(int collection, int owner, int shard, int status, int more) {
            collections.set(collection);
            owners.set(owner);
            shards.set(shard);
        }

        @Override
        public void countSurvivor(int collection, int more) {
            collections.set(collection);
        }
    }

    /** The records of one small table. */
    private static final class Part implements Index.Taker {
        private int count;
        private int end;
        private int[] tags = new int[1024];
        private int[] lengths = new int[1024];
        private int[] offsets = new int[1024];
        private byte[] records = new byte[1 << 16];

        @Override
        public void begin() {
            count = 0;
            end = 0;
        }

        @Override
        public void take(long tag, byte[] record) {
            if (count == tags.length) {
                tags = Arrays.copyOf(tags, 2 * count);
                lengths = Arrays.copyOf(lengths, 2 * count);
                offsets = Arrays.copyOf(offsets, 2 * count);
            }
            if (end + record.length > records.length) {
                records = Arrays.copyOf(records, 2 * records.length);
            }
            System.arraycopy(record, 0, records, end, record.length);
            tags[count] = (int) tag;
            lengths[count] = record.length;
            offsets[count] = end;
            end += record.length;
            count++;
        }
    }
}
