package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.verify.StoreKey.Slice;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeyTableTest {
    private final long seed = new Random().nextLong();

    @Test
    void hasTheValuesOfAMap() throws Exception {
        Random random = new Random(seed);
        KeyTable table = new KeyTable(2, 1_000_000);
        Map<StoreKey, Long> expected = new HashMap<>();
        for (int i = 0; i < 10_000; i++) {
            // Few distinct low halves make long chains of slots.
            StoreKey key = new StoreKey(random.nextInt(400), random.nextInt(20));
            int slot = table.add(key);
            table.set(slot, 1, i);
            expected.put(key, (long) i);
        }
        expected.forEach((key, value) -> assertThat(table.get(table.find(key), 1))
                .as("seed %d, %s", seed, key)
                .isEqualTo(value));
        assertThat(table.find(new StoreKey(-1, -1))).isEqualTo(-1);
        Map<StoreKey, Long> listed = new HashMap<>();
        for (int slot = 0; slot < table.slots(); slot++) {
            if (table.isUsed(slot)) {
                listed.put(table.key(slot), table.get(slot, 1));
            }
        }
        assertThat(listed).as("seed %d", seed).isEqualTo(expected);
    }

    @Test
    void refusesMoreKeysThanItsMaximum() throws Exception {
        KeyTable table = new KeyTable(1, 2);
        table.add(new StoreKey(1, 1));
        table.add(new StoreKey(2, 2));
        table.add(new StoreKey(1, 1));
        assertThatThrownBy(() -> table.add(new StoreKey(3, 3))).isInstanceOf(KeyTable.FullException.class);
    }

    @Test
    void eachKeyIsInOneOfTheHalvesOfItsSlice() {
        Random random = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            StoreKey key = new StoreKey(random.nextLong(), random.nextLong());
            Slice slice = Slice.ALL;
            for (int depth = 0; depth < 5; depth++) {
                assertThat(key.isIn(slice)).as("seed %d", seed).isTrue();
                assertThat(key.isIn(slice.half(0))).isNotEqualTo(key.isIn(slice.half(1)));
                slice = key.isIn(slice.half(0)) ? slice.half(0) : slice.half(1);
            }
        }
    }
}
