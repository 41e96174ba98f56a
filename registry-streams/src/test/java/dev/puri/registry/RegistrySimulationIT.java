package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Random histories through the real processors, against {@link Model}: duplicates, late replays,
 * reorderings between sources, two shards claiming one pURI, two pURIs one handle, namespace topics with
 * other partition counts, re-creation, erasure, invalid records, lost and duplicated grants, crash and replay,
 * collections whose search is switched on and off, and a namespace whose mode changes.
 */
@Isolated("needs a core for itself")
class RegistrySimulationIT {
    private static final int SEEDS = 300;
    private static final int EVENTS = 250;
    private static final int PARTITIONS = 4;
    private static final String STRAY_TOPIC = Topics.eventsTopicOf("stray");

    @Test
    void everyHistoryAgreesWithTheModel() {
        long base = Long.getLong("puri.seed", 20_261_120L);
        Set<Outcome> seen = new HashSet<>();
        for (int i = 0; i < SEEDS; i++) {
            long seed = base + i;
            try {
                History history = new History(seed);
                history.play();
                seen.addAll(history.outcomes);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + " (run again with -Dpuri.seed=" + seed + ")", e);
            }
        }
        Set<Outcome> all = Stream.concat(
                        Stream.of(Outcome.APPLIED, Outcome.UNCHANGED),
                        Arrays.stream(Reason.values()).map(Outcome::refused))
                .collect(Collectors.toSet());
        assertThat(seen).as("every line of the contract was reached").isEqualTo(all);
    }

    /**
     * The declarations that matter to a pURI.
     *
     * @param isSearched whether its collection is searchable
     * @param mode the name of its namespace's mode
     */
    private record Declared(boolean isSearched, String mode) {
        boolean mayChange(Event event) {
            return mode.equals("READ_WRITE")
                    || mode.equals("IMPORT") && event.source().equals(RandomEvents.SOURCE);
        }
    }

    /** One simulated run. */
    private static final class History {
        private final Random random;
        private final SimulatedKafka world = new SimulatedKafka();
        private final InMemorySchemaRegistry schemaRegistry = new InMemorySchemaRegistry();
        private final RecordWriter<IdentityEvent> events = RecordWriter.of(IdentityEvent.class);
        private final int eventId = schemaRegistry.register("events", events.schema());
        private final SchemaLookup schemas =
                new SchemaLookup(schemaRegistry, InstantSource.system(), Duration.ofSeconds(30), Integer.MAX_VALUE);
        private final SkippedRecords skipped = new SkippedRecords();
        private final CollectionsRegistry collections = new CollectionsRegistry(schemas, skipped);
        private final TaskStates taskStates = new TaskStates();

        /** The events that a producer could have sent, by position. */
        private final Map<String, Event> published = new HashMap<>();

        private final List<Event> history = new ArrayList<>();
        private final RandomEvents generated;
        private final Set<Outcome> outcomes = new HashSet<>();
        private final Set<String> misplaced = new HashSet<>();

        /** Collections that are searchable at present. */
        private final Set<String> searched = new HashSet<>();

        /** The present mode of the namespace music. */
        private WriteMode musicMode = WriteMode.READ_WRITE;

        /** The declarations when the event was decided, by position of the event. */
        private final Map<String, Declared> declaredThen = new HashMap<>();

        private int appended;

        History(long seed) {
            random = new Random(seed);
            generated = new RandomEvents(random, 4);
            build();
        }

        private void build() {
            world.createTopic(Topics.EVENTS, PARTITIONS);
            world.createTopic(RandomEvents.MUSIC_TOPIC, 3);
            world.createTopic(STRAY_TOPIC, 7);
            world.createTopic(SimulatedKafka.REPARTITIONED_EVENTS, PARTITIONS);
            world.createTopic(SimulatedKafka.CLAIMS, PARTITIONS);
            world.createTopic(Topics.GRANTS, PARTITIONS);
            world.createTopic(Topics.IDENTITIES, PARTITIONS);
            world.createTopic(Topics.DOCUMENTS, PARTITIONS);
            world.createTopic(Topics.REJECTIONS, PARTITIONS);
            RandomEvents.DECLARED.forEach(this::declare);
            OutputEncoder encoder = new OutputEncoder(schemaRegistry);
            for (int p = 0; p < 7; p++) {
                world.addTask(
                        "intake",
                        p,
                        List.of(RandomEvents.MUSIC_TOPIC, STRAY_TOPIC),
                        List.of(),
                        NamespaceEventForwarder::new,
                        SimulatedKafka.Route.to(SimulatedKafka.REPARTITIONED_EVENTS));
            }
            for (int p = 0; p < PARTITIONS; p++) {
                world.addTask(
                        "registrar",
                        p,
                        List.of(Topics.EVENTS, SimulatedKafka.REPARTITIONED_EVENTS, Topics.GRANTS),
                        List.of(
                                RegistryTopology.REGISTRATIONS_STORE,
                                RegistryTopology.TEXTS_STORE,
                                RegistryTopology.PARKED_STORE,
                                RegistryTopology.COUNTS_STORE),
                        () -> new Registrar(
                                new EventParser(schemas), collections, encoder, taskStates, skipped, PARTITIONS),
                        SimulatedKafka.Route.ofOutputs());
                world.addTask(
                        "clerk",
                        p,
                        List.of(SimulatedKafka.CLAIMS),
                        List.of(RegistryTopology.HANDLES_STORE),
                        () -> new Clerk(skipped),
                        SimulatedKafka.Route.to(Topics.GRANTS));
            }
        }

        private void declare(Declaration declaration) {
            RecordWriter<CollectionsEntry> writer = RecordWriter.of(CollectionsEntry.class);
            int id = schemaRegistry.register("collections", writer.schema());
            collections
                    .newProcessor()
                    .process(new Record<>(
                            TextCodec.utf8(declaration.key()),
                            writer.encode(id, DeclarationAvro.toAvro(declaration)),
                            0));
            if (declaration instanceof Collection collection && collection.search()) {
                searched.add(declaration.key());
            } else {
                searched.remove(declaration.key());
            }
        }

        /** Declares another mode of the namespace music. */
        private void switchMode() {
            world.tasks().forEach(SimulatedKafka.Task::commit);
            noteDeclarations();
            musicMode = List.of(WriteMode.READ_WRITE, WriteMode.READ_ONLY, WriteMode.importBy(RandomEvents.SOURCE))
                    .get(random.nextInt(3));
            declare(new Namespace("music", true, musicMode));
        }

        /** Declares again whether tracks or albums are searchable. */
        private void switchSearch() {
            world.tasks().forEach(SimulatedKafka.Task::commit);
            noteDeclarations();
            Collection collection = (Collection) RandomEvents.DECLARED.get(random.nextBoolean() ? 0 : 2);
            declare(new Collection(
                    collection.namespace(),
                    collection.name(),
                    collection.prefix(),
                    collection.owners(),
                    !searched.contains(collection.key()),
                    collection.isPublic(),
                    collection.description(),
                    collection.retired()));
        }

        /** Notes the present declarations for each event that was decided since the last call. */
        private void noteDeclarations() {
            for (SimulatedKafka.Entry entry : world.answers(Topics.IDENTITIES)) {
                Puri puri = EventParser.canonicalKey(entry.key());
                String mode = puri.namespace().equals("music") ? musicMode.name() : "READ_WRITE";
                declaredThen.putIfAbsent(
                        entry.header(Position.HEADER),
                        new Declared(searched.contains(puri.qualifiedCollection()), mode));
            }
        }

        void play() {
            while (appended < EVENTS) {
                step();
            }
            settle();
            noteDeclarations();
            compare();
            schemas.close();
        }

        private void step() {
            int dice = random.nextInt(100);
            if (dice < 25) {
                publish();
                return;
            }
            SimulatedKafka.Task task =
                    world.tasks().get(random.nextInt(world.tasks().size()));
            if (dice < 80) {
                task.read(task.sources().get(random.nextInt(task.sources().size())));
            } else if (dice < 90) {
                task.commit();
            } else if (dice < 93) {
                if (random.nextBoolean()) {
                    task.crash();
                } else {
                    task.revive();
                }
            } else if (dice < 97) {
                world.passTime(random.nextInt(3000));
                task.tick();
            } else if (dice < 99) {
                disturbGrants();
            } else if (random.nextBoolean()) {
                switchSearch();
            } else {
                switchMode();
            }
        }

        /** Loses or repeats a grant, as after a topic was recreated. */
        private void disturbGrants() {
            int partition = random.nextInt(PARTITIONS);
            List<SimulatedKafka.Entry> grants = world.log(Topics.GRANTS, partition);
            if (!grants.isEmpty()) {
                int at = random.nextInt(grants.size());
                if (random.nextBoolean()) {
                    grants.add(grants.get(at));
                } else {
                    grants.set(
                            at,
                            new SimulatedKafka.Entry(
                                    grants.get(at).key(),
                                    new Grant(generated.uuid(), Handle.parse("trk_zzzzzzzzzzzzzzz"), true).toBytes(),
                                    SimulatedKafka.noHeaders()));
                }
            }
        }

        private void settle() {
            int idle = 0;
            while (idle < 20) {
                boolean isBusy = false;
                for (SimulatedKafka.Task task : world.tasks()) {
                    for (String source : task.sources()) {
                        while (task.read(source)) {
                            isBusy = true;
                        }
                    }
                    task.tick();
                    task.commit();
                }
                world.passTime(Registrar.CLAIM_RETRY.toMillis());
                idle = isBusy ? 0 : idle + 1;
            }
        }

        private void publish() {
            appended++;
            int dice = random.nextInt(100);
            if (dice < 8) {
                publishRubbish();
                return;
            }
            Event event =
                    dice < 20 && !history.isEmpty() ? history.get(random.nextInt(history.size())) : generated.next();
            history.add(event);
            String topic = random.nextInt(30) == 0 ? anyTopic() : RandomEvents.rightfulTopic(event.puri());
            append(topic, event.puri().toBytes(), events.encode(eventId, EventAvro.toAvro(event)), event);
        }

        private void append(String topic, byte @Nullable [] key, byte @Nullable [] value, @Nullable Event event) {
            // Producers of a namespace's topic may use any partitioner.
            int partition = topic.equals(Topics.EVENTS) && key != null
                    ? Tokens.partition(event == null ? Puri.parse("a:b:c") : event.puri(), PARTITIONS)
                    : random.nextInt(world.partitions(topic));
            List<SimulatedKafka.Entry> log = world.log(topic, partition);
            if (event != null) {
                published.put(new Position(topic, partition, log.size()).toString(), event);
            }
            Headers headers = SimulatedKafka.noHeaders();
            headers.add(Position.HEADER, TextCodec.utf8("forged-0-0"));
            log.add(new SimulatedKafka.Entry(key, value, headers));
        }

        private void publishRubbish() {
            byte[] key = generated.anyPuri().toBytes();
            byte[] good = events.encode(eventId, EventAvro.toAvro(generated.next()));
            switch (random.nextInt(6)) {
                case 0 -> append(anyTopic(), null, good, null);
                case 1 -> append(anyTopic(), "Not A pURI".getBytes(StandardCharsets.UTF_8), good, null);
                case 2 -> append(RandomEvents.MUSIC_TOPIC, key, null, null);
                case 3 -> append(STRAY_TOPIC, key, new byte[] {0, 0, 0, 99, 1}, null);
                case 4 -> append(RandomEvents.MUSIC_TOPIC, key, new byte[RawEvent.MAX_BYTES + 1], null);
                default -> append(STRAY_TOPIC, key, Arrays.copyOf(good, good.length - 3), null);
            }
        }

        private String anyTopic() {
            return List.of(Topics.EVENTS, RandomEvents.MUSIC_TOPIC, STRAY_TOPIC).get(random.nextInt(3));
        }

        private void compare() {
            Map<String, IdentityHash> firstToAsk = new HashMap<>();
            for (int p = 0; p < PARTITIONS; p++) {
                for (SimulatedKafka.Entry claim : world.log(SimulatedKafka.CLAIMS, p)) {
                    firstToAsk.putIfAbsent(
                            new String(claim.key(), StandardCharsets.UTF_8),
                            Claim.fromBytes(claim.value()).claimant());
                }
            }
            Map<String, Outcome> expected = new HashMap<>();
            Map<Puri, List<String>> orderRead = new HashMap<>();
            Model model = new Model(RandomEvents.rules(), firstToAsk);
            int read = 0;
            for (SimulatedKafka.Task task : world.tasks()) {
                if (!task.toString().startsWith("registrar")) {
                    continue;
                }
                for (String place : task.reads()) {
                    read += place.startsWith(Topics.GRANTS) ? 0 : 1;
                    decideOne(task.partition(), place, model, expected, orderRead);
                }
            }

            SimulatedOutput output = new SimulatedOutput(world);
            assertThat(output.outcomes()).isEqualTo(expected);
            outcomes.addAll(output.outcomes().values());
            assertThat(output.positions()).isEqualTo(orderRead);
            assertThat(output.rows()).isEqualTo(model.rows());
            assertThat(output.documents(published)).isEqualTo(model.documents());
            output.assertDigests(Topics.IDENTITIES);
            output.assertDigests(Topics.DOCUMENTS);
            assertHandlesAreUnique(output.rows());
            assertNothingIsUnaccountedFor(read, expected, output);
        }

        private void decideOne(
                int partition,
                String place,
                Model model,
                Map<String, Outcome> expected,
                Map<Puri, List<String>> orderRead) {
            String topic = place.substring(0, place.lastIndexOf('/'));
            int offset = Integer.parseInt(place.substring(place.lastIndexOf('/') + 1));
            if (topic.equals(Topics.GRANTS)) {
                return;
            }
            SimulatedKafka.Entry entry = world.log(topic, partition).get(offset);
            Puri puri = EventParser.canonicalKey(entry.key());
            if (puri == null || topic.equals(Topics.EVENTS) && Tokens.partition(puri, PARTITIONS) != partition) {
                return;
            }
            Position position = topic.equals(Topics.EVENTS)
                    ? new Position(topic, partition, offset)
                    : Position.parse(new String(
                            entry.headers().lastHeader(Position.HEADER).value(), StandardCharsets.UTF_8));
            if (!position.topic().equals(RandomEvents.rightfulTopic(puri))) {
                // Refused without an identities record, because any service may write to that topic.
                misplaced.add(position.toString());
                return;
            }
            Event event = published.get(position.toString());
            Outcome outcome;
            if (event == null) {
                outcome = Outcome.refused(
                        RawEvent.fromRepartition(entry.key(), entry.value(), entry.headers())
                                                .hasCompleteValue()
                                        || entry.value() == null
                                        || entry.value().length < RawEvent.KEPT_BYTES
                                ? Reason.UNDECODABLE
                                : Reason.TOO_LARGE);
            } else {
                Declared declared = declaredThen.get(position.toString());
                outcome = model.decide(event, position, declared.isSearched(), declared.mayChange(event));
            }
            assertThat(expected.put(position.toString(), outcome))
                    .as("read once: " + position)
                    .isNull();
            orderRead.computeIfAbsent(puri, ignored -> new ArrayList<>()).add(position.toString());
        }

        private static void assertHandlesAreUnique(Map<Puri, Row> rows) {
            Set<Handle> seen = new HashSet<>();
            rows.forEach((puri, row) -> assertThat(row.handle() == null || seen.add(row.handle()))
                    .as(puri + " shares " + row.handle())
                    .isTrue());
        }

        private void assertNothingIsUnaccountedFor(int read, Map<String, Outcome> expected, SimulatedOutput output) {
            EventCounts counts = taskStates.counts();
            assertThat(counts.isBalanced()).isTrue();
            assertThat(counts.read()).isEqualTo(read).isEqualTo(appended);
            assertThat(counts.parked()).isZero();
            long refused = 0;
            List<String> erasures = new ArrayList<>();
            RecordReader<Rejection> reader = RecordReader.of(Rejection.class);
            for (int p = 0; p < PARTITIONS; p++) {
                for (SimulatedKafka.Entry entry : world.log(Topics.REJECTIONS, p)) {
                    if (entry.value() == null) {
                        erasures.add(entry.header(Position.HEADER));
                        continue;
                    }
                    Rejection rejection = reader.decode(entry.value(), Rejection.getClassSchema());
                    Position position = new Position(
                            rejection.getPosition().getTopic(),
                            rejection.getPosition().getPartition(),
                            rejection.getPosition().getOffset());
                    if (misplaced.remove(position.toString())) {
                        assertThat(rejection.getReason())
                                .isIn(Reason.MALFORMED.name(), Reason.UNDECODABLE.name(), Reason.TOO_LARGE.name());
                        outcomes.add(Outcome.refused(Reason.valueOf(rejection.getReason())));
                    }
                    Outcome outcome = expected.get(position.toString());
                    if (outcome != null) {
                        assertThat(outcome).isEqualTo(Outcome.refused(Reason.valueOf(rejection.getReason())));
                    }
                    refused++;
                }
            }
            assertThat(refused).isEqualTo(counts.refused());
            assertThat(misplaced)
                    .as("events in topics of others that were not refused")
                    .isEmpty();
            assertThat(erasures).containsExactlyInAnyOrderElementsOf(output.eventsThatLeftNoRow());
        }
    }
}
