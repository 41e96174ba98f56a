package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventSlotsTest {
    private static final int THREADS = 4;
    private static final int ELEMENTS = 50_000;

    private final EventSlots<Integer> slots = new EventSlots<>();

    private List<Integer> elements() {
        List<Integer> found = new ArrayList<>();
        slots.forEach(found::add);
        return found;
    }

    @Test
    void anElementIsThereUntilItsSlotIsFreed() {
        EventSlots.Slot first = slots.add(1);
        EventSlots.Slot second = slots.add(2);
        assertThat(elements()).containsExactly(1, 2);

        first.free();
        first.free();

        assertThat(elements()).containsExactly(2);
        assertThat(slots.isEmpty()).isFalse();
        second.free();
        assertThat(slots.isEmpty()).isTrue();
    }

    @Test
    void aFullChunkIsReleasedWithItsLastElement() {
        EventSlots.Slot stays = slots.add(-1);
        for (int i = 0; i < 10 * EventSlots.CHUNK_SIZE; i++) {
            slots.add(i).free();
        }
        assertThat(elements()).containsExactly(-1);
        assertThat(slots.chunkCount()).isEqualTo(2);

        stays.free();

        assertThat(slots.chunkCount()).isEqualTo(1);
    }

    /** Each thread frees its elements in another order than it adds them, and keeps every thousandth. */
    @Test
    void noElementIsLostOrLeftByThreadsThatAddAndFree() throws Exception {
        Set<Integer> kept = ConcurrentHashMap.newKeySet();
        CyclicBarrier start = new CyclicBarrier(THREADS);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<Boolean>> running = IntStream.range(0, THREADS)
                    .mapToObj(thread -> threads.submit(() -> {
                        start.await();
                        addAndFree(thread * ELEMENTS, kept);
                        return true;
                    }))
                    .toList();
            for (Future<Boolean> each : running) {
                assertThat(each.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(elements()).containsExactlyInAnyOrderElementsOf(kept);
    }

    private void addAndFree(int first, Set<Integer> kept) {
        List<EventSlots.Slot> added = new ArrayList<>();
        for (int i = first; i < first + ELEMENTS; i++) {
            EventSlots.Slot slot = slots.add(i);
            if (i % 1000 == 0) {
                kept.add(i);
            } else {
                added.add(slot);
            }
            if (added.size() == 100) {
                for (int j = added.size() - 1; j >= 0; j--) {
                    added.get(j).free();
                }
                added.clear();
            }
        }
        added.forEach(EventSlots.Slot::free);
    }
}
