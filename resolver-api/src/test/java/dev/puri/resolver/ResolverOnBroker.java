package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.http.HttpSettings;
import dev.puri.http.PublicListenerSettings;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.KafkaProperties;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.avro.Schema;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * Base of tests of a resolver on a real broker and a real schema registry, which tests may stop. All classes of a JVM
 * share both. Each test gets a new topic, which it writes as the topology writes it.
 */
@Timeout(180)
abstract class ResolverOnBroker {
    static final int PARTITIONS = 3;
    static final String TRACK = "soundcloud:tracks:1";
    static final String HANDLE = "trk_4k7vx9tz2nqr8w3";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    static final Contract CONTRACT = new Contract(HTTP, "/openapi.json");
    static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);

    static RestartableBroker broker;
    static RestartableSchemaRegistry registry;
    static Admin admin;
    static KafkaProducer<byte[], byte[]> producer;
    private static int schemaId;
    static int otherSchemaId;

    @Nullable
    Resolver resolver;

    @BeforeAll
    static synchronized void startBroker() {
        if (broker != null) {
            return;
        }
        broker = Broker.start();
        registry = SchemaRegistryFixture.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        Properties config = new Properties();
        config.put("bootstrap.servers", broker.bootstrapServers());
        config.put("transactional.id", "topology");
        config.put("linger.ms", "0");
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        try (ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry.url()))) {
            schemaId = schemas.register(Topics.IDENTITIES + "-value", WRITER.schema());
            String other = WRITER.schema().toString().replaceFirst("\"doc\":\"[^\"]*\"", "\"doc\":\"another\"");
            otherSchemaId = schemas.register("other-value", new Schema.Parser().parse(other));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(ResolverOnBroker::stopBroker, "close-resolvers-broker"));
    }

    private static void stopBroker() {
        producer.close();
        admin.close();
        registry.close();
        broker.close();
        HTTP.close();
    }

    @BeforeEach
    void createTopic() throws Exception {
        admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                        .configs(Map.of("cleanup.policy", "compact,delete"))))
                .all()
                .get();
    }

    @AfterEach
    void deleteTopic() throws Exception {
        if (resolver != null) {
            resolver.close();
        }
        deleteTopicIfThere();
    }

    void startReady(Path data) {
        resolver = Resolver.start(settings(data));
        awaitReady();
    }

    void stop() {
        requireResolver().close();
        resolver = null;
    }

    Resolver requireResolver() {
        return Objects.requireNonNull(resolver);
    }

    void start() {
        resolver = Resolver.start(settings());
    }

    void startReady() {
        start();
        awaitReady();
    }

    static ResolverSettings settings() {
        return settings(null);
    }

    static ResolverSettings settings(@Nullable Path stateDir) {
        return new ResolverSettings(
                broker.bootstrapServers(),
                registry.url(),
                "127.0.0.1",
                0,
                100,
                100_000,
                Duration.ofSeconds(10),
                100,
                0,
                Duration.ofSeconds(2),
                Duration.ZERO,
                Optional.ofNullable(stateDir),
                Duration.ofMinutes(10),
                100_000,
                Optional.empty(),
                PublicListenerSettings.OFF,
                ChangesSettings.DEFAULT,
                RefusalSettings.DEFAULT,
                HttpSettings.DEFAULT,
                KafkaProperties.NONE);
    }

    void awaitReady() {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            HttpResponse<String> ready = send("/health/ready");
            assertThat(ready.statusCode()).as(ready.body()).isEqualTo(200);
        });
    }

    void awaitUnready(String reason) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            HttpResponse<String> ready = send("/health/ready");
            assertThat(ready.statusCode()).as(ready.body()).isEqualTo(503);
            assertThat(ready.body()).contains(reason);
        });
    }

    void awaitVerdict(String ref, String verdict) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(get(ref).at("/verdict").asText()).isEqualTo(verdict));
    }

    Optional<String> lag() {
        return send("/v1/identities/" + TRACK).headers().firstValue("Puri-Table-Lag");
    }

    JsonNode get(String ref) {
        return json("/v1/identities/" + ref);
    }

    JsonNode json(String path) {
        try {
            return JSON.readTree(send(path).body());
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    HttpResponse<String> send(String path) {
        return CONTRACT.sendAsync(request(path)).join();
    }

    HttpRequest request(String path) {
        return HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + requireResolver().port() + path))
                .build();
    }

    @SafeVarargs
    static void write(ProducerRecord<byte[], byte[]>... records) {
        producer.beginTransaction();
        List<Future<RecordMetadata>> sent =
                Arrays.stream(records).map(producer::send).toList();
        producer.commitTransaction();
        assertThat(sent).allMatch(Future::isDone);
    }

    static ProducerRecord<byte[], byte[]> row(String puri, Row row) {
        return new ProducerRecord<>(Topics.IDENTITIES, Puri.parse(puri).toBytes(), avro(row));
    }

    static ProducerRecord<byte[], byte[]> tombstone(String puri) {
        return new ProducerRecord<>(Topics.IDENTITIES, Puri.parse(puri).toBytes(), null);
    }

    static ProducerRecord<byte[], byte[]> record(String puri, byte[] value) {
        return new ProducerRecord<>(Topics.IDENTITIES, bytes(puri), value);
    }

    static byte[] avro(Row row) {
        return WRITER.encode(schemaId, RowAvro.toAvro(row));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static void deleteTopicIfThere() throws Exception {
        try {
            admin.deleteTopics(List.of(Topics.IDENTITIES)).all().get();
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(UnknownTopicOrPartitionException.class);
        }
        await().atMost(Duration.ofSeconds(30))
                .until(() -> !admin.listTopics().names().get().contains(Topics.IDENTITIES));
    }
}
