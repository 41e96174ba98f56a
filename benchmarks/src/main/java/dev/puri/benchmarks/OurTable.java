package dev.puri.benchmarks;

import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;

/** The table as the resolver has it, fed by the broker's topic. */
final class OurTable {
    private OurTable() {}

    static TableClient client(FreshBroker broker, PackedTable table, String dir) {
        return new TableClient(
                table,
                Map.of(),
                broker.bootstrapServers(),
                broker.directory(dir).toString(),
                new Population.OneSchema(),
                new OutcomeCache(new SimpleMeterRegistry()),
                new Waiters(1),
                new SimpleMeterRegistry().counter("undecodable"));
    }

    static void requireRows(PackedTable table, long rows) {
        if (table.rows() != rows) {
            throw new IllegalStateException("the table has " + table.rows() + " rows instead of " + rows);
        }
    }
}
