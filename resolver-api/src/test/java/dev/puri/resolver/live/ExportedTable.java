package dev.puri.resolver.live;

import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.table.PackedTable;
import java.time.Instant;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Timeout;

/** Base of tests of exports: a table with the ring of its changes. */
@Timeout(120)
abstract class ExportedTable {
    static final String BEGIN = "{\"changesFrom\":\"";

    final long seed = new Random().nextLong();
    final Random random = new Random(seed);
    final PackedTable table = new PackedTable();
    final ChangeRing ring = new ChangeRing(
            Uuid.randomUuid(), new long[] {0}, Instant.ofEpochSecond(1_000), 1_000, LiveRows.VALUES, () -> {});

    Export export(ExportFormat format, String... collections) {
        return new Export(new LiveTable<>(table, ring), format, Set.of(collections), () -> true, ended -> {});
    }

    static String puri(String line) {
        int from = "{\"puri\":\"".length();
        return line.substring(from, line.indexOf('"', from));
    }
}
