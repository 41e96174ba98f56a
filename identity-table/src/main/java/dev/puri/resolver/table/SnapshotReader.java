package dev.puri.resolver.table;

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

/** Opens a snapshot, checks that it matches the topic, and fills an empty table with it. */
final class SnapshotReader implements AutoCloseable {
    private static final int MOST_PARTITIONS = 100_000;

    private final SnapshotParts parts;
    private final Slab slab;
    private final Index names;
    private final Index handles;
    private final Words words;
    private final long seed;

    /** The parameters of a new table. */
    record Head(long seed, Map<Integer, Long> offsets) {}

    SnapshotReader(Path file, long seed, Slab slab, Index names, Index handles, Words words) throws IOException {
        this.parts = new SnapshotParts(file);
        this.slab = slab;
        this.names = names;
        this.handles = handles;
        this.words = words;
        this.seed = seed;
    }

    /** Reads a snapshot's head and checks that it matches the topic. */
    static Head head(Path file, SnapshotRequirements terms) throws IOException, SnapshotRefusedException {
        try (SnapshotParts parts = new SnapshotParts(file)) {
            ByteBuffer fixed = parts.readUnchecked(0, SnapshotFormat.FIXED_HEAD_BYTES);
            if (fixed.getLong() != SnapshotFormat.MAGIC) {
                throw new SnapshotRefusedException("it is no snapshot");
            }
            int version = fixed.getInt();
            if (version != SnapshotFormat.VERSION) {
                throw new SnapshotRefusedException(
                        "its format is of version " + version + ", not " + SnapshotFormat.VERSION);
            }
            int partitions = fixed.getInt();
            if (partitions < 0 || partitions > MOST_PARTITIONS) {
                throw new SnapshotRefusedException("its head is damaged");
            }
            ByteBuffer head = parts.read(
                    0, SnapshotFormat.FIXED_HEAD_BYTES + 8 * partitions + SnapshotFormat.CRC_BYTES, "its head");
            head.position(16);
            requireSameTopic(new Uuid(head.getLong(), head.getLong()), partitions, terms);
            head.getLong();
            requireYoung(Instant.ofEpochMilli(head.getLong()), terms);
            long seed = head.getLong();
            Map<Integer, Long> offsets = new HashMap<>();
            for (int partition = 0; partition < partitions; partition++) {
                long offset = head.getLong();
                if (offset >= 0) {
                    requireWithin(partition, offset, terms);
                    offsets.put(partition, offset);
                }
            }
            return new Head(seed, offsets);
        } catch (EOFException e) {
            throw new SnapshotRefusedException("it is torn off in its head", e);
        }
    }

    private static void requireSameTopic(Uuid topic, int partitions, SnapshotRequirements terms)
            throws SnapshotRefusedException {
        if (!topic.equals(terms.topicId())) {
            throw new SnapshotRefusedException(
                    "it is of the topic with id " + topic + ", which is now " + terms.topicId());
        }
        if (partitions != terms.ends().size()) {
            throw new SnapshotRefusedException("it is of " + partitions + " partitions, and there are "
                    + terms.ends().size());
        }
    }

    private static void requireYoung(Instant asOf, SnapshotRequirements terms) throws SnapshotRefusedException {
        Duration age = Duration.between(asOf, terms.now());
        if (age.negated().compareTo(terms.margin()) > 0) {
            throw new SnapshotRefusedException(
                    "it is as of " + asOf + ", which is still to come: it may be of any age");
        }
        if (age.compareTo(terms.trusted()) > 0) {
            throw new SnapshotRefusedException("it is as of " + asOf + ", and tombstones are kept for "
                    + terms.tombstonesKept() + ": one that it missed may be gone");
        }
    }

    private static void requireWithin(int partition, long offset, SnapshotRequirements terms)
            throws SnapshotRefusedException {
        long begin = terms.begins().getOrDefault(partition, 0L);
        long end = terms.ends().getOrDefault(partition, 0L);
        if (offset < begin || offset > end) {
            throw new SnapshotRefusedException("it goes up to offset " + offset + " of partition " + partition
                    + ", which has " + begin + " to " + end);
        }
    }

    /** Fills the table, which must have no readers yet. */
    void fill(RowCodec.RowCounter total) throws IOException, SnapshotRefusedException {
        try {
            Foot foot = foot();
            readWords(foot.words);
            long rows = new SnapshotFill(parts, slab, names, handles, words, seed).fill(blocks(foot.index), total);
            if (rows != foot.rows) {
                throw new SnapshotRefusedException("it has " + rows + " rows instead of " + foot.rows);
            }
        } catch (EOFException e) {
            throw new SnapshotRefusedException("it is torn off", e);
        } catch (BufferUnderflowException e) {
            throw new SnapshotRefusedException("its words or its index are damaged", e);
        }
    }

    private record Foot(ByteBuffer words, ByteBuffer index, long rows) {}

    private Foot foot() throws IOException, SnapshotRefusedException {
        long place = parts.size() - SnapshotFormat.FOOT_BYTES;
        if (place < 0) {
            throw new SnapshotRefusedException("it is torn off");
        }
        ByteBuffer foot = parts.read(place, SnapshotFormat.FOOT_BYTES, "its foot, or it is torn off there,");
        long wordsPlace = foot.getLong();
        int wordsLength = foot.getInt();
        long indexPlace = foot.getLong();
        int indexLength = foot.getInt();
        long rows = foot.getLong();
        return new Foot(
                parts.read(wordsPlace, wordsLength, "its list of words"),
                parts.read(indexPlace, indexLength, "its index"),
                rows);
    }

    private void readWords(ByteBuffer in) {
        words.collections.load(SnapshotFormat.getTexts(in));
        words.owners.load(SnapshotFormat.getTexts(in));
        words.shards.load(SnapshotFormat.getTexts(in));
        words.topics.load(SnapshotFormat.getTexts(in));
        for (int left = in.getInt(); left > 0; left--) {
            words.intern(in.getShort());
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
