package dev.puri.benchmarks;

import dev.puri.resolver.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotTerms;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.HdrHistogram.Histogram;
import org.apache.avro.Schema;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteOptions;

/**
 * The identity table beside Kafka Streams' stores: both hold the same topic of one broker, both give a
 * decoded {@link Row}, and their rounds take turns.
 */
final class TableBench {
    private static final String ROCKS_DB = "GlobalKTable RocksDB";
    /** Decoded rows in a map take more than half a kilobyte each. */
    private static final int MOST_ON_HEAP = 5_000_000;

    private static final int PUTS_PER_SECOND = 50_000;
    private static final Uuid TOPIC = new Uuid(1, 2);

    private final Plan plan;
    private final Consumer<String> progress;
    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
    private final Schema schema = new Population.OneSchema().byId(Population.SCHEMA_ID);
    private final List<Figure> figures = new ArrayList<>();

    /** How much is measured. */
    record Plan(int rows, int gets, int rounds, int fills) {}

    TableBench(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    Report run() throws Exception {
        String machine = Machine.describe();
        try (FreshBroker broker = FreshBroker.start()) {
            progress.accept("publishing " + plan.rows + " rows");
            Population.publish(broker.bootstrapServers(), plan.rows);
            fills(broker);
            try (TableClient ours = ours(broker, "ours");
                    GlobalStores.Filled rocksDb =
                            GlobalStores.rocksDb(broker.bootstrapServers(), broker.directory("rocksdb"))) {
                ours.start();
                requireAll(ours.table());
                gets(ours.table(), rocksDb.store(), broker.directory("handles"));
                getsBesidePuts(ours.table());
                reopen(ours.table(), broker.directory("snapshot"));
            }
            bytes(broker);
        }
        return new Report("table", machine, figures);
    }

    private TableClient ours(FreshBroker broker, String dir) {
        return new TableClient(
                new PackedTable(),
                Map.of(),
                broker.bootstrapServers(),
                broker.directory(dir).toString(),
                new Population.OneSchema(),
                new SimpleMeterRegistry().counter("undecodable"));
    }

    private void requireAll(PackedTable table) {
        if (table.rows() != plan.rows) {
            throw new IllegalStateException("the table has " + table.rows() + " rows instead of " + plan.rows);
        }
    }

    private void fills(FreshBroker broker) throws Exception {
        List<Double> ours = new ArrayList<>();
        List<Double> rocksDb = new ArrayList<>();
        List<Double> noOp = new ArrayList<>();
        for (int fill = 0; fill <= plan.fills; fill++) {
            double our;
            try (TableClient client = ours(broker, "ours" + fill)) {
                long begun = System.nanoTime();
                client.start();
                our = plan.rows / ((System.nanoTime() - begun) / 1e9);
                requireAll(client.table());
            }
            System.gc();
            double rocks;
            try (GlobalStores.Filled filled =
                    GlobalStores.rocksDb(broker.bootstrapServers(), broker.directory("rocksdb" + fill))) {
                rocks = plan.rows / filled.seconds();
            }
            FreshBroker.delete(broker.directory("rocksdb" + fill));
            double none;
            try (GlobalStores.Filled filled =
                    GlobalStores.noOp(broker.bootstrapServers(), broker.directory("noop" + fill))) {
                none = plan.rows / filled.seconds();
            }
            progress.accept("filled at %,.0f/s; RocksDB %,.0f/s; no-op %,.0f/s; load average %s"
                    .formatted(our, rocks, none, Machine.load()));
            if (fill > 0) {
                ours.add(our);
                rocksDb.add(rocks);
                noOp.add(none);
            }
        }
        double our = Throughput.median(ours);
        figures.add(new Figure("restore from topic", "rows/s", our, ROCKS_DB + ", tuned", Throughput.median(rocksDb)));
        figures.add(new Figure("restore from topic", "rows/s", our, "no-op global store", Throughput.median(noOp)));
    }

    /** What is looked up in one round. */
    private record Wanted(Puri[] puris, Handle[] handles, int[] numbers) {}

    private Wanted wanted(Random random) {
        Puri[] puris = new Puri[plan.gets];
        Handle[] handles = new Handle[plan.gets];
        int[] numbers = new int[plan.gets];
        for (int i = 0; i < plan.gets; i++) {
            numbers[i] = random.nextInt(plan.rows);
            puris[i] = Population.puri(numbers[i]);
            handles[i] = Population.handle(numbers[i]);
        }
        return new Wanted(puris, handles, numbers);
    }

    private void gets(PackedTable table, ReadOnlyKeyValueStore<byte[], byte[]> rows, Path dir) throws Exception {
        Map<Puri, Row> map = new HashMap<>();
        progress.accept("filling the baselines");
        if (plan.rows <= MOST_ON_HEAP) {
            table.scan(identity -> map.put(identity.puri(), identity.row()));
        }
        RocksDB.loadLibrary();
        Files.createDirectories(dir);
        try (Options options = new Options().setCreateIfMissing(true)) {
            new GlobalStores.Tuned()
                    .setConfig(
                            "handles", options.setTableFormatConfig(new org.rocksdb.BlockBasedTableConfig()), Map.of());
            try (RocksDB handles = RocksDB.open(options, dir.toString());
                    WriteOptions unlogged = new WriteOptions().setDisableWAL(true)) {
                for (int number = 0; number < plan.rows; number++) {
                    handles.put(
                            unlogged,
                            bytes(Population.handle(number)),
                            Population.puri(number).toBytes());
                }
                measureGets(table, rows, handles, map);
            }
        }
    }

    private void measureGets(
            PackedTable table, ReadOnlyKeyValueStore<byte[], byte[]> rows, RocksDB handles, Map<Puri, Row> map) {
        Random random = new Random(plan.rows);
        String[] names = {"by pURI", "by pURI RocksDB", "by pURI HashMap", "by handle", "by handle RocksDB", "misses"};
        List<List<Double>> paces = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            paces.add(new ArrayList<>());
        }
        for (int round = 0; round <= plan.rounds; round++) {
            Wanted wanted = wanted(random);
            double[] pace = {
                pace(i -> found(table.byPuri(wanted.puris[i]))),
                pace(i -> found(decoded(rows.get(wanted.puris[i].toBytes())))),
                map.isEmpty() ? Double.NaN : pace(i -> found(map.get(wanted.puris[i]))),
                pace(i -> found(table.byHandle(wanted.handles[i]))),
                pace(i -> found(byHandle(rows, handles, wanted.handles[i]))),
                pace(i -> 1 - found(table.byPuri(missing(wanted.numbers[i])))),
            };
            StringBuilder line = new StringBuilder("gets:");
            for (int i = 0; i < pace.length; i++) {
                line.append(" %s %,.0f/s".formatted(names[i], pace[i]));
                if (round > 0) {
                    paces.get(i).add(pace[i]);
                }
            }
            progress.accept(line + "; load average " + Machine.load());
        }
        double[] medians = paces.stream().mapToDouble(Throughput::median).toArray();
        figures.add(new Figure("get by pURI", "1/s", medians[0], ROCKS_DB, medians[1]));
        figures.add(new Figure(
                "get by pURI",
                "1/s",
                medians[0],
                map.isEmpty()
                        ? "java.util.HashMap: left out, too large for the heap"
                        : "java.util.HashMap of decoded rows",
                map.isEmpty() ? null : medians[2]));
        figures.add(new Figure("get by handle", "1/s", medians[3], ROCKS_DB + ", handle map then row", medians[4]));
        figures.add(Figure.alone("get by pURI, not there", "1/s", medians[5]));
    }

    /** Parsing included, which nobody else's side has to bear. */
    private Puri missing(int number) {
        return Population.puri((long) plan.rows + number);
    }

    private @Nullable Row byHandle(ReadOnlyKeyValueStore<byte[], byte[]> rows, RocksDB handles, Handle handle) {
        try {
            byte[] key = handles.get(bytes(handle));
            return key == null ? null : decoded(rows.get(key));
        } catch (org.rocksdb.RocksDBException e) {
            throw new IllegalStateException(e);
        }
    }

    private @Nullable Row decoded(byte @Nullable [] value) {
        return value == null ? null : RowAvro.fromAvro(reader.decode(value, schema));
    }

    private static int found(@Nullable Object row) {
        return row == null ? 0 : 1;
    }

    private static byte[] bytes(Handle handle) {
        return handle.text().getBytes(StandardCharsets.US_ASCII);
    }

    private double pace(IntUnaryOperator get) {
        return pace(plan.gets, get);
    }

    private static double pace(int gets, IntUnaryOperator get) {
        long begun = System.nanoTime();
        int found = 0;
        for (int i = 0; i < gets; i++) {
            found += get.applyAsInt(i);
        }
        double pace = gets / ((System.nanoTime() - begun) / 1e9);
        if (found != gets) {
            throw new IllegalStateException(found + " of " + gets + " look-ups were right");
        }
        return pace;
    }

    private void getsBesidePuts(PackedTable table) throws InterruptedException {
        Random random = new Random(plan.rows + 1L);
        List<Double> idle = new ArrayList<>();
        List<Double> beside = new ArrayList<>();
        Histogram nanos = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);
        for (int round = 0; round <= plan.rounds; round++) {
            Wanted wanted = wanted(random);
            double alone = pace(i -> found(table.byPuri(wanted.puris[i])));
            AtomicBoolean over = new AtomicBoolean();
            Thread writer = Thread.ofPlatform().start(() -> put(table, over));
            double busy;
            try {
                busy = pace(i -> found(table.byPuri(wanted.puris[i])));
                if (round > 0) {
                    for (Puri puri : wanted.puris) {
                        long begun = System.nanoTime();
                        found(table.byPuri(puri));
                        nanos.recordValue(Math.min(System.nanoTime() - begun, nanos.getHighestTrackableValue()));
                    }
                }
            } finally {
                over.set(true);
                writer.join();
            }
            if (round > 0) {
                idle.add(alone);
                beside.add(busy);
            }
        }
        figures.add(new Figure(
                "get by pURI beside 50 k puts/s",
                "1/s",
                Throughput.median(beside),
                "the same get, idle",
                Throughput.median(idle)));
        figures.add(Figure.alone("get by pURI beside 50 k puts/s p99.9", "µs", nanos.getValueAtPercentile(99.9) / 1e3));
    }

    /** Changes rows at an even pace, a millisecond's worth at a time. */
    private void put(PackedTable table, AtomicBoolean over) {
        Random random = new Random(1);
        long begun = System.nanoTime();
        for (long put = 0; !over.get(); put++) {
            int number = random.nextInt(plan.rows);
            table.put(Population.puri(number), Population.row(number, put));
            long due = begun + put * TimeUnit.SECONDS.toNanos(1) / PUTS_PER_SECOND;
            if (put % (PUTS_PER_SECOND / 1000) == 0 && due > System.nanoTime()) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
        }
    }

    private void reopen(PackedTable table, Path dir) throws Exception {
        Files.createDirectories(dir);
        Path file = dir.resolve("identities.snapshot");
        Instant now = Instant.now();
        long begun = System.nanoTime();
        Map<Integer, Long> offsets =
                table.writeSnapshot(file, new SnapshotOrigin(TOPIC, FreshBroker.PARTITIONS, now), now);
        figures.add(Figure.alone("write a snapshot", "s", (System.nanoTime() - begun) / 1e9));
        Map<Integer, Long> begins = new TreeMap<>();
        offsets.keySet().forEach(partition -> begins.put(partition, 0L));
        List<Double> seconds = new ArrayList<>();
        for (int fill = 0; fill <= plan.fills; fill++) {
            begun = System.nanoTime();
            PackedTable opened =
                    PackedTable.open(file, new SnapshotTerms(TOPIC, begins, offsets, Duration.ofDays(7), now));
            double took = (System.nanoTime() - begun) / 1e9;
            requireAll(opened);
            progress.accept("opened in %.2f s; load average %s".formatted(took, Machine.load()));
            if (fill > 0) {
                seconds.add(took);
            }
        }
        figures.add(Figure.alone("open a snapshot", "s", Throughput.median(seconds)));
    }

    /** All of it: what is outside the heap and what is on it, of the stores and their handle maps. */
    private void bytes(FreshBroker broker) throws Exception {
        long before = heap();
        double ours;
        try (TableClient client = ours(broker, "ours-bytes")) {
            client.start();
            TableStats stats = client.table().stats();
            ours = (double) (stats.bytes() + Math.max(0, heap() - before)) / plan.rows;
        }
        before = heap();
        Map<String, byte[]> handles = new HashMap<>();
        double theirs;
        try (GlobalStores.Filled filled =
                GlobalStores.inMemory(broker.bootstrapServers(), broker.directory("in-memory"))) {
            for (int number = 0; number < plan.rows; number++) {
                handles.put(
                        Population.handle(number).text(),
                        Population.puri(number).toBytes());
            }
            theirs = (double) (heap() - before) / plan.rows;
            Objects.requireNonNull(filled.get(
                    Objects.requireNonNull(handles.get(Population.handle(0).text()))));
        }
        figures.add(new Figure(
                "bytes per identity, all in, both doors", "B", ours, "in-memory store with a handle map", theirs));
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
