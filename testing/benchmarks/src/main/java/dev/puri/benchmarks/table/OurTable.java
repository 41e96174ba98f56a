package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.projection.DigestCheck;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The identity table as a {@link RowStore}. {@link #close} does not close the table. */
record OurTable(PackedTable table) implements RowStore {
    /** Returns a feeder that restores a table from the broker's topic. */
    static StreamsTableFeeder feeder(FreshBroker broker, PackedTable table, String dir) {
        return new StreamsTableFeeder(
                table,
                new DigestCheck(Topics.IDENTITIES, "rebuild it", Map.of(), InstantSource.system()),
                FreshBroker.PARTITIONS,
                Map.of(),
                broker.bootstrapServers(),
                broker.newDirectory(dir).toString(),
                Population.schemaRegistry(),
                new OutcomeCache(new SimpleMeterRegistry()),
                new Waiters(1),
                new SimpleMeterRegistry().counter("undecodable"));
    }

    /** Checks that a table has this number of rows. */
    static void requireRows(PackedTable table, long rows) {
        if (table.rows() != rows) {
            throw new IllegalStateException("the table has " + table.rows() + " rows instead of " + rows);
        }
    }

    @Override
    public @Nullable Row byPuri(Puri puri) {
        var identity = table.byPuri(puri);
        return identity == null ? null : identity.row();
    }

    @Override
    public @Nullable Row byHandle(Handle handle) {
        var identity = table.byHandle(handle);
        return identity == null ? null : identity.row();
    }

    /** Reads all rows. */
    @Override
    public long scan(long minRows) {
        long[] rowCount = {0};
        table.scan(identity -> rowCount[0] += identity.row().epoch() > 0 ? 1 : 0);
        return rowCount[0];
    }

    @Override
    public void close() {}
}
