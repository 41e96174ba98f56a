package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An attacker who may write to a namespace's topic sends small batches that decompress to large ones. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CompressionBombIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String MUSIC = Topics.eventsTopicOf("music");

    private final IdentityMinter minter = new IdentityMinter();
    private RegistryStack stack;
    private Process topology;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of("music"));
        stack.declare(List.of(new Namespace("music", true)));
        topology = StreamsProcess.start(stack.settings(folder.resolve("state")), folder.resolve("streams.log"));
    }

    @AfterAll
    void stop() throws Exception {
        StreamsProcess.kill(topology);
        stack.close();
    }

    /** The topology has a heap of 512 MB, and a consumer takes a record's size twice. */
    @ParameterizedTest
    @ValueSource(strings = {"zstd", "gzip", "lz4"})
    void recordThatDecompressesToMoreThanTheHeapIsRefusedToItsProducer(String codec) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(codec)) {
            Future<RecordMetadata> bomb = producer.send(
                    new ProducerRecord<>(MUSIC, TextCodec.utf8("music:albums:bomb"), new byte[300_000_000]));
            assertThatThrownBy(() -> bomb.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(RecordTooLargeException.class);
        }
        othersAreAnswered(codec);
    }

    /** Kafka's producer splits a batch that is refused for its size, so valid records pass. */
    @Test
    void batchOfManyRecordsIsSplitAndEachIsAnswered() throws Exception {
        List<Position> sent = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = producer("zstd")) {
            List<Future<RecordMetadata>> futures = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                futures.add(producer.send(
                        new ProducerRecord<>(MUSIC, 0, TextCodec.utf8("music:albums:" + i), new byte[900_000])));
            }
            producer.flush();
            for (Future<RecordMetadata> future : futures) {
                sent.add(new Position(MUSIC, 0, future.get(60, TimeUnit.SECONDS).offset()));
            }
        }
        await().atMost(SOON).until(() -> stack.look().outcomes().keySet().containsAll(sent));
        assertThat(sent).allMatch(position -> stack.outcomes().get(position).equals(Outcome.refused(Reason.TOO_LARGE)));
        othersAreAnswered("batch");
    }

    private void othersAreAnswered(String name) throws Exception {
        assertThat(topology.isAlive()).isTrue();
        try (KafkaProducer<byte[], byte[]> producer = producer("zstd")) {
            for (Puri puri : List.of(Puri.parse("music:albums:after-" + name), Puri.parse("films:reels:" + name))) {
                String topic = puri.namespace().equals("music") ? MUSIC : Topics.EVENTS;
                RecordMetadata sent = producer.send(new ProducerRecord<>(topic, puri.toBytes(), created(puri)))
                        .get(60, TimeUnit.SECONDS);
                Position position = new Position(topic, sent.partition(), sent.offset());
                await().atMost(SOON).until(() -> stack.look().outcomes().containsKey(position));
                assertThat(stack.outcomes().get(position)).isEqualTo(Outcome.APPLIED);
            }
        }
    }

    private byte[] created(Puri puri) {
        Change created =
                new Change.Created(minter.uuid(), new Owner("catalog"), new Shard("br-1"), null, Map.of("title", "x"));
        RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
        try (var registry = stack.registry()) {
            int id = registry.register(Topics.EVENTS + "-value", writer.schema());
            return writer.encode(
                    id, EventAvro.toAvro(new Event(minter.uuid(), puri, Instant.now(), "test", null, null, created)));
        }
    }

    private KafkaProducer<byte[], byte[]> producer(String codec) {
        Map<String, Object> properties = new HashMap<>(stack.clientProperties());
        properties.put("compression.type", codec);
        properties.put("max.request.size", 400_000_000);
        properties.put("buffer.memory", 500_000_000L);
        properties.put("batch.size", 1_000_000);
        properties.put("linger.ms", 1000);
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
