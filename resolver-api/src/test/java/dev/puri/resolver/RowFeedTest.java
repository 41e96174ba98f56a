package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class RowFeedTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final int KNOWN = 7;

    private final PackedTable table = new PackedTable();
    private final OneSchema registry = new OneSchema();
    private final RowFeed.Stop stop = new RowFeed.Stop();
    private final Counter undecodable = new SimpleMeterRegistry().counter("undecodable");
    private final RowFeed feed = new RowFeed(table, registry, stop, undecodable);

    @Test
    void rowsAndTombstonesReachTheTable() {
        process(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-1")));

        process(TRACK.toBytes(), null);
        assertThat(table.byPuri(TRACK)).isNull();
        assertThat(undecodable.count()).isZero();
    }

    @Test
    void whatDoesNotDecodeIsCountedAndLeavesTheRowBefore() {
        process(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1")));
        byte[] whole = avro(KNOWN, Rows.active("br-2"));
        byte[] cut = java.util.Arrays.copyOf(whole, whole.length - 1);
        IdentityRow noRow = RowAvro.toAvro(Rows.active("br-2"));
        noRow.setEpoch(0);

        process(TRACK.toBytes(), new byte[0]);
        process(TRACK.toBytes(), cut);
        process(TRACK.toBytes(), avro(KNOWN + 1, Rows.active("br-2")));
        process(TRACK.toBytes(), WRITER.encode(KNOWN, noRow));
        process(null, whole);
        process(bytes("soundcloud:tracks"), whole);
        process(bytes("SOUNDCLOUD:tracks:1"), whole);

        assertThat(undecodable.count()).isEqualTo(7);
        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, Rows.active("br-1")));
        assertThat(table.rows()).isEqualTo(1);
    }

    @Test
    void aRegistryOutOfReachIsWaitedForAndNothingIsSkipped() throws Exception {
        registry.away = true;
        CompletableFuture<Void> processing =
                CompletableFuture.runAsync(() -> process(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1"))));
        await().untilAsserted(() -> assertThat(stop.waitingFor()).isEqualTo("away"));
        assertThat(processing).isNotDone();

        registry.away = false;

        processing.get(10, TimeUnit.SECONDS);
        assertThat(stop.waitingFor()).isNull();
        assertThat(table.byPuri(TRACK)).isNotNull();
        assertThat(undecodable.count()).isZero();
    }

    @Test
    void waitingEndsWhenAskedTo() {
        registry.away = true;
        CompletableFuture<Void> processing =
                CompletableFuture.runAsync(() -> process(TRACK.toBytes(), avro(KNOWN, Rows.active("br-1"))));
        await().untilAsserted(() -> assertThat(stop.waitingFor()).isNotNull());

        stop.ask();

        assertThatThrownBy(() -> processing.get(10, TimeUnit.SECONDS)).hasMessageContaining("stopped while waiting");
    }

    private void process(byte @Nullable [] key, byte @Nullable [] value) {
        feed.process(new Record<>(key, value, 0));
    }

    private static byte[] avro(int schemaId, Row row) {
        return WRITER.encode(schemaId, RowAvro.toAvro(row));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Knows the row's schema by one id, unless it is away. */
    private static final class OneSchema implements SchemaRegistry {
        private volatile boolean away;

        @Override
        public Schema byId(int id) {
            if (away) {
                throw new RegistryUnavailableException("away", null);
            }
            if (id != KNOWN) {
                throw new UnknownSchemaException("no schema " + id, null);
            }
            return WRITER.schema();
        }

        @Override
        public int register(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public int idOf(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public void close() {}
    }
}
