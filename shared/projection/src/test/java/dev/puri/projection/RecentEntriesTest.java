package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RecentEntriesTest {
    private final List<Integer> evicted = new ArrayList<>();
    private final RecentEntries<String, Integer> entries = new RecentEntries<>(2, evicted::add);

    @Test
    void evictsTheEntryThatWasPutLongestAgo() {
        entries.put("a", 1);
        entries.put("b", 2);
        assertThat(evicted).isEmpty();

        entries.put("c", 3);

        assertThat(evicted).containsExactly(1);
        assertThat(entries.get("a")).isNull();
        assertThat(entries.get("b")).isEqualTo(2);
        assertThat(entries.get("c")).isEqualTo(3);
    }

    @Test
    void aKeyThatIsPutAgainIsTheMostRecent() {
        entries.put("a", 1);
        entries.put("b", 2);
        entries.put("a", 3);

        entries.put("c", 4);

        assertThat(evicted).containsExactly(2);
        assertThat(entries.get("a")).isEqualTo(3);
    }

    @Test
    void putIfAbsentKeepsAnExistingEntryAndItsPosition() {
        assertThat(entries.putIfAbsent("a", 1)).isTrue();
        assertThat(entries.putIfAbsent("b", 2)).isTrue();
        assertThat(entries.putIfAbsent("a", 3)).isFalse();

        assertThat(entries.putIfAbsent("c", 4)).isTrue();

        assertThat(evicted).containsExactly(1);
    }

    @Test
    void removesTheOldestUpToTheFirstThatDoesNotMatch() {
        RecentEntries<String, Integer> three = new RecentEntries<>(3);
        three.put("a", 1);
        three.put("b", 5);
        three.put("c", 1);

        three.removeOldestWhile(value -> value < 3);

        assertThat(three.get("a")).isNull();
        assertThat(three.get("b")).isEqualTo(5);
        assertThat(three.get("c")).isEqualTo(1);
    }

    @Test
    void doesNotReportRemovedEntriesAsEvicted() {
        entries.put("a", 1);
        entries.put("b", 2);

        entries.remove("a");
        entries.put("c", 3);
        entries.clear();

        assertThat(evicted).isEmpty();
        assertThat(entries.get("b")).isNull();
        assertThat(entries.get(null)).isNull();
    }
}
