package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Decides every event of its pURIs, in the order of the log, and is the only writer of what comes of
 * it.
 *
 * <p>An event that cannot be decided yet is parked: its handle is with the clerk, its schema with the
 * registry, or its collection not declared so far. Whatever follows it under the same pURI queues up
 * behind it ({@link Parking}), so no event overtakes another. A grant, or the punctuation, takes the
 * queue up again from its head.
 *
 * <p>Every event with a pURI of this partition, in its namespace's topic, leaves by {@code settle} and only there: one
 * record of identities and one count. One that is applied may leave a document too ({@link DocumentFate}); the
 * registration tells whether there is one, so a collection that is not searched costs no look for it.
 */
final class Registrar implements Processor<byte[], byte[], byte[], byte[]> {
    /** How long a declaration may be behind the events that need it. */
    static final Duration GRACE = Duration.ofSeconds(5);

    /** When the clerk is asked again. It answers within a commit or two; this is for lost answers. */
    static final Duration ASK_AGAIN = Duration.ofSeconds(30);

    static final Duration TICK = Duration.ofMillis(100);

    /** Events settled from queues in one call, so that no queue outlasts its transaction. */
    private static final int MOST_PER_CALL = 1000;

    private static final byte[] TALLY_KEY = {0};

    private static final Header APPLIED = new RecordHeader(Outcome.HEADER, Texts.utf8(Outcome.APPLIED.toString()));

    private final EventEdge edge;
    private final CollectionsRegistry collections;
    private final OutputEncoder encoder;
    private final Tallies tallies;
    private final SkippedRecords skipped;
    private final int partitions;

    private @Nullable Task task;

    /**
     * @param partitions of the events topic; by them an event on the wrong one is told
     */
    Registrar(
            EventEdge edge,
            CollectionsRegistry collections,
            OutputEncoder encoder,
            Tallies tallies,
            SkippedRecords skipped,
            int partitions) {
        this.edge = edge;
        this.collections = collections;
        this.encoder = encoder;
        this.tallies = tallies;
        this.skipped = skipped;
        this.partitions = partitions;
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
        stop();
        task = new Task(context);
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        Started.with(task).process(record);
    }

    @Override
    public void close() {
        stop();
    }

    /** A task that Kafka Streams revives keeps its old punctuations unless they are cancelled. */
    private void stop() {
        if (task != null) {
            tallies.remove(task.partition);
            task.punctuations.forEach(Cancellable::cancel);
            task = null;
        }
    }

    /** What lives from {@code init} to {@code close}: a task that is revived starts again from its stores. */
    private final class Task {
        private final ProcessorContext<byte[], byte[]> context;
        private final int partition;
        private final KeyValueStore<byte[], byte[]> registrations;
        private final KeyValueStore<byte[], byte[]> texts;
        private final KeyValueStore<byte[], byte[]> tallyStore;
        private final Parking parking;
        private final List<Cancellable> punctuations;
        private final Tally.Counter tally;
        private Tally kept;
        private long collectionsSeen;
        private int budget;

        Task(ProcessorContext<byte[], byte[]> context) {
            this.context = context;
            this.partition = context.taskId().partition();
            this.registrations = context.getStateStore(RegistryTopology.REGISTRATIONS_STORE);
            this.texts = context.getStateStore(RegistryTopology.TEXTS_STORE);
            this.tallyStore = context.getStateStore(RegistryTopology.TALLY_STORE);
            this.parking = new Parking(context.getStateStore(RegistryTopology.PARKED_STORE));
            byte[] counted = tallyStore.get(TALLY_KEY);
            this.kept = counted == null ? Tally.NONE : Tally.fromBytes(counted);
            this.tally = new Tally.Counter(kept);
            tallies.put(partition, kept);
            this.punctuations = List.of(
                    context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, this::tick),
                    context.schedule(Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, this::mark));
        }

        void process(Record<byte[], byte[]> record) {
            RecordMetadata from =
                    context.recordMetadata().orElseThrow(() -> new IllegalStateException("a record from no topic"));
            if (from.topic().equals(Topics.GRANTS)) {
                takeGrant(record, from);
                return;
            }
            boolean isDirect = from.topic().equals(Topics.EVENTS);
            Arrival arrival = isDirect
                    ? Arrival.of(
                            new Position(from.topic(), from.partition(), from.offset()), record.key(), record.value())
                    : fromIntake(record, from);
            if (arrival != null) {
                take(arrival, isDirect);
                keepTally();
            }
        }

        /** The event of a namespace's topic; null when the intake stage did not write the record. */
        private @Nullable Arrival fromIntake(Record<byte[], byte[]> record, RecordMetadata from) {
            try {
                return Arrival.fromIntake(record.key(), record.value(), record.headers());
            } catch (IllegalArgumentException e) {
                skipped.skip(from, String.valueOf(e.getMessage()));
                return null;
            }
        }

        private void take(Arrival arrival, boolean isDirect) {
            tally.countRead();
            Puri puri = EventEdge.canonicalKey(arrival.key());
            if (puri == null) {
                refuseStray(arrival, EventEdge.puriOf(arrival.key()), EventEdge.objectionToKey(arrival.key()));
            } else if (isDirect && Partitions.of(puri, partitions) != partition) {
                // To answer here would overwrite the row that the right partition wrote.
                refuseStray(
                        arrival,
                        puri,
                        "the event belongs in partition " + Partitions.of(puri, partitions) + " and came in "
                                + partition
                                + "; set the producer's partitioner to murmur2 over the key, Kafka's default"
                                + " (librdkafka: partitioner=murmur2_random)");
            } else if (parking.isWaiting(puri)) {
                parking.queue(puri, arrival, now());
                tally.countParked();
            } else {
                Dossier dossier = new Dossier(puri, arrival, now());
                Wait wait = decide(dossier, ClerkAnswer.UNASKED);
                if (wait != null) {
                    parking.open(dossier, wait);
                    tally.countParked();
                    ask(puri, wait);
                }
            }
        }

        /** Settles the event, or says what it has to wait for. */
        private @Nullable Wait decide(Dossier dossier, ClerkAnswer clerk) {
            Event event = dossier.event();
            if (event != null) {
                return decide(dossier, event, clerk);
            }
            return switch (edge.read(dossier.puri(), dossier.arrival())) {
                case EventEdge.SchemaPending ignored -> Wait.FOR_SCHEMA;
                case EventEdge.Unreadable unreadable -> {
                    refuse(dossier, null, unreadable.refusal());
                    yield null;
                }
                case EventEdge.Read read -> {
                    dossier.read(read.event());
                    yield decide(dossier, read.event(), clerk);
                }
            };
        }

        private @Nullable Wait decide(Dossier dossier, Event event, ClerkAnswer clerk) {
            Puri puri = dossier.puri();
            Position position = dossier.arrival().position();
            Registration before = before(dossier);
            Refusal misplaced = collections.objectionTo(puri, position.topic());
            Refusal objection = misplaced != null ? misplaced : AttributeBounds.objectionTo(event.change());
            Terms terms = collections.termsOf(puri);
            Decision decision = objection != null
                    ? new Decision.Refused(objection)
                    : Registration.fold(before, event, position, terms, clerk);
            return switch (decision) {
                case Decision.Applied applied -> {
                    Row row = applied.registration().row();
                    DocumentFate fate = DocumentFate.of(before.hasDocument(), event.change(), row, terms.isSearched());
                    Registration after = applied.registration().withDocument(fate.leavesOne());
                    registrations.put(dossier.storeKey(), RegistrationCodec.encode(after));
                    follow(dossier, fate);
                    tally.countApplied();
                    settle(dossier, row, Outcome.APPLIED);
                    yield null;
                }
                case Decision.Unchanged ignored -> {
                    tally.countUnchanged();
                    settle(dossier, before.row(), Outcome.UNCHANGED);
                    yield null;
                }
                case Decision.Claim claim -> new Wait.ForGrant(claim.handle(), event.eventId(), claimant(event));
                case Decision.Refused refused -> {
                    long since = dossier.since();
                    if (isRegistrysWord(refused.refusal(), misplaced) && now() - since < GRACE.toMillis()) {
                        // Another machine's clock may have run ahead when the event came.
                        yield new Wait.ForDeclaration(Math.min(since, now()) + GRACE.toMillis());
                    }
                    refuse(dossier, event.eventId(), refused.refusal());
                    yield null;
                }
            };
        }

        /** Brings the pURI's document, and the text that is kept for it, to where the event left them. */
        private void follow(Dossier dossier, DocumentFate fate) {
            switch (fate) {
                case DocumentFate.None ignored -> {}
                case DocumentFate.Written written -> {
                    texts.put(dossier.storeKey(), AttributesCodec.encode(written.attributes()));
                    document(dossier, encoded(dossier, written.row(), written.attributes()));
                }
                case DocumentFate.Renewed renewed -> {
                    byte[] text = texts.get(dossier.storeKey());
                    if (text == null) {
                        throw new IllegalStateException("the text of " + dossier.puri() + " is lost");
                    }
                    document(dossier, encoded(dossier, renewed.row(), AttributesCodec.decode(text)));
                }
                case DocumentFate.Gone ignored -> {
                    // The same tombstone as delete(), without the look at what was there.
                    texts.put(dossier.storeKey(), null);
                    document(dossier, null);
                }
            }
        }

        private byte[] encoded(Dossier dossier, Row row, Map<String, String> attributes) {
            return encoder.document(new Document(
                    row.owner(),
                    row.shard(),
                    row.handle(),
                    row.status(),
                    row.mergedInto(),
                    attributes,
                    dossier.arrival().position()));
        }

        private void document(Dossier dossier, byte @Nullable [] value) {
            forward(Output.DOCUMENTS, dossier.key(), value, new RecordHeaders(new Header[] {place(dossier)}));
        }

        /** Whether the event fails only on what is declared, which may be about to change. */
        private static boolean isRegistrysWord(Refusal refusal, @Nullable Refusal misplaced) {
            return refusal == misplaced
                    || refusal.reason() == Reason.NOT_ALLOWED
                    || refusal.reason() == Reason.WRONG_PREFIX;
        }

        private static UuidHash claimant(Event event) {
            if (event.change() instanceof Change.Created created) {
                return UuidHash.of(event.puri(), created.uuid());
            }
            throw new IllegalStateException("only a creation claims a handle");
        }

        private void refuse(Dossier dossier, @Nullable UUID eventId, Refusal refusal) {
            reject(dossier.arrival(), dossier.puri(), eventId, refusal);
            // Anybody may write to a topic that is not its namespace's. A record of identities for that would hide from
            // servers which of the row's own events were answered.
            String topic = dossier.arrival().position().topic();
            if (collections.objectionTo(dossier.puri(), topic) == null) {
                settle(dossier, before(dossier).row(), Outcome.refused(refusal.reason()));
            }
        }

        /** Refuses what has no pURI of this partition, so that no row can answer it. */
        private void refuseStray(Arrival arrival, @Nullable Puri puri, String detail) {
            reject(arrival, puri, null, Refusal.of(Reason.MALFORMED, detail));
        }

        private void reject(Arrival arrival, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal) {
            tally.countRefused();
            byte[] rejection = encoder.rejection(arrival, puri, eventId, refusal, now());
            forward(Output.REJECTIONS, arrival.key(), rejection, new RecordHeaders());
        }

        /**
         * Writes the one record of identities for this event: the row as it is now, and what became of the event. Of an
         * erasure, and of an event that changed nothing about one, the readers of rejections are told too.
         */
        private void settle(Dossier dossier, @Nullable Row row, Outcome outcome) {
            RecordHeaders headers = new RecordHeaders(new Header[] {place(dossier), header(outcome)});
            forward(Output.IDENTITIES, dossier.key(), row == null ? null : encoder.row(row), headers);
            if (row == null && outcome.kind() != Outcome.Kind.REFUSED) {
                // Servers read this topic again at every start: a snapshot of theirs may be younger than the erasure.
                RecordHeaders erasure = new RecordHeaders(headers);
                // The topic's own timestamps are the broker's.
                erasure.add(Erasure.TIME_HEADER, Texts.utf8(Long.toString(now())));
                forward(Output.REJECTIONS, dossier.key(), null, erasure);
            }
        }

        private static Header place(Dossier dossier) {
            return new RecordHeader(
                    Position.HEADER, Texts.utf8(dossier.arrival().position().toString()));
        }

        private static Header header(Outcome outcome) {
            return outcome.equals(Outcome.APPLIED)
                    ? APPLIED
                    : new RecordHeader(Outcome.HEADER, Texts.utf8(outcome.toString()));
        }

        private void ask(Puri puri, Wait wait) {
            if (wait instanceof Wait.ForGrant claim) {
                byte[] question = new Claim(puri, claim.eventId(), claim.claimant()).toBytes();
                forward(Output.CLAIMS, Texts.utf8(claim.handle().text()), question, new RecordHeaders());
            }
        }

        private void takeGrant(Record<byte[], byte[]> record, RecordMetadata from) {
            Grant grant;
            try {
                grant = Grant.fromBytes(record.value());
            } catch (IllegalArgumentException e) {
                skipped.skip(from, String.valueOf(e.getMessage()));
                return;
            }
            budget = MOST_PER_CALL;
            Puri puri = EventEdge.canonicalKey(record.key());
            if (puri != null && parking.waitOf(puri) == Wait.ITS_TURN) {
                resume(puri, ClerkAnswer.UNASKED);
            }
            if (puri != null && parking.waitOf(puri) instanceof Wait.ForGrant claim && claim.isAnsweredBy(grant)) {
                resume(puri, grant.isGranted() ? ClerkAnswer.GRANTED : ClerkAnswer.TAKEN);
            } else {
                tally.countStrayGrant();
            }
            keepTally();
        }

        /** Takes a queue up from its head, until it is empty, has to wait again, or the budget is spent. */
        private void resume(Puri puri, ClerkAnswer answer) {
            ClerkAnswer clerk = answer;
            for (Dossier head = parking.head(puri); head != null; head = parking.head(puri)) {
                // An answer that is in hand is used, for it would be lost.
                boolean mayGoOn = budget > 0 || clerk != ClerkAnswer.UNASKED;
                budget--;
                Wait wait = mayGoOn ? decide(head, clerk) : Wait.ITS_TURN;
                if (wait != null) {
                    parking.keepWaiting(puri, wait, now());
                    ask(puri, wait);
                    return;
                }
                parking.removeHead(puri);
                tally.countUnparked();
                clerk = ClerkAnswer.UNASKED;
            }
        }

        private void tick(long now) {
            budget = MOST_PER_CALL;
            long version = collections.version();
            if (version != collectionsSeen) {
                parking.lookAgainAtDeclarations();
                collectionsSeen = version;
            }
            resumeAll(parking.turns(budget));
            resumeAll(parking.askedBy(now - ASK_AGAIN.toMillis(), budget));
            resumeAll(parking.declarationsDueBy(now, budget));
            resumeAll(parking.waitingForSchemas(budget));
            keepTally();
        }

        private void resumeAll(List<Puri> queues) {
            for (Puri puri : queues) {
                if (budget <= 0) {
                    return;
                }
                resume(puri, ClerkAnswer.UNASKED);
            }
        }

        private void mark(long now) {
            if (!Marker.isDue(tallyStore, now)) {
                return;
            }
            Puri marker = Marker.puri(partition, partitions);
            registrations.put(StoreKey.of(marker), RegistrationCodec.encode(Registration.NONE));
            texts.put(StoreKey.of(marker), null);
            parking.mark(marker);
            forward(Output.IDENTITIES, marker.toBytes(), null, new RecordHeaders());
            forward(Output.DOCUMENTS, marker.toBytes(), null, new RecordHeaders());
            Marker.keep(tallyStore, now);
        }

        private Registration before(Dossier dossier) {
            Registration known = dossier.before();
            if (known != null) {
                return known;
            }
            byte[] stored = registrations.get(dossier.storeKey());
            Registration found = stored == null ? Registration.NONE : RegistrationCodec.decode(stored);
            dossier.found(found);
            return found;
        }

        private void forward(Output to, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders headers) {
            context.forward(new Record<>(key, value, now(), headers), to.node());
        }

        private void keepTally() {
            Tally now = tally.tally();
            if (now.equals(kept)) {
                // An idle task must not write, or every tick would cost a transaction.
                return;
            }
            if (!now.isBalanced()) {
                throw new IllegalStateException("an event is unaccounted for: " + now);
            }
            tallyStore.put(TALLY_KEY, now.toBytes());
            tallies.put(partition, now);
            kept = now;
        }

        private long now() {
            return context.currentSystemTimeMs();
        }
    }
}
