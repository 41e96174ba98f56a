package dev.puri.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** What the heap holds, and what the baseline on it takes. */
final class Bytes {
    private Bytes() {}

    /** All that is left after collecting. */
    static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** A row's share of Kafka Streams' in-memory store and of a map from handles to names. */
    static double inMemory(FreshBroker broker, int rows) {
        long before = heap();
        Map<String, byte[]> handles = new HashMap<>();
        try (GlobalStores.Filled filled =
                GlobalStores.inMemory(broker.bootstrapServers(), broker.directory("in-memory"))) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        Population.handle(number).text(),
                        Population.puri(number).toBytes());
            }
            double bytes = (double) (heap() - before) / rows;
            Objects.requireNonNull(filled.get(
                    Objects.requireNonNull(handles.get(Population.handle(0).text()))));
            return bytes;
        }
    }

    /** A row's share of the pages of LMDB, handles included. */
    static double lmdb(Path dir, int rows) throws IOException {
        try (LmdbDoors doors = new LmdbDoors(dir, rows)) {
            return (double) doors.bytes() / rows;
        }
    }
}
