package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Exports of a large table that changes meanwhile. */
final class ExportIT extends ExportedTable {
    /**
     * Rows are created, changed and deleted while exports are read, so many that each of the index's segments grows
     * meanwhile (the first time beyond 192 of its rows). A row is known by its number, and kept as the hash of its
     * line.
     */
    @Test
    void rowsAndTheChangesFromTheCursorAreTheTable() throws Exception {
        Log log = new Log();
        while (log.names < 190_000) {
            log.put(log.names);
        }
        log.allowed = log.next;
        List<Copied> copies = new ArrayList<>();
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> writing = threads.submit(log::write);
            for (int i = 0; i < 3; i++) {
                copies.add(copy(log));
            }
            log.isOver = true;
            writing.get(60, TimeUnit.SECONDS);
        }
        int[] expected = new int[Log.MOST];
        table.scan(identity -> expected[number(identity.puri())] =
                ChangeJson.changed(identity.puri(), identity.row()).hashCode());

        assertThat(log.most).as("rows at the most").isGreaterThan(205_000);
        for (Copied copied : copies) {
            assertThat(copied.before).as("changes while rows were read").isGreaterThan(copied.from);
            // Only the last change of each name: it overwrites the earlier ones.
            for (long offset = copied.from; offset < log.next; offset++) {
                int number = log.numbers[(int) offset];
                copied.hashes[number] = expected[number];
            }
            for (int number = 0; number < expected.length; number++) {
                if (copied.hashes[number] != expected[number]) {
                    throw new AssertionError("seed " + seed + ": row " + number + " of the copy from " + copied.from
                            + " is not the table's");
                }
            }
        }
    }

    /**
     * @param before changes that there were when its last row was read
     */
    private record Copied(long from, long before, int[] hashes) {}

    private Copied copy(Log log) {
        Export export = export(ExportFormat.NDJSON);
        int[] hashes = new int[Log.MOST];
        StringBuilder rest = new StringBuilder();
        long rows = 0;
        for (byte[] piece = export.next(); piece != null; piece = export.next()) {
            log.allowed += random.nextInt(600);
            rest.append(new String(piece, StandardCharsets.UTF_8));
            int end = rest.lastIndexOf("\n") + 1;
            for (String line : rest.substring(0, end).split("\n")) {
                if (line.startsWith("{\"puri\":")) {
                    hashes[number(Puri.parse(puri(line)))] = line.hashCode();
                    rows++;
                } else if (!line.startsWith(BEGIN)) {
                    assertThat(line).startsWith("{\"rows\":" + rows + ",");
                }
            }
            rest.delete(0, end);
            // A reader that pauses now and then.
            boolean waits = random.nextInt(4) == 0;
            while (waits && log.next < log.allowed && !log.hasFailed) {
                Thread.onSpinWait();
            }
        }
        assertThat(rest).isEmpty();
        return new Copied(export.cursor().nextOffsets()[0], log.next, hashes);
    }

    private static int number(Puri puri) {
        return Integer.parseInt(puri.identifier());
    }

    /** Changes the table and then reports to the ring, as the table's writer does. */
    private final class Log {
        static final int MOST = 400_000;

        private final Random random = new Random(seed + 1);
        private final int[] numbers = new int[2_000_000];
        private volatile long next;

        /** The number of changes allowed so far: a fixed number for each piece of an export, at any speed. */
        private volatile long allowed;

        private volatile boolean isOver;
        private volatile boolean hasFailed;
        private volatile long most;
        private int names;

        void write() {
            try {
                while (!isOver) {
                    if (next >= allowed) {
                        Thread.onSpinWait();
                        continue;
                    }
                    int any = random.nextInt(names);
                    switch (random.nextInt(4)) {
                        case 0 -> put(any);
                        case 1 -> remove(any);
                        default -> put(names < MOST - 1 ? names : any);
                    }
                }
            } catch (RuntimeException | Error e) {
                hasFailed = true;
                throw e;
            }
        }

        void put(int number) {
            table.put(name(number), LiveRows.row("br-" + next % 3, next));
            most = Math.max(most, table.rows());
            tell(number, LiveRows.row("br-" + next % 3, next));
            names = Math.max(names, number + 1);
        }

        private void remove(int number) {
            table.remove(name(number));
            tell(number, null);
        }

        private void tell(int number, @Nullable Row row) {
            numbers[(int) next] = number;
            ring.changed(0, next, name(number), row);
            next = next + 1;
        }

        private Puri name(int number) {
            return Puri.of("n", "c", Integer.toString(number));
        }
    }
}
