package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.SchemaRegistryWait;
import dev.puri.projection.Stop;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.Rows;
import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.serde.RecordWriter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class RowFeedTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final Puri FIRST = Puri.parse("soundcloud:tracks:first");
    private static final Puri SECOND = Puri.parse("soundcloud:tracks:second");
    private static final int KNOWN = 7;
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");

    private final PackedTable table = new PackedTable();
    private final OneSchema registry = new OneSchema(KNOWN, WRITER.schema());
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Counter undecodable = meters.counter("undecodable");
    private final List<Puri> erased = new ArrayList<>();
    private final OutcomeCache outcomes = new OutcomeCache(meters, (puri, at) -> erased.add(puri));
    private final Waiters waiters = new Waiters(10);
    private final DigestCheck digests = new DigestCheck("topic", "rebuild it", Map.of(), InstantSource.fixed(NOW));
    private final RowWriter writer = new RowWriter(table, digests, outcomes, waiters);
    private final Stop stop = new Stop();
    private final SchemaRegistryWait schemaRegistryWait =
            new SchemaRegistryWait(RetryPolicy.fixed(Duration.ofMillis(10)), stop);
    private RowFeed feed = feed(1);

    private RowFeed feed(int partitions) {
        return new RowFeed(writer, digests, registry, outcomes, schemaRegistryWait, undecodable, partitions);
    }

    @BeforeEach
    void start() {
        writer.start();
    }

    @AfterEach
    void close() {
        writer.close();
    }

    @Test
    void rowsAndTombstonesReachTheTable() {
        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        add(bytes("soundcloud:tracks:2"), avro(KNOWN, Rows.active("br-2")));
        write();
        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-1")));
        assertThat(table.byPuri(Puri.parse("soundcloud:tracks:2"))).isNotNull();

        add(TRACK.toBytes(), null);
        write();
        assertThat(table.byPuri(TRACK)).isNull();
        assertThat(table.rows()).isEqualTo(1);
        assertThat(undecodable.count()).isZero();
    }

    /** Kafka's global thread does not report an error. */
    @Test
    void throwsAnErrorAsAnExceptionThatNamesTheError() {
        registry.error = new OutOfMemoryError("a test's");

        assertThatThrownBy(() -> add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("OutOfMemoryError: a test's")
                .hasCause(registry.error);
    }

    @Test
    void lastRecordOfANameCounts() {
        for (int i = 0; i < 5_000; i++) {
            add(bytes("soundcloud:tracks:" + i % 7), i % 5 == 4 ? null : avro(KNOWN, Rows.active("br-" + i)));
        }
        write();

        for (int name = 0; name < 7; name++) {
            int last = 4_999 - (4_999 - name) % 7;
            Identity found = table.byPuri(Puri.parse("soundcloud:tracks:" + name));
            if (last % 5 == 4) {
                assertThat(found).isNull();
            } else {
                assertThat(found).isNotNull();
                assertThat(found.row()).isEqualTo(Rows.active("br-" + last));
            }
        }
    }

    @Test
    void reportsOffsetsAfterTheRowsAreVisible() {
        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        assertThat(table.nextOffset(3)).isZero();

        writer.handOverUpTo(3, 43);

        await().untilAsserted(() -> assertThat(table.nextOffset(3)).isEqualTo(43));
        assertThat(table.byPuri(TRACK)).isNotNull();
    }

    @Test
    void remembersEventsOfANamespacesTopicAfterTheirRowsAreWritten() {
        writer.reportChanges(1, begins -> RowChanges.NONE);
        for (String token : List.of("own-4-1", "own-5-2", "3-7")) {
            add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), headers(token, "applied"));
        }
        assertThat(outcomes.isDecided(TRACK, Position.parse("own-4-1")))
                .as("before it is written")
                .isFalse();

        write();

        assertThat(List.of("own-4-1", "own-5-2", "own-4-0", "3-7"))
                .filteredOn(token -> outcomes.isDecided(TRACK, Position.parse(token)))
                .containsExactly("own-4-1", "own-5-2");
        assertThat(outcomes.isDecided(Puri.parse("soundcloud:tracks:2"), Position.parse("own-4-1")))
                .isFalse();
    }

    @Test
    void emitsOnlyChangesThatAreWrittenLater() {
        writer.handOverUpTo(0, 7);
        // The row is in the table, and the offset that it reaches is not yet reported.
        RowWriter.Batch batch = writer.batch();
        batch.rows.put(TRACK, Rows.active("br-1"));
        batch.addRecord(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), null, new Place(2, 41), true);
        writer.handOver();
        CompletableFuture<long[]> offsets = new CompletableFuture<>();

        writer.reportChanges(3, begins -> {
            offsets.complete(begins);
            return RowChanges.NONE;
        });

        assertThat(offsets.join()).containsExactly(7, 0, 42);
    }

    @Test
    void emitsChangesBufferedBeforeSubscribersAttach() {
        String row = addChanges(FIRST);
        NotedChanges received = new NotedChanges();
        writer.reportChanges(1, begins -> received);
        // Changes after the start of the subscription have the same form as buffered ones.
        assertThat(addChanges(SECOND)).isEqualTo(row);

        writer.handOverUpTo(0, 4);

        await().untilAsserted(() -> assertThat(received.changes)
                .containsExactly(TRACK + " " + row, FIRST + " null", TRACK + " " + row, SECOND + " null"));
    }

    /** Adds a row and erases another: erasing the row itself would leave no change of it. */
    private String addChanges(Puri erased) {
        RowWriter.Batch batch = writer.batch();
        int at = batch.rows.count();
        batch.rows.put(TRACK, Rows.active("br-1"));
        batch.addRecord(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), null, new Place(0, at), true);
        batch.rows.remove(erased);
        batch.addRecord(erased.toBytes(), null, null, new Place(0, at + 1), true);
        return String.valueOf(batch.rows.row(at));
    }

    private record Place(int partition, long offset) implements RecordMetadata {
        @Override
        public String topic() {
            return "puri.identities.v1";
        }
    }

    @Test
    void failureOfTheWriterFailsTheFeed() {
        table.onChange((puri, row) -> {
            throw new IllegalStateException("broken");
        });
        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        writer.handOverUpTo(0, 1);

        assertThatThrownBy(writer::await).hasMessageContaining("broken");
        assertThat(table.nextOffset(0)).isZero();
    }

    @Test
    void countsUndecodableRecordsAndKeepsTheRow() {
        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        byte[] whole = avro(KNOWN, Rows.active("br-2"));
        byte[] cut = java.util.Arrays.copyOf(whole, whole.length - 1);
        IdentityRow noRow = RowAvro.toAvro(Rows.active("br-2"));
        noRow.setEpoch(0);

        add(TRACK.toBytes(), new byte[0]);
        add(TRACK.toBytes(), cut);
        add(TRACK.toBytes(), avro(KNOWN + 1, Rows.active("br-2")));
        add(TRACK.toBytes(), WRITER.encode(KNOWN, noRow));
        add(null, whole);
        add(bytes("soundcloud:tracks"), whole);
        add(bytes("SOUNDCLOUD:tracks:1"), whole);
        write();

        assertThat(undecodable.count()).isEqualTo(7);
        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-1")));
        assertThat(table.rows()).isEqualTo(1);
    }

    @Test
    void waitsForAnUnreachableSchemaRegistryAndSkipsNothing() throws Exception {
        registry.away = true;
        CompletableFuture<Void> adding = CompletableFuture.runAsync(() -> {
            add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
            add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-2")));
            writer.handOverUpTo(0, 2);
        });
        await().untilAsserted(() -> assertThat(schemaRegistryWait.lastError()).isEqualTo("away"));
        assertThat(adding).isNotDone();
        assertThat(table.nextOffset(0)).isZero();

        registry.away = false;
        adding.get(10, TimeUnit.SECONDS);
        writer.await();

        assertThat(schemaRegistryWait.lastError()).isNull();
        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-2")));
        assertThat(undecodable.count()).isZero();
    }

    @Test
    void doesNotWaitForASchemaThatTheRegistryDoesNotKnow() throws Exception {
        registry.away = true;
        CompletableFuture<Void> adding =
                CompletableFuture.runAsync(() -> add(TRACK.toBytes(), avro(8, Rows.active("br-1"))));
        await().untilAsserted(() -> assertThat(schemaRegistryWait.lastError()).isNotNull());

        registry.away = false;

        adding.get(10, TimeUnit.SECONDS);
        assertThat(schemaRegistryWait.lastError()).isNull();
        assertThat(undecodable.count()).isEqualTo(1);
    }

    @Test
    void packerWaitsForTheWriter() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        table.onChange((puri, row) -> {
            try {
                held.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        // One batch is being written, and all others are full.
        int most = RowWriter.BATCHES * RowBatch.MAX_ROWS;
        int all = 2 * most;
        AtomicInteger added = new AtomicInteger();
        CompletableFuture<Void> adding = CompletableFuture.runAsync(() -> {
            byte[] value = avro(KNOWN, Rows.active("br-1"));
            for (int i = 0; i < all; i++) {
                add(TRACK.toBytes(), value);
                added.incrementAndGet();
            }
            writer.handOverUpTo(0, all);
        });
        await().during(Duration.ofMillis(300))
                .untilAsserted(() -> assertThat(added.get()).isEqualTo(most));
        assertThat(adding).isNotDone();

        held.countDown();

        adding.get(20, TimeUnit.SECONDS);
        writer.await();
        assertThat(table.nextOffset(0)).isEqualTo(all);
    }

    @Test
    void waitEndsOnStop() {
        registry.away = true;
        CompletableFuture<Void> adding =
                CompletableFuture.runAsync(() -> add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1"))));
        await().untilAsserted(() -> assertThat(schemaRegistryWait.lastError()).isNotNull());

        stop.request();

        assertThatThrownBy(() -> adding.get(10, TimeUnit.SECONDS)).hasMessageContaining("stopped while");
    }

    @Test
    void rowHasThePositionOfTheLastAnsweredEvent() {
        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), headers("3-1042", "applied"));
        write();
        assertThat(positionOf(TRACK)).isEqualTo("3-1042");

        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), headers("3-1050", "unchanged"));
        write();
        assertThat(positionOf(TRACK)).isEqualTo("3-1050");

        add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), headers("3-1060", "refused:PURI_TAKEN"));
        write();
        assertThat(positionOf(TRACK)).isEqualTo("3-1060");
        assertThat(outcomes.refusalAt(Position.parse("3-1060")))
                .isEqualTo(new OutcomeCache.CachedRefusal(TRACK, Reason.PURI_TAKEN));
        assertThat(outcomes.refusalAt(Position.parse("3-1050"))).isNull();
    }

    @Test
    void remembersTheLastEventOfANameWithoutARow() {
        add(TRACK.toBytes(), null, headers("3-7", "refused:HANDLE_TAKEN"));
        write();

        assertThat(outcomes.lastEventWithoutRow(TRACK)).isEqualTo(Position.parse("3-7"));
        assertThat(outcomes.refusalAt(Position.parse("3-7"))).isNotNull();
        assertThat(undecodable.count()).isZero();
    }

    @Test
    void keepsPositionOfADescriptionWhoseRowHasAnOlderPosition() {
        // The first record of a schema is decoded, the others are parsed.
        add(bytes("soundcloud:tracks:2"), avro(KNOWN, Rows.active("br-1")), headers("3-1042", "applied"));
        for (String token : List.of("3-1050", "music-1-7")) {
            add(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")), headers(token, "applied"));
            write();

            assertThat(positionOf(TRACK)).isEqualTo(token);
        }
        assertThat(withoutPosition()).isZero();
    }

    @Test
    void reportsErasuresButNotRefusalsOfMissingNames() {
        add(TRACK.toBytes(), null, headers("3-7", "refused:UNKNOWN_PURI"));
        write();
        assertThat(erased).isEmpty();

        add(TRACK.toBytes(), null, headers("3-8", "applied"));
        write();

        assertThat(erased).containsExactly(TRACK);
        assertThat(outcomes.lastEventWithoutRow(TRACK)).isEqualTo(Position.parse("3-8"));
    }

    @Test
    void recordWithoutAnEventPositionIsCountedAndKeepsTheRowsPosition() {
        Row row = Rows.active("br-1");
        for (Headers headers : List.of(
                headers("nowhere", "applied"),
                headers("3-1042", "perhaps"),
                new RecordHeaders().add(Outcome.HEADER, bytes("applied")),
                new RecordHeaders())) {
            add(TRACK.toBytes(), null, headers("3-1042", "applied"));
            add(TRACK.toBytes(), avro(KNOWN, row), headers);
        }
        write();

        assertThat(withoutPosition()).isEqualTo(4);
        assertThat(positionOf(TRACK)).isEqualTo(row.position().toString());
        assertThat(undecodable.count()).isZero();
    }

    @Test
    void refusedEventOfAnotherTopicDoesNotHideTheTokensOfRows() {
        Row row = Rows.active("br-1");
        add(TRACK.toBytes(), avro(KNOWN, row), headers(row.position().toString(), "applied"));
        add(TRACK.toBytes(), avro(KNOWN, row), headers("soundcloud-0-7", "refused:MALFORMED"));
        write();

        assertThat(positionOf(TRACK)).isEqualTo(row.position().toString());
        assertThat(outcomes.refusalAt(Position.parse("soundcloud-0-7")))
                .isEqualTo(new OutcomeCache.CachedRefusal(TRACK, Reason.MALFORMED));
    }

    @Test
    void comparesAPublishedDigestAtExactlyItsOffset() {
        feed = feed(4);
        Row row = Rows.active("br-1");
        PartitionDigest withTrack = PartitionDigest.EMPTY.plus(RowHash.of(TRACK, row));
        addAt(1, 10, TRACK.toBytes(), avro(KNOWN, row));
        addAt(3, 7, FIRST.toBytes(), avro(KNOWN, row));
        addDigest(1, 11, NOW, withTrack.toString());
        addAt(1, 12, SECOND.toBytes(), avro(KNOWN, row));
        writer.handOverUpTo(1, 13);
        writer.await();
        assertThat(digests.state(1)).isEqualTo(DigestCheck.State.EQUAL);
        assertThat(digests.toJson(1, 13, table.digest(1))).containsEntry("comparedOffset", 11L);

        addDigest(1, 13, NOW, withTrack.toString());
        writer.await();

        assertThat(digests.reason())
                .startsWith(
                        "partition 1 of topic differs from the registrar at offset 13: 2 rows, the registrar has 1");
        assertThat(digests.state(3)).isEqualTo(DigestCheck.State.UNCHECKED);
        assertThat(table.rows()).isEqualTo(3);
    }

    @Test
    void skipsRecordsOfAnotherProducerInAnotherPartitionThanThatOfTheirKey() {
        feed = feed(4);
        addAt(1, 10, TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        addForeign(3, TRACK.toBytes(), avro(KNOWN, Rows.active("br-2")));
        addForeign(3, TRACK.toBytes(), null);
        write();
        assertThat(undecodable.count()).isEqualTo(2);
        assertThat(table.byPuri(TRACK))
                .extracting(identity -> identity.row().shard())
                .hasToString("br-1");
        assertThat(table.digest(3)).isEqualTo(PartitionDigest.EMPTY);

        addForeign(1, TRACK.toBytes(), null);
        write();
        assertThat(table.byPuri(TRACK)).isNull();
    }

    /** If an operator adds partitions, the rows that are in the log belong to other partitions. */
    @Test
    void keepsTheRegistrarsRecordsInWhateverPartition() {
        feed = feed(4);
        addAt(3, 7, TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        addAt(2, 7, FIRST.toBytes(), avro(KNOWN, Rows.active("br-2")));
        write();

        assertThat(table.rows()).isEqualTo(2);
        assertThat(undecodable.count()).isZero();
    }

    private void addForeign(int partition, byte[] key, byte @Nullable [] value) {
        feed.init(context(new Place(partition, 20)));
        add(key, value);
    }

    @Test
    void ignoresAnOldDigest() {
        feed = feed(4);
        addAt(1, 10, TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));

        addDigest(1, 11, NOW.minusSeconds(61), "9:0000000000000000");
        writer.handOverUpTo(1, 12);
        writer.await();

        assertThat(digests.state(1)).isEqualTo(DigestCheck.State.UNCHECKED);
    }

    @Test
    void countsAMalformedDigest() {
        addDigest(3, 11, NOW, "nine");

        assertThat(undecodable.count()).isEqualTo(1);
        assertThat(digests.state(3)).isEqualTo(DigestCheck.State.UNCHECKED);
    }

    private void addDigest(int partition, long offset, Instant at, String digest) {
        feed.init(context(new Place(partition, offset)));
        feed.process(new Record<>(
                bytes("puri:marker:" + partition),
                null,
                at.toEpochMilli(),
                new RecordHeaders().add(PartitionDigest.HEADER, bytes(digest))));
    }

    private void addAt(int partition, long offset, byte[] key, byte[] value) {
        feed.init(context(new Place(partition, offset)));
        add(key, value, headers("3-" + offset, "applied"));
    }

    /** A context that knows only the place of the current record. */
    @SuppressWarnings("unchecked") // the interface is generic
    private static ProcessorContext<Void, Void> context(Place place) {
        return (ProcessorContext<Void, Void>) Proxy.newProxyInstance(
                RowFeedTest.class.getClassLoader(), new Class<?>[] {ProcessorContext.class}, (proxy, method, args) -> {
                    if (method.getName().equals("recordMetadata")) {
                        return Optional.of(place);
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    @Test
    void doesNotCountAPartitionMarker() {
        add(bytes("puri:marker:3"), null);
        write();

        assertThat(withoutPosition()).isZero();
    }

    private double withoutPosition() {
        return meters.get("puri.identities.without.position").counter().count();
    }

    private String positionOf(Puri puri) {
        Identity found = table.byPuri(puri);
        assertThat(found).isNotNull();
        return found.row().position().toString();
    }

    private static Headers headers(String position, String outcome) {
        return new RecordHeaders().add(Position.HEADER, bytes(position)).add(Outcome.HEADER, bytes(outcome));
    }

    private void add(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        feed.process(new Record<>(key, value, 0, headers));
    }

    private void add(byte @Nullable [] key, byte @Nullable [] value) {
        add(key, value, new RecordHeaders());
    }

    /** All that was added. */
    private void write() {
        writer.handOverUpTo(0, 1);
        writer.await();
    }

    private static byte[] avro(int schemaId, Row row) {
        return WRITER.encode(schemaId, RowAvro.toAvro(row));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
