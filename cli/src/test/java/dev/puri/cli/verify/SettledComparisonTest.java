package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.verify.StoreKey.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SettledComparisonTest {
    @Test
    void aLargerHeapHasLargerBatches() {
        assertThat(SettledComparison.batchSize(64L << 20)).isEqualTo(20_000);
        assertThat(SettledComparison.batchSize(4L << 30)).isEqualTo(131_072);
        assertThat(SettledComparison.batchSize(1L << 40)).isEqualTo(1_000_000);
    }

    @Test
    void eachKeyIsCountedAndReportedOnceHoweverFewKeysFitIntoMemory() {
        for (int maxSize : new int[] {1_000, 100, 3}) {
            List<Difference> differences = new ArrayList<>();
            Check.Result result = new DifferingKeys(100, maxSize).run(differences::add);
            assertThat(result.rows()).isEqualTo(100);
            assertThat(result.expectedRows()).isEqualTo(100);
            assertThat(differences).extracting(Difference::key).hasSize(100).doesNotHaveDuplicates();
        }
    }

    /** Compares keys that all differ. */
    private static final class DifferingKeys extends SettledComparison<StoreKey> {
        private final int keys;

        DifferingKeys(int keys, int maxSize) {
            super(1, columns -> maxSize, 2);
            this.keys = keys;
        }

        @Override
        public String part() {
            return "part";
        }

        @Override
        public String copy() {
            return "copy";
        }

        @Override
        public Integer partition() {
            return 0;
        }

        @Override
        public long records() {
            return keys;
        }

        @Override
        void requireSources() {}

        @Override
        KeyTable readHashes(Slice slice) throws KeyTable.FullException {
            KeyTable table = newTable();
            for (int i = 0; i < keys; i++) {
                StoreKey key = new StoreKey(i, i);
                if (key.isIn(slice)) {
                    table.add(key);
                }
            }
            return table;
        }

        @Override
        StoreKey candidate(KeyTable table, int slot) {
            count(true, true);
            return table.key(slot);
        }

        @Override
        void readValues(Map<StoreKey, StoreKey> values, int round) {}

        @Override
        Comparison compare(StoreKey candidate) {
            return Comparison.DIFFERENT;
        }

        @Override
        void report(Map<StoreKey, StoreKey> differing, Consumer<Difference> differences) {
            differing
                    .keySet()
                    .forEach(key -> differences.accept(new Difference(
                            part(),
                            copy(),
                            partition(),
                            null,
                            key.toString(),
                            Difference.Kind.DIFFERS,
                            Map.of(),
                            null)));
        }
    }
}
