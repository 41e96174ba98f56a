package dev.puri.benchmarks.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PopulationTest {
    private static final int ROWS = 3000;

    @Test
    void forEachByHandleFollowsTheOrderOfHandles() {
        List<Handle> handles = new ArrayList<>();
        Set<Integer> numbers = new HashSet<>();
        Population.forEachByHandle(ROWS, each -> {
            assertThat(each.handle()).isEqualTo(Population.handle(each.number()));
            handles.add(each.handle());
            numbers.add(each.number());
        });

        assertThat(numbers).hasSize(ROWS);
        assertThat(handles).hasSize(ROWS).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void missingKeysLieBetweenExistingKeys() {
        for (int number = 0; number < ROWS; number++) {
            Puri missing = Population.puri(Population.missing(number));
            assertThat(missing).isGreaterThan(Population.puri(number)).isLessThan(Population.puri(number + 1));
        }
    }
}
