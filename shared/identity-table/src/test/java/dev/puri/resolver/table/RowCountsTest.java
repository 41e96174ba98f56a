package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RowCountsTest {
    private final RowCounts counts = new RowCounts();

    @Test
    void countsEachKindSeparatelyForLargeNumbers() {
        int most = Integer.MAX_VALUE;
        List<List<Integer>> kinds = List.of(
                List.of(0, 1 << 20, 0, 0),
                List.of(1, 0, 0, 0),
                List.of(0, 0, 1 << 20, 0),
                List.of(0, 1, 0, 0),
                List.of(1 << 22, 0, 0, 3),
                List.of(0, 0, 0, 3),
                List.of(most, most, most, 2));
        for (int i = 0; i < kinds.size(); i++) {
            count(kinds.get(i), i + 1);
        }

        Map<List<Integer>, Integer> counted = counted();

        assertThat(counted).hasSize(kinds.size());
        for (int i = 0; i < kinds.size(); i++) {
            assertThat(counted).containsEntry(kinds.get(i), i + 1);
        }
    }

    @Test
    void countsMoreKindsThanTheCacheHas() {
        Map<List<Integer>, Integer> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            List<Integer> kind = List.of(i % 3, i % 17, i % 101, i % 2);
            count(kind, 1);
            expected.merge(kind, 1, Integer::sum);
        }

        assertThat(expected).hasSizeGreaterThan(2_000);
        assertThat(counted()).isEqualTo(expected);
    }

    private void count(List<Integer> kind, int more) {
        counts.count(kind.get(0), kind.get(1), kind.get(2), kind.get(3), more);
    }

    private Map<List<Integer>, Integer> counted() {
        Map<List<Integer>, Integer> counted = new HashMap<>();
        counts.addTo((collection, owner, shard, status, more) ->
                counted.merge(List.of(collection, owner, shard, status), more, Integer::sum));
        return counted;
    }
}
