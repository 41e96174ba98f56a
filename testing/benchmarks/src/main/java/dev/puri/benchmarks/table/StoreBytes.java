package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Measures the memory of the heap and of baselines. */
final class StoreBytes {
    private StoreBytes() {}

    /** Returns the used bytes of the heap after garbage collections. */
    static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** Returns the bytes per row of the in-memory store of Kafka Streams and of a map from handles to pURIs. */
    static double inMemory(FreshBroker broker, int rows) {
        long heapBefore = heap();
        Map<String, byte[]> handles = new HashMap<>();
        try (GlobalStore.Filled filled = GlobalStore.IN_MEMORY.fill(broker, broker.directory("in-memory"))) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        Population.handle(number).text(),
                        Population.puri(number).toBytes());
            }
            double bytesPerRow = (double) (heap() - heapBefore) / rows;
            // These uses keep the JVM from freeing the map or the store before the measurement.
            byte[] puri =
                    Objects.requireNonNull(handles.get(Population.handle(0).text()));
            Objects.requireNonNull(filled.store().get(puri));
            return bytesPerRow;
        }
    }

    /** Returns the bytes per row of the pages of LMDB, handles included. */
    static double lmdb(Path dir, int rows) throws IOException {
        try (LmdbStore store = new LmdbStore(dir, rows)) {
            return (double) store.bytes() / rows;
        }
    }
}
