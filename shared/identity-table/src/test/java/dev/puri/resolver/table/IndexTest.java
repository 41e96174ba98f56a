package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class IndexTest {
    private final Slab slab = new Slab();
    private final Index index = new Index(slab);

    /** Returns one of few different hashes, all in one segment, so that searches collide. */
    private static long hash(int key) {
        return (long) (key % 7) << 26 | 0xABC0_0000_0000_0000L;
    }

    @Test
    void distinguishesEntriesWithTheSameHash() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Integer, Integer> model = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            int key = random.nextInt(60);
            long there = index.seek(hash(key), record -> record[1] == key);
            assertThat(there != 0).as("seed %d", seed).isEqualTo(model.containsKey(key));
            if (random.nextInt(3) == 0) {
                if (there != 0) {
                    index.remove(hash(key));
                    slab.freeRecord(there, 1);
                    model.remove(key);
                }
            } else {
                int value = random.nextInt(100);
                long record = record(key, value);
                if (there == 0) {
                    index.insert(hash(key), record);
                } else {
                    index.replace(hash(key), record);
                    slab.freeRecord(there, 1);
                }
                model.put(key, value);
            }
        }
        for (int key = 0; key < 60; key++) {
            int wanted = key;
            byte[] found = index.find(hash(key), record -> record[1] == wanted, record -> {});
            assertThat(found == null ? null : (Integer) (int) found[2])
                    .as("seed %d", seed)
                    .isEqualTo(model.get(key));
        }
        assertThat(index.entries()).isEqualTo(model.size());
    }

    /** The words of a replaced record may be removed, so a reader must read record and words again. */
    @Test
    void readsWordsAgainAfterTheRecordWasReplaced() {
        index.insert(hash(1), record(1, 10));
        List<Integer> read = new ArrayList<>();

        byte[] found = index.find(hash(1), record -> record[1] == 1, record -> {
            read.add((int) record[2]);
            if (read.size() == 1) {
                index.seek(hash(1), there -> there[1] == 1);
                index.replace(hash(1), record(1, 20));
            }
        });

        assertThat(found).isNotNull().startsWith(1, 1, 20);
        assertThat(read).containsExactly(10, 20);
    }

    private long record(int key, int value) {
        long address = slab.allocateRecord(1);
        slab.copy(new byte[] {1, (byte) key, (byte) value, 0, 0, 0, 0, 0}, 0, address, 8);
        return address;
    }
}
