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
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Writes a snapshot of a table, one segment of the index of pURIs after the other, while the table is read and written.
 * The snapshot is not a consistent state: it may contain the old or the new row of a pURI that changes meanwhile. Its
 * head contains the offsets that the table had reached before the dump. A table that opens the snapshot reads the topic
 * from these offsets, so it reads the last topic record of each changed pURI again.
 */
final class SnapshotWriter {
    /** The number of bytes after which the file is synced to the disk. */
    private static final long DISK_CHUNK = 1L << 24;

    /** Number of times that a part is read until it does not change meanwhile. Then its rows are hashed. */
    private static final int MAX_READS = 3;

    private static final String TEMPORARY_SUFFIX = ".writing-";

    private final Index puris;
    private final Dictionaries dictionaries;
    private final long seed;

    /** The digests that the writer of the table keeps. */
    private final PartDigests tableDigests;

    private final List<Block> blocks = new ArrayList<>();
    private final ByteBuffer block = ByteBuffer.allocate(3 * SnapshotFormat.BLOCK_BYTES + SnapshotFormat.CRC_BYTES);
    private final UsedWords usedWords = new UsedWords();
    private final RecordHasher hasher;

    /** The digests of the rows of the snapshot. */
    private final PartDigests digests = new PartDigests();

    private long offset;
    private long rows;
    private long syncedOffset;

    SnapshotWriter(TableMemory memory, PartDigests tableDigests) {
        puris = memory.puris();
        dictionaries = memory.dictionaries();
        seed = memory.seed();
        this.tableDigests = tableDigests;
        hasher = new RecordHasher(dictionaries);
    }

    /** Writes to a temporary file, syncs and renames it, so that the previous snapshot is complete until then. */
    void write(Path file, SnapshotOrigin origin, Map<Integer, Long> offsets, Instant now) throws IOException {
        deleteUnfinished(file);
        // The name is unique, so that a slow writer of an earlier snapshot cannot rename this file.
        Path temporaryFile = file.resolveSibling(file.getFileName() + TEMPORARY_SUFFIX + UUID.randomUUID());
        try {
            writeAll(temporaryFile, origin, offsets, now);
            Files.move(temporaryFile, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            // The file still exists only after a failure. On a full disk it would take space.
            Files.deleteIfExists(temporaryFile);
        }
        syncFolderOf(file);
    }

    private void writeAll(Path temporaryFile, SnapshotOrigin origin, Map<Integer, Long> offsets, Instant now)
            throws IOException {
        // No code may get another word during the dump.
        try (Dictionaries.Hold hold = dictionaries.hold();
                FileChannel out = FileChannel.open(
                        temporaryFile,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        ownerOnly(temporaryFile))) {
            write(out, head(origin, offsets, now));
            SegmentEntries entries = new SegmentEntries();
            for (int segment = 0; segment < Index.SEGMENTS; segment++) {
                boolean isCopied = false;
                for (int reads = 0; reads < MAX_READS && !isCopied; reads++) {
                    long sequence = tableDigests.sequence(segment);
                    puris.read(segment, entries);
                    // Hashing the rows takes a third of the time, and would accept a damaged row.
                    isCopied = digests.copyUnchanged(tableDigests, segment, sequence);
                }
                if (!isCopied) {
                    hash(segment, entries, origin.partitions());
                }
                writeBlocks(out, segment, entries);
            }
            writeEnd(out, origin.partitions());
            out.force(true);
        }
    }

    /** Deletes temporary files that a killed process left. */
    private static void deleteUnfinished(Path file) throws IOException {
        try (DirectoryStream<Path> unfinished = Files.newDirectoryStream(
                file.toAbsolutePath().getParent(), file.getFileName() + TEMPORARY_SUFFIX + "*")) {
            for (Path temporary : unfinished) {
                Files.deleteIfExists(temporary);
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
                .putLong(origin.completeUpTo().toEpochMilli())
                .putLong(seed);
        for (int partition = 0; partition < origin.partitions(); partition++) {
            head.putLong(offsets.getOrDefault(partition, -1L));
        }
        return head;
    }

    private void hash(int segment, SegmentEntries entries, int partitions) {
        for (byte[] record : entries.records()) {
            long hash = hasher.hash(record, 0);
            digests.add(hasher.partition(partitions), segment, hash);
        }
    }

    private void writeBlocks(FileChannel out, int segment, SegmentEntries entries) throws IOException {
        List<byte[]> records = entries.records();
        int from = 0;
        while (from < records.size()) {
            int bytes = 0;
            int to = from;
            while (to < records.size() && bytes + records.get(to).length <= SnapshotFormat.BLOCK_BYTES) {
                byte[] record = records.get(to++);
                if (!RowCodec.isDecodable(record)) {
                    // The previous snapshot is better than one with a row that nobody can read.
                    throw new IOException("a row in part " + segment + " of the table is damaged in memory");
                }
                usedWords.addWordsOf(record);
                bytes += record.length;
            }
            block.clear();
            for (int i = from; i < to; i++) {
                block.putInt(entries.tag(i));
            }
            records.subList(from, to).forEach(block::put);
            blocks.add(new Block(offset, segment, to - from, bytes));
            rows += to - from;
            write(out, block);
            from = to;
        }
    }

    private void writeEnd(FileChannel out, int partitions) throws IOException {
        List<List<String>> texts = List.of(
                dictionaries.collections.texts(usedWords.collections),
                dictionaries.owners.texts(usedWords.owners),
                dictionaries.shards.texts(usedWords.shards),
                dictionaries.topics.texts(usedWords.topics));
        List<Integer> prefixes = dictionaries.prefixes();
        ByteBuffer wordsPart = ByteBuffer.allocate(
                texts.stream().mapToInt(SnapshotFormat::encodedLength).sum()
                        + 4
                        + 2 * prefixes.size()
                        + SnapshotFormat.CRC_BYTES);
        texts.forEach(textsOfDictionary -> SnapshotFormat.putTexts(textsOfDictionary, wordsPart));
        wordsPart.putInt(prefixes.size());
        prefixes.forEach(prefix -> wordsPart.putShort((short) (int) prefix));
        long wordsOffset = offset;
        write(out, wordsPart);

        ByteBuffer digestsPart =
                ByteBuffer.allocate(partitions * PartDigests.BYTES_OF_PARTITION + SnapshotFormat.CRC_BYTES);
        digests.put(partitions, digestsPart);
        long digestsOffset = offset;
        write(out, digestsPart);

        ByteBuffer index = ByteBuffer.allocate(blocks.size() * Block.BYTES + SnapshotFormat.CRC_BYTES);
        blocks.forEach(written -> written.put(index));
        long indexOffset = offset;
        write(out, index);

        ByteBuffer foot = ByteBuffer.allocate(SnapshotFormat.FOOT_BYTES);
        foot.putLong(wordsOffset)
                .putInt((int) (digestsOffset - wordsOffset))
                .putLong(digestsOffset)
                .putInt((int) (indexOffset - digestsOffset))
                .putLong(indexOffset)
                .putInt((int) (offset - indexOffset))
                .putLong(rows)
                .putLong(SnapshotFormat.MAGIC);
        write(out, foot);
    }

    private void write(FileChannel out, ByteBuffer part) throws IOException {
        part.putInt(SnapshotFormat.crc(part.array(), part.position()));
        part.flip();
        offset += part.remaining();
        while (part.hasRemaining()) {
            out.write(part);
        }
        if (offset - syncedOffset > DISK_CHUNK) {
            // A single sync at the end would block other writers to the disk for seconds.
            out.force(false);
            syncedOffset = offset;
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

    private static void syncFolderOf(Path file) throws IOException {
        try (FileChannel folder = FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    /** The codes of the words that dumped records refer to. All other words may belong to erased rows. */
    private static final class UsedWords implements RowCodec.RowCounter {
        private final BitSet collections = new BitSet();
        private final BitSet owners = new BitSet();
        private final BitSet shards = new BitSet();
        private final BitSet topics = new BitSet();

        void addWordsOf(byte[] record) {
            RowCodec.count(record, this, 1);
            topics.set(RowCodec.topicCode(record));
        }

        @Override
        public void count(int collection, int owner, int shard, int status, int delta) {
            collections.set(collection);
            owners.set(owner);
            shards.set(shard);
        }

        @Override
        public void countSurvivor(int collection, int delta) {
            collections.set(collection);
        }
    }
}
