package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Prefix;
import dev.puri.testkit.Broker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class CollectionRegistryIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Map<String, Object> properties = new HashMap<>(Map.of(
            "bootstrap.servers", Broker.shared().bootstrapServers(),
            "value.serializer", PlainEntrySerde.Out.class.getName(),
            "value.deserializer", PlainEntrySerde.In.class.getName()));

    private String topic = "";

    @BeforeEach
    void makeTopic(TestInfo test) throws Exception {
        // A test that is run again on the same broker needs another topic.
        topic = "puri.collections." + test.getTestMethod().orElseThrow().getName() + "." + Uuid.randomUuid();
        try (Admin admin = Admin.create(properties)) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())
                            .configs(Map.of("cleanup.policy", "compact"))))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    @AfterEach
    void unhook() {
        PlainEntrySerde.beforeWrite = () -> {};
    }

    private CollectionRegistry registry() {
        return new CollectionRegistry(properties, topic, TIMEOUT);
    }

    private Declarations read() {
        CollectionsContent content = registry().read();
        assertThat(content.unreadable()).isEmpty();
        return content.declarations();
    }

    private static Collection collection(String namespace, String name, @Nullable String prefix) {
        return new Collection(
                namespace, name, prefix == null ? null : new Prefix(prefix), Set.of(), false, false, "", false);
    }

    private long endOffset() throws Exception {
        try (Admin admin = Admin.create(properties)) {
            TopicPartition only = new TopicPartition(topic, 0);
            return admin.listOffsets(Map.of(only, OffsetSpec.latest()))
                    .partitionResult(only)
                    .get(30, TimeUnit.SECONDS)
                    .offset();
        }
    }

    private Producer<byte[], Object> rival() {
        Map<String, Object> config = new HashMap<>(properties);
        config.put("key.serializer", ByteArraySerializer.class.getName());
        config.put("transactional.id", CollectionRegistry.TRANSACTIONAL_ID);
        return new KafkaProducer<>(config);
    }

    private ProducerRecord<byte[], Object> entry(String key, Declaration declaration) {
        return new ProducerRecord<>(topic, key.getBytes(StandardCharsets.UTF_8), DeclarationAvro.toAvro(declaration));
    }

    @Test
    void ofTwoConcurrentAppliesExactlyOneHoldsThePrefix() throws Exception {
        int rounds = 20;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < rounds; round++) {
                String prefix = "p" + (char) ('a' + round / 26) + (char) ('a' + round % 26);
                Collection mine = collection("mine", "c" + round, prefix);
                Collection yours = collection("yours", "c" + round, prefix);
                CyclicBarrier together = new CyclicBarrier(2);
                List<Callable<DeclarationResult>> applies = List.of(
                        () -> {
                            together.await(30, TimeUnit.SECONDS);
                            return registry().apply(List.of(mine));
                        },
                        () -> {
                            together.await(30, TimeUnit.SECONDS);
                            return registry().apply(List.of(yours));
                        });
                int won = 0;
                for (Future<DeclarationResult> each : pool.invokeAll(applies)) {
                    DeclarationResult declared = each.get(2, TimeUnit.MINUTES);
                    won += declared instanceof DeclarationResult.Changes ? 1 : 0;
                    if (declared instanceof DeclarationResult.Conflicts lost) {
                        assertThat(lost.conflicts()).hasSize(1);
                        assertThat(lost.toString()).contains("prefix: " + prefix + " belongs to ");
                    }
                }
                assertThat(won).as("round %d", round).isOne();
                Declarations after = read();
                assertThat(after.collections()).as("round %d", round).hasSize(round + 1);
                assertThat(after.byPrefix(new Prefix(prefix))).isIn(mine, yours);
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void everyReaderSeesAppliedDeclarations() {
        for (int i = 0; i < 20; i++) {
            Collection next = collection("ns", "c" + i, null);
            assertThat(registry().apply(List.of(next)))
                    .isInstanceOfSatisfying(
                            DeclarationResult.Changes.class,
                            changes -> assertThat(changes.writes()).containsExactly(next));
            assertThat(read().collection(next.qualifiedName())).isEqualTo(next);
        }
        assertThat(read().collections()).hasSize(20);
    }

    @Test
    void anUnchangedFileWritesNothing() throws Exception {
        List<Declaration> wanted = List.of(collection("a", "b", "abc"), new Namespace("a", true));
        registry().apply(wanted);
        long before = endOffset();
        assertThat(registry().apply(wanted))
                .isInstanceOfSatisfying(
                        DeclarationResult.Changes.class,
                        changes -> assertThat(changes.writes()).isEmpty());
        assertThat(endOffset()).isEqualTo(before);
        assertThat(read()).isEqualTo(Declarations.of(wanted));
    }

    @Test
    void aConflictWritesNothing() throws Exception {
        registry().apply(List.of(collection("a", "b", "abc")));
        long before = endOffset();
        assertThat(registry().apply(List.of(collection("fine", "fine", "fin"), collection("x", "y", "abc"))))
                .isInstanceOf(DeclarationResult.Conflicts.class);
        assertThat(endOffset()).isEqualTo(before);
    }

    @Test
    void anApplyLeftOpenIsFencedAndItsRecordsAreNeverSeen() throws Exception {
        try (Producer<byte[], Object> crashed = rival()) {
            crashed.initTransactions();
            crashed.beginTransaction();
            Collection ghost = collection("ghost", "tracks", "trk");
            crashed.send(entry(ghost.key(), ghost)).get(30, TimeUnit.SECONDS);

            Collection mine = collection("soundcloud", "tracks", "trk");
            assertThat(registry().apply(List.of(mine))).isInstanceOf(DeclarationResult.Changes.class);
            assertThat(read().collections()).containsExactly(mine);
            assertThatThrownBy(crashed::commitTransaction)
                    .isInstanceOfAny(ProducerFencedException.class, InvalidProducerEpochException.class);
        }
        assertThat(read().byPrefix(new Prefix("trk")))
                .extracting(holder -> Objects.requireNonNull(holder).namespace())
                .isEqualTo("soundcloud");
    }

    @Test
    void aFencedApplyReadsAgainAndReportsTheConflict() {
        Collection theirs = collection("theirs", "tracks", "trk");
        AtomicInteger writes = new AtomicInteger();
        PlainEntrySerde.beforeWrite = () -> {
            if (writes.getAndIncrement() == 0) {
                registry().apply(List.of(theirs));
            }
        };
        assertThat(registry().apply(List.of(collection("mine", "tracks", "trk"))))
                .isInstanceOf(DeclarationResult.Conflicts.class)
                .asString()
                .contains("trk belongs to theirs:tracks");
        assertThat(read().collections()).containsExactly(theirs);
    }

    @Test
    void anApplyThatIsFencedRepeatedlyGivesUpWithAnError() {
        AtomicInteger takeovers = new AtomicInteger();
        PlainEntrySerde.beforeWrite = () -> {
            takeovers.incrementAndGet();
            try (Producer<byte[], Object> other = rival()) {
                other.initTransactions();
            }
        };
        assertThatThrownBy(() -> registry().apply(List.of(collection("mine", "tracks", "trk"))))
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessage("nothing was written, because other applies fenced this one 10 times; apply again");
        assertThat(takeovers).hasValue(10);
        assertThat(read()).isEqualTo(Declarations.none());
    }

    /** Bypasses all our checks, as a careless or hostile administrator does. */
    private void poison(byte @Nullable [] key, byte @Nullable [] value) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", properties.get("bootstrap.servers"));
        try (Producer<byte[], byte[]> careless =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            careless.send(new ProducerRecord<>(topic, key, value)).get(30, TimeUnit.SECONDS);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> conflicts(DeclarationResult declared) {
        assertThat(declared).isInstanceOf(DeclarationResult.Conflicts.class);
        return List.of(declared.toString().split("\n"));
    }

    @Test
    void recordsThatCannotBeReadAreNamedAndTheRestIsRead() throws Exception {
        properties.keySet().removeAll(List.of("value.serializer", "value.deserializer"));
        properties.put("schema.registry.url", SchemaRegistryFixture.shared().url());
        Collection good = collection("good", "tracks", "trk");
        registry().apply(List.of(good));
        long before = endOffset();
        poison(bytes("odd\n\u001b[31m"), new byte[] {1, 2, 3, 4, 5});
        poison(bytes("unknown:id"), new byte[] {0, 127, 0, 0, 1, 0});
        poison(new byte[] {(byte) 0xff, 0}, new byte[0]);
        poison(bytes("short:bytes"), new byte[] {0, 0, 0, 0, 1});

        CollectionsContent content = registry().read();
        assertThat(content.declarations().collections()).containsExactly(good);
        assertThat(content.unreadable())
                .extracting(UnreadableDeclaration::offset)
                .containsExactly(before, before + 1, before + 2, before + 3);
        assertThat(content.unreadable())
                .extracting(UnreadableDeclaration::printableKey)
                .containsExactly("\"odd [31m\"", "\"unknown:id\"", "0xff00", "\"short:bytes\"");
        assertThat(content.unreadable().get(1).toString())
                .startsWith(topic + "-0 at offset " + (before + 1) + " (key \"unknown:id\"): ")
                .contains("schema id 2130706433");
    }

    @Test
    void recordWithAnotherKeyIsUnreadableUntilALaterRecordReplacesIt() throws Exception {
        Collection tracks = collection("soundcloud", "tracks", "trk");
        try (Producer<byte[], Object> careless = rival()) {
            careless.initTransactions();
            careless.beginTransaction();
            careless.send(entry("some:other", tracks)).get(30, TimeUnit.SECONDS);
            careless.commitTransaction();
        }
        assertThat(registry().read().unreadable())
                .singleElement()
                .hasToString(topic + "-0 at offset 0 (key \"some:other\"): it declares soundcloud:tracks, but has"
                        + " another key");
        poison(bytes("some:other"), null);
        assertThat(read()).isEqualTo(Declarations.none());
    }

    @Test
    void anUnreadableRecordBlocksOnlyDeclarationsOfNewPrefixes() throws Exception {
        Collection existing = collection("a", "tracks", "trk");
        registry().apply(List.of(existing));
        poison(bytes("b:users"), new byte[] {1});
        Collection described =
                new Collection("a", "tracks", new Prefix("trk"), Set.of(), true, true, "now searched", false);
        List<Declaration> harmless = List.of(described, collection("c", "plain", null), new Namespace("c", true));
        assertThat(registry().apply(harmless)).isInstanceOf(DeclarationResult.Changes.class);

        long before = endOffset();
        assertThat(conflicts(registry().apply(List.of(collection("c", "new", "usr")))))
                .singleElement()
                .asString()
                .startsWith(
                        "c:new: prefix: no new prefix can be declared while the record in " + topic + "-0 at offset ")
                .contains("(key \"b:users\")", "puri collections repair");
        assertThat(conflicts(registry().apply(List.of(collection("b", "users", null)))))
                .singleElement()
                .asString()
                .startsWith("b:users: name: its record in " + topic + "-0 at offset ");
        assertThat(endOffset()).isEqualTo(before);
    }

    @Test
    void anUnreadableRecordOfACollectionWhosePrefixIsKnownBlocksNoOther() throws Exception {
        registry().apply(List.of(collection("a", "tracks", "trk")));
        poison(bytes("a:tracks"), new byte[] {1});
        assertThat(registry().apply(List.of(collection("b", "users", "usr"))))
                .isInstanceOf(DeclarationResult.Changes.class);
        assertThat(registry().apply(List.of(collection("b", "others", "trk"))))
                .isInstanceOf(DeclarationResult.Conflicts.class);
    }

    @Test
    void aRepairWritesTheGivenElseThePreviousDeclarationElseATombstone() throws Exception {
        Collection before = collection("was", "known", "trk");
        registry().apply(List.of(before));
        poison(bytes("was:known"), new byte[] {1});
        poison(bytes("is:given"), new byte[] {2});
        poison(bytes("is:lost"), new byte[] {3});
        Collection given = collection("is", "given", "giv");
        List<Declaration> right = List.of(given, collection("not", "concerned", "non"));

        List<CollectionsContent.Repair> planned = registry().read().repairs(right);
        assertThat(planned).extracting(CollectionsContent.Repair::replacement).containsExactly(before, given, null);
        assertThat(registry().read().unreadable()).as("a plan changes nothing").hasSize(3);

        assertThat(registry().repair(right)).isEqualTo(planned);
        assertThat(read()).isEqualTo(Declarations.of(List.of(before, given)));
        assertThat(registry().repair(right)).isEmpty();
        assertThat(registry().apply(List.of(collection("new", "one", "new"))))
                .isInstanceOf(DeclarationResult.Changes.class);
    }

    @Test
    void aRepairThatWouldGiveAPrefixTwiceIsRefused() throws Exception {
        registry().apply(List.of(collection("a", "tracks", "trk")));
        poison(bytes("b:tracks"), new byte[] {1});
        long before = endOffset();
        assertThatThrownBy(() -> registry().repair(List.of(collection("b", "tracks", "trk"))))
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessage("nothing was repaired:\nb:tracks: prefix: trk belongs to a:tracks; a prefix is never"
                        + " reassigned to another collection");
        assertThat(endOffset()).isEqualTo(before);
    }

    @Test
    void aRecordWithoutAKeyIsReportedAndBlocksNothing() throws Exception {
        try (Admin admin = Admin.create(properties)) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            AlterConfigOp kept =
                    new AlterConfigOp(new ConfigEntry("cleanup.policy", "delete"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(resource, List.of(kept))).all().get(30, TimeUnit.SECONDS);
            poisonUntilTaken();
        }
        assertThat(registry().read().unreadable())
                .singleElement()
                .satisfies(record -> assertThat(record.printableKey()).isEqualTo("no key"));
        assertThat(registry().apply(List.of(collection("a", "b", "abc"))))
                .isInstanceOf(DeclarationResult.Changes.class);
        assertThat(registry().repair(List.of())).isEmpty();
    }

    /** A broker refuses records without keys until it knows that the topic is no longer compacted. */
    private void poisonUntilTaken() throws Exception {
        for (int attempt = 0; ; attempt++) {
            try {
                poison(null, new byte[] {1});
                return;
            } catch (ExecutionException e) {
                if (attempt == 1000 || !(e.getCause() instanceof InvalidRecordException)) {
                    throw e;
                }
            }
        }
    }

    @Test
    void theErrorOfAMissingTopicNamesTheCommandThatCreatesIt() {
        CollectionRegistry elsewhere = new CollectionRegistry(properties, "no.such.topic", TIMEOUT);
        String expected = "the topic no.such.topic does not exist on "
                + Broker.shared().bootstrapServers() + "; create it with: puri topics create";
        assertThatThrownBy(elsewhere::read)
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessage(expected);
        assertThatThrownBy(() -> elsewhere.apply(List.of())).hasMessage(expected);
    }

    @Test
    void anUnreachableBrokerIsReportedWithinTheTimeout() {
        properties.put("bootstrap.servers", "127.0.0.1:1");
        CollectionRegistry nowhere = new CollectionRegistry(properties, topic, Duration.ofSeconds(1));
        long start = System.nanoTime();
        assertThatThrownBy(nowhere::read)
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessageStartingWith("the topic " + topic + " on 127.0.0.1:1 could not be read: ");
        assertThatThrownBy(() -> nowhere.apply(List.of()))
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessageContaining("could not be written; it is safe to apply again");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
    }

    @Test
    void byDefaultDeclarationsAreWrittenThroughTheSchemaRegistry() {
        properties.keySet().removeAll(List.of("value.serializer", "value.deserializer"));
        properties.put("schema.registry.url", SchemaRegistryFixture.shared().url());
        List<Declaration> wanted = List.of(collection("a", "b", "abc"), new Namespace("a", true));
        assertThat(registry().apply(wanted)).isInstanceOf(DeclarationResult.Changes.class);
        assertThat(read()).isEqualTo(Declarations.of(wanted));

        properties.put("schema.registry.url", "http://127.0.0.1:1/apis/ccompat/v7");
        properties.put("max.retries", "0");
        assertThatThrownBy(() -> registry().read())
                .as("a failed request does not make a record unreadable")
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessageContaining("http://127.0.0.1:1/apis/ccompat/v7");
    }

    @Test
    void anUnreachableSchemaRegistryIsReportedWithSubjectAndUrlAndBlocksNobody() {
        properties.remove("value.serializer");
        properties.put("schema.registry.url", "http://127.0.0.1:1/apis/ccompat/v7");
        properties.put("max.retries", "1");
        properties.put("retries.wait.ms", "50");
        assertThatThrownBy(() -> registry().apply(List.of(collection("a", "b", "abc"))))
                .isInstanceOf(CollectionRegistryException.class)
                .hasMessageContaining(topic + "-value")
                .hasMessageContaining("http://127.0.0.1:1/apis/ccompat/v7");
        assertThat(read()).isEqualTo(Declarations.none());
    }
}
