package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A log of one partition that its seed determines, so that another process can compute its contents:
 * names are created, change, get other handles, are deleted and created again.
 */
final class History {
    private static final int NAMES = 5_000;

    private final long seed;

    History(long seed) {
        this.seed = seed;
    }

    /**
     * @param row null for a tombstone
     */
    record Entry(Puri puri, @Nullable Row row) {
        void applyTo(PackedTable table) {
            if (row == null) {
                table.remove(puri);
            } else {
                table.put(puri, row);
            }
        }
    }

    Entry at(long offset) {
        Random random = new Random(seed + offset * 0x9E3779B97F4A7C15L);
        Puri puri = Puri.of("n", "c", "name" + random.nextInt(NAMES));
        if (random.nextInt(4) == 0) {
            return new Entry(puri, null);
        }
        return new Entry(
                puri,
                new Row(
                        new UUID(random.nextLong(), offset),
                        new Owner("o" + random.nextInt(5)),
                        new Shard("s" + random.nextInt(3)),
                        random.nextInt(3) == 0 ? null : handle(offset),
                        Row.Status.ACTIVE,
                        1 + offset,
                        Instant.ofEpochMilli(random.nextLong() >>> 24),
                        Instant.ofEpochMilli(offset),
                        null,
                        new Position("puri.events.v1", 0, offset)));
    }

    /** Like the clerk, never grants a handle to two names. */
    private static Handle handle(long offset) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt((int) (offset >>> Math.min(63, 5 * i) & 31)));
        }
        return Handle.of(new Prefix("trk"), text.toString());
    }
}
