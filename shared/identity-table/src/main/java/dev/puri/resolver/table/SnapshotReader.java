package dev.puri.resolver.table;

import dev.puri.projection.TopicMismatch;
import dev.puri.resolver.table.SnapshotFormat.Block;
import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/** Reads a snapshot: checks that it matches the topic, and fills an empty table with it. */
final class SnapshotReader implements AutoCloseable {
    private static final int MAX_PARTITIONS = 100_000;

    private final SnapshotPartReader parts;
    private final TableMemory memory;
    private final Head head;

    /**
     * The parameters of the table to create.
     *
     * @param partitions the number of partitions of the topic
     * @param seed of the hashes
     * @param offsets by partition, the offset from which the table reads the topic
     */
    record Head(int partitions, long seed, Map<Integer, Long> offsets) {}

    /**
     * @param memory the memory of an empty table
     */
    SnapshotReader(Path file, Head head, TableMemory memory) throws IOException {
        this.parts = new SnapshotPartReader(file);
        this.memory = memory;
        this.head = head;
    }

    /** Reads a snapshot's head and checks that it matches the topic. */
    static Head readHead(Path file, SnapshotRequirements requirements) throws IOException, SnapshotRefusedException {
        try (SnapshotPartReader parts = new SnapshotPartReader(file)) {
            ByteBuffer fixedHead = parts.readUnchecked(0, SnapshotFormat.FIXED_HEAD_BYTES);
            if (fixedHead.getLong() != SnapshotFormat.MAGIC) {
                throw new SnapshotRefusedException("the file is not a snapshot");
            }
            int version = fixedHead.getInt();
            if (version != SnapshotFormat.VERSION) {
                throw new SnapshotRefusedException(
                        "the snapshot has format version " + version + " instead of " + SnapshotFormat.VERSION);
            }
            int partitions = fixedHead.getInt();
            if (partitions < 0 || partitions > MAX_PARTITIONS) {
                throw new SnapshotRefusedException("the head of the snapshot is damaged");
            }
            ByteBuffer head = parts.read(
                    0,
                    SnapshotFormat.FIXED_HEAD_BYTES + 8 * partitions + SnapshotFormat.CRC_BYTES,
                    "the head of the snapshot");
            head.position(16);
            Uuid topicId = new Uuid(head.getLong(), head.getLong());
            head.getLong();
            Instant completeUpTo = Instant.ofEpochMilli(head.getLong());
            long seed = head.getLong();
            Map<Integer, Long> offsets = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                long offset = head.getLong();
                if (offset >= 0) {
                    offsets.put(partition, offset);
                }
            }
            requireContinuable(topicId, partitions, offsets, requirements);
            requireYoung(completeUpTo, requirements);
            return new Head(partitions, seed, offsets);
        } catch (EOFException e) {
            throw new SnapshotRefusedException("the snapshot ends within its head", e);
        }
    }

    private static void requireContinuable(
            Uuid topicId, int partitions, Map<Integer, Long> offsets, SnapshotRequirements requirements)
            throws SnapshotRefusedException {
        Map<Integer, Long> nextOffsets = new HashMap<>(offsets);
        for (int partition = 0; partition < partitions; partition++) {
            // A partition without an offset had no records.
            nextOffsets.putIfAbsent(partition, requirements.begins().getOrDefault(partition, 0L));
        }
        TopicMismatch mismatch = TopicMismatch.find(
                topicId, nextOffsets, requirements.topicId(), requirements.begins(), requirements.ends());
        if (mismatch != null) {
            throw new SnapshotRefusedException(describe(mismatch));
        }
    }

    private static String describe(TopicMismatch mismatch) {
        return switch (mismatch) {
            case TopicMismatch.OtherTopic other ->
                "the snapshot is of a topic with the id " + other.storedId() + ", but the topic now has the id "
                        + other.currentId();
            case TopicMismatch.OtherPartitions other ->
                "the snapshot is of " + other.storedCount() + " partitions, but the topic has " + other.currentCount();
            case TopicMismatch.OffsetOutOfRange range ->
                "the snapshot ends at offset " + range.nextOffset() + " of partition " + range.partition()
                        + ", but the partition has offsets " + range.logStartOffset() + " to " + range.endOffset();
        };
    }

    private static void requireYoung(Instant completeUpTo, SnapshotRequirements requirements)
            throws SnapshotRefusedException {
        Duration age = Duration.between(completeUpTo, requirements.now());
        if (age.negated().compareTo(requirements.clockMargin()) > 0) {
            throw new SnapshotRefusedException(
                    "the time of the snapshot, " + completeUpTo + ", is in the future, so its age is unknown");
        }
        if (age.compareTo(requirements.maxAge()) > 0) {
            throw new SnapshotRefusedException(
                    "the time of the snapshot is " + completeUpTo + ", and the topic keeps tombstones for only "
                            + requirements.tombstoneRetention() + ", so an erasure may have been missed");
        }
    }

    /** Fills the table, which must have no readers yet. */
    void fill(RowCodec.RowCounter totals, PartDigests digests) throws IOException, SnapshotRefusedException {
        try {
            Foot foot = foot();
            readWords(foot.words);
            digests.load(head.partitions, foot.digests);
            SnapshotFill fill = new SnapshotFill(parts, memory, head, digests);
            long rows = fill.fill(blocks(foot.index), totals);
            if (rows != foot.rows) {
                throw new SnapshotRefusedException("the snapshot has " + rows + " rows instead of " + foot.rows);
            }
        } catch (EOFException e) {
            throw new SnapshotRefusedException("the snapshot is truncated", e);
        } catch (BufferUnderflowException e) {
            throw new SnapshotRefusedException("the words, the digests or the index of the snapshot are damaged", e);
        }
    }

    private record Foot(ByteBuffer words, ByteBuffer digests, ByteBuffer index, long rows) {}

    private Foot foot() throws IOException, SnapshotRefusedException {
        long offset = parts.size() - SnapshotFormat.FOOT_BYTES;
        if (offset < 0) {
            throw new SnapshotRefusedException("the snapshot is truncated");
        }
        ByteBuffer foot = parts.read(offset, SnapshotFormat.FOOT_BYTES, "the foot of the snapshot");
        long wordsOffset = foot.getLong();
        int wordsLength = foot.getInt();
        long digestsOffset = foot.getLong();
        int digestsLength = foot.getInt();
        long indexOffset = foot.getLong();
        int indexLength = foot.getInt();
        long rows = foot.getLong();
        return new Foot(
                parts.read(wordsOffset, wordsLength, "the list of words"),
                parts.read(digestsOffset, digestsLength, "the list of digests"),
                parts.read(indexOffset, indexLength, "the index of the snapshot"),
                rows);
    }

    private void readWords(ByteBuffer in) {
        Dictionaries dictionaries = memory.dictionaries();
        dictionaries.collections.load(SnapshotFormat.getTexts(in));
        dictionaries.owners.load(SnapshotFormat.getTexts(in));
        dictionaries.shards.load(SnapshotFormat.getTexts(in));
        dictionaries.topics.load(SnapshotFormat.getTexts(in));
        for (int remaining = in.getInt(); remaining > 0; remaining--) {
            dictionaries.intern(in.getShort());
        }
    }

    private static List<Block> blocks(ByteBuffer in) {
        List<Block> blocks = new ArrayList<>();
        while (in.remaining() >= Block.BYTES + SnapshotFormat.CRC_BYTES) {
            blocks.add(Block.get(in));
        }
        return blocks;
    }

    @Override
    public void close() throws IOException {
        parts.close();
    }
}
