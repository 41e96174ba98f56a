package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Bytes on the heap, and of baselines. */
final class StoreBytes {
    private StoreBytes() {}

    /** Returns the bytes that are left after garbage was collected. */
    static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** Returns a row's share of Kafka Streams' in-memory store and of a map from handles to names. */
    static double inMemory(FreshBroker broker, int rows) {
        long before = heap();
        Map<String, byte[]> handles = new HashMap<>();
        try (GlobalStores.Filled filled = GlobalStores.inMemory(broker, broker.directory("in-memory"))) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        Population.handle(number).text(),
                        Population.puri(number).toBytes());
            }
            double bytes = (double) (heap() - before) / rows;
            // The JVM keeps both until here.
            byte[] puri =
                    Objects.requireNonNull(handles.get(Population.handle(0).text()));
            Objects.requireNonNull(filled.store().get(puri));
            return bytes;
        }
    }

    /** Returns a row's share of the pages of LMDB, handles included. */
    static double lmdb(Path dir, int rows) throws IOException {
        try (LmdbStore store = new LmdbStore(dir, rows)) {
            return (double) store.bytes() / rows;
        }
    }
}
