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
 * Decides the events of its partition's pURIs in log order. It is the only writer of rows, documents and rejections.
 *
 * <p>The registrar parks an event that it cannot decide yet: the clerk has not granted its handle, the schema registry
 * has not returned its schema, or its collection is not declared. Later events of the same pURI queue behind it ({@link
 * Parking}), so no event overtakes another. A grant or a tick resumes the queue from its head.
 *
 * <p>{@code settle} writes exactly one identities record for every event whose pURI belongs to this partition and whose
 * topic is that of the pURI's namespace. An applied event may also change the pURI's document ({@link DocumentUpdate}).
 * The registration says whether there is a document, so events of collections that are not searchable read no text.
 */
final class Registrar implements Processor<byte[], byte[], byte[], byte[]> {
    /** How long an event waits for a declaration that would allow it. */
    static final Duration GRACE = Duration.ofSeconds(5);

    /** After this time a claim is sent again, in case the grant was lost; a grant normally takes two commits. */
    static final Duration CLAIM_RETRY = Duration.ofSeconds(30);

    static final Duration TICK = Duration.ofMillis(100);

    /**
     * The most events that one call settles from queues, so that a long queue does not exceed the transaction time-out.
     */
    private static final int MAX_PER_CALL = 1000;

    private static final byte[] COUNTS_KEY = {0};

    private static final Header APPLIED = new RecordHeader(Outcome.HEADER, TextCodec.utf8(Outcome.APPLIED.toString()));

    private final EventParser parser;
    private final CollectionsRegistry collections;
    private final OutputEncoder encoder;
    private final TaskCounts taskCounts;
    private final SkippedRecords skipped;
    private final int partitions;

    private @Nullable Task task;

    /**
     * @param partitions number of partitions of the events topic, to detect events in a wrong partition
     */
    Registrar(
            EventParser parser,
            CollectionsRegistry collections,
            OutputEncoder encoder,
            TaskCounts taskCounts,
            SkippedRecords skipped,
            int partitions) {
        this.parser = parser;
        this.collections = collections;
        this.encoder = encoder;
        this.taskCounts = taskCounts;
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
        Initialized.require(task).process(record);
    }

    @Override
    public void close() {
        stop();
    }

    /** Cancels the punctuations, which Kafka Streams would keep when it revives the task. */
    private void stop() {
        if (task != null) {
            taskCounts.remove(task.partition);
            task.punctuations.forEach(Cancellable::cancel);
            task = null;
        }
    }

    /** State between {@code init} and {@code close}. A revived task gets a new one, built from the stores. */
    private final class Task {
        private final ProcessorContext<byte[], byte[]> context;
        private final int partition;
        private final KeyValueStore<byte[], byte[]> registrations;
        private final KeyValueStore<byte[], byte[]> texts;
        private final KeyValueStore<byte[], byte[]> countsStore;
        private final Parking parking;
        private final List<Cancellable> punctuations;
        private final EventCounts.Counter counter;
        private EventCounts savedCounts;
        private long collectionsVersion;
        private int budget;

        Task(ProcessorContext<byte[], byte[]> context) {
            this.context = context;
            this.partition = context.taskId().partition();
            this.registrations = context.getStateStore(RegistryTopology.REGISTRATIONS_STORE);
            this.texts = context.getStateStore(RegistryTopology.TEXTS_STORE);
            this.countsStore = context.getStateStore(RegistryTopology.COUNTS_STORE);
            this.parking = new Parking(context.getStateStore(RegistryTopology.PARKED_STORE));
            byte[] stored = countsStore.get(COUNTS_KEY);
            this.savedCounts = stored == null ? EventCounts.NONE : EventCounts.fromBytes(stored);
            this.counter = new EventCounts.Counter(savedCounts);
            taskCounts.put(partition, savedCounts);
            this.punctuations = List.of(
                    context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, this::tick),
                    context.schedule(Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, this::writeMarker));
        }

        void process(Record<byte[], byte[]> record) {
            RecordMetadata metadata =
                    context.recordMetadata().orElseThrow(() -> new IllegalStateException("the record has no topic"));
            if (metadata.topic().equals(Topics.GRANTS)) {
                processGrant(record, metadata);
                return;
            }
            boolean isDirect = metadata.topic().equals(Topics.EVENTS);
            RawEvent raw = isDirect
                    ? RawEvent.of(
                            new Position(metadata.topic(), metadata.partition(), metadata.offset()),
                            record.key(),
                            record.value())
                    : fromIntake(record, metadata);
            if (raw != null) {
                processEvent(raw, isDirect);
                saveCounts();
            }
        }

        /** Reads a record of the intake topic; null if the intake stage did not write it. */
        private @Nullable RawEvent fromIntake(Record<byte[], byte[]> record, RecordMetadata metadata) {
            try {
                return RawEvent.fromIntake(record.key(), record.value(), record.headers());
            } catch (IllegalArgumentException e) {
                skipped.skip(metadata, String.valueOf(e.getMessage()));
                return null;
            }
        }

        private void processEvent(RawEvent raw, boolean isDirect) {
            counter.countRead();
            Puri puri = EventParser.canonicalKey(raw.key());
            if (puri == null) {
                refuseMisdirected(raw, EventParser.puriOf(raw.key()), EventParser.objectionToKey(raw.key()));
            } else if (isDirect && PuriPartitioner.partition(puri, partitions) != partition) {
                // Settling the event here would overwrite the row that the right partition wrote.
                refuseMisdirected(
                        raw,
                        puri,
                        "the event belongs in partition " + PuriPartitioner.partition(puri, partitions)
                                + " and came in "
                                + partition
                                + "; set the producer's partitioner to murmur2 over the key, Kafka's default"
                                + " (librdkafka: partitioner=murmur2_random)");
            } else if (parking.hasQueue(puri)) {
                parking.append(puri, raw, now());
                counter.countParked();
            } else {
                PendingEvent pending = new PendingEvent(puri, raw, now());
                WaitReason reason = decide(pending, ClerkAnswer.UNASKED);
                if (reason != null) {
                    parking.parkFirst(pending, reason);
                    counter.countParked();
                    sendClaim(puri, reason);
                }
            }
        }

        /** Settles the event and returns null, or returns why it has to wait. */
        private @Nullable WaitReason decide(PendingEvent pending, ClerkAnswer clerk) {
            Event event = pending.event();
            if (event != null) {
                return decide(pending, event, clerk);
            }
            return switch (parser.parse(pending.puri(), pending.raw())) {
                case EventParser.SchemaPending ignored -> WaitReason.FOR_SCHEMA;
                case EventParser.Invalid invalid -> {
                    refuse(pending, null, invalid.refusal());
                    yield null;
                }
                case EventParser.Parsed parsed -> {
                    pending.setEvent(parsed.event());
                    yield decide(pending, parsed.event(), clerk);
                }
            };
        }

        private @Nullable WaitReason decide(PendingEvent pending, Event event, ClerkAnswer clerk) {
            Puri puri = pending.puri();
            Position position = pending.raw().position();
            Registration before = registrationOf(pending);
            Refusal misplaced = collections.objectionTo(puri, position.topic());
            Refusal objection = misplaced != null ? misplaced : AttributeBounds.objectionTo(event.change());
            CollectionRules rules = collections.rulesOf(puri);
            Decision decision = objection != null
                    ? new Decision.Refused(objection)
                    : Registration.fold(before, event, position, rules, clerk);
            return switch (decision) {
                case Decision.Applied applied -> {
                    Row row = applied.registration().row();
                    DocumentUpdate update =
                            DocumentUpdate.of(before.hasDocument(), event.change(), row, rules.isSearchable());
                    Registration after = applied.registration().withDocument(update.leavesDocument());
                    registrations.put(pending.storeKey(), RegistrationCodec.encode(after));
                    updateDocument(pending, update);
                    counter.countApplied();
                    settle(pending, row, Outcome.APPLIED);
                    yield null;
                }
                case Decision.Unchanged ignored -> {
                    counter.countUnchanged();
                    settle(pending, before.row(), Outcome.UNCHANGED);
                    yield null;
                }
                case Decision.Claim claim -> new WaitReason.ForGrant(claim.handle(), event.eventId(), claimant(event));
                case Decision.Refused refused -> {
                    long since = pending.receivedAt();
                    if (dependsOnDeclarations(refused.refusal(), misplaced) && now() - since < GRACE.toMillis()) {
                        // min(): another instance, whose clock is ahead, may have stored receivedAt.
                        yield new WaitReason.ForDeclaration(Math.min(since, now()) + GRACE.toMillis());
                    }
                    refuse(pending, event.eventId(), refused.refusal());
                    yield null;
                }
            };
        }

        /** Updates the pURI's document and its stored text. */
        private void updateDocument(PendingEvent pending, DocumentUpdate update) {
            switch (update) {
                case DocumentUpdate.None ignored -> {}
                case DocumentUpdate.Write write -> {
                    texts.put(pending.storeKey(), AttributesCodec.encode(write.attributes()));
                    forwardDocument(pending, encodeDocument(pending, write.row(), write.attributes()));
                }
                case DocumentUpdate.Rewrite rewrite -> {
                    byte[] text = texts.get(pending.storeKey());
                    if (text == null) {
                        throw new IllegalStateException("the text of " + pending.puri() + " is lost");
                    }
                    forwardDocument(pending, encodeDocument(pending, rewrite.row(), AttributesCodec.decode(text)));
                }
                case DocumentUpdate.Delete ignored -> {
                    // Writes the same tombstone as delete(), but does not read the old value first.
                    texts.put(pending.storeKey(), null);
                    forwardDocument(pending, null);
                }
            }
        }

        private byte[] encodeDocument(PendingEvent pending, Row row, Map<String, String> attributes) {
            return encoder.document(new Document(
                    row.owner(),
                    row.shard(),
                    row.handle(),
                    row.status(),
                    row.mergedInto(),
                    attributes,
                    pending.raw().position()));
        }

        private void forwardDocument(PendingEvent pending, byte @Nullable [] value) {
            forward(OutputTopic.DOCUMENTS, pending.key(), value, new RecordHeaders(new Header[] {positionHeader(pending)
            }));
        }

        /** Whether a declaration that this instance has not read yet could allow the event. */
        private static boolean dependsOnDeclarations(Refusal refusal, @Nullable Refusal misplaced) {
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

        private void refuse(PendingEvent pending, @Nullable UUID eventId, Refusal refusal) {
            reject(pending.raw(), pending.puri(), eventId, refusal);
            // Any service may write to another namespace's topic. An identities record for such an event would hide
            // from servers which events of the right topic are settled.
            String topic = pending.raw().position().topic();
            if (collections.objectionTo(pending.puri(), topic) == null) {
                settle(pending, registrationOf(pending).row(), Outcome.refused(refusal.reason()));
            }
        }

        /** Refuses a record whose key is not a pURI of this partition; it writes no identities record. */
        private void refuseMisdirected(RawEvent raw, @Nullable Puri puri, String detail) {
            reject(raw, puri, null, Refusal.of(Reason.MALFORMED, detail));
        }

        private void reject(RawEvent raw, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal) {
            counter.countRefused();
            byte[] rejection = encoder.rejection(raw, puri, eventId, refusal, now());
            forward(OutputTopic.REJECTIONS, raw.key(), rejection, new RecordHeaders());
        }

        /**
         * Writes the identities record of this event: the current row, and the outcome in a header. If the row is
         * erased, and the event was not refused, a tombstone in rejections follows.
         */
        private void settle(PendingEvent pending, @Nullable Row row, Outcome outcome) {
            RecordHeaders headers = new RecordHeaders(new Header[] {positionHeader(pending), outcomeHeader(outcome)});
            forward(OutputTopic.IDENTITIES, pending.key(), row == null ? null : encoder.row(row), headers);
            if (row == null && outcome.kind() != Outcome.Kind.REFUSED) {
                // Servers read rejections again at every start; their snapshot of the table may be younger than the
                // erasure.
                RecordHeaders erasure = new RecordHeaders(headers);
                // The record's timestamp is the broker's, because the topic has LogAppendTime.
                erasure.add(Erasure.TIME_HEADER, TextCodec.utf8(Long.toString(now())));
                forward(OutputTopic.REJECTIONS, pending.key(), null, erasure);
            }
        }

        private static Header positionHeader(PendingEvent pending) {
            return new RecordHeader(
                    Position.HEADER, TextCodec.utf8(pending.raw().position().toString()));
        }

        private static Header outcomeHeader(Outcome outcome) {
            return outcome.equals(Outcome.APPLIED)
                    ? APPLIED
                    : new RecordHeader(Outcome.HEADER, TextCodec.utf8(outcome.toString()));
        }

        private void sendClaim(Puri puri, WaitReason reason) {
            if (reason instanceof WaitReason.ForGrant claim) {
                byte[] value = new Claim(puri, claim.eventId(), claim.claimant()).toBytes();
                forward(OutputTopic.CLAIMS, TextCodec.utf8(claim.handle().text()), value, new RecordHeaders());
            }
        }

        private void processGrant(Record<byte[], byte[]> record, RecordMetadata metadata) {
            Grant grant;
            try {
                grant = Grant.fromBytes(record.value());
            } catch (IllegalArgumentException e) {
                skipped.skip(metadata, String.valueOf(e.getMessage()));
                return;
            }
            budget = MAX_PER_CALL;
            Puri puri = EventParser.canonicalKey(record.key());
            if (puri != null && parking.reasonOf(puri) == WaitReason.FOR_NEXT_TICK) {
                resume(puri, ClerkAnswer.UNASKED);
            }
            if (puri != null
                    && parking.reasonOf(puri) instanceof WaitReason.ForGrant claim
                    && claim.isAnsweredBy(grant)) {
                resume(puri, grant.isGranted() ? ClerkAnswer.GRANTED : ClerkAnswer.TAKEN);
            } else {
                counter.countStrayGrant();
            }
            saveCounts();
        }

        /** Processes a queue from its head until it is empty, its head has to wait, or the budget is spent. */
        private void resume(Puri puri, ClerkAnswer answer) {
            ClerkAnswer clerk = answer;
            for (PendingEvent head = parking.head(puri); head != null; head = parking.head(puri)) {
                // A grant must be used even without budget, because it is not delivered again.
                boolean mayContinue = budget > 0 || clerk != ClerkAnswer.UNASKED;
                budget--;
                WaitReason reason = mayContinue ? decide(head, clerk) : WaitReason.FOR_NEXT_TICK;
                if (reason != null) {
                    parking.setReason(puri, reason, now());
                    sendClaim(puri, reason);
                    return;
                }
                parking.removeHead(puri);
                counter.countUnparked();
                clerk = ClerkAnswer.UNASKED;
            }
        }

        private void tick(long now) {
            budget = MAX_PER_CALL;
            long version = collections.version();
            if (version != collectionsVersion) {
                parking.recheckDeclarations();
                collectionsVersion = version;
            }
            resumeAll(parking.dueNow(budget));
            resumeAll(parking.claimedBefore(now - CLAIM_RETRY.toMillis(), budget));
            resumeAll(parking.declarationDeadlinesBefore(now, budget));
            resumeAll(parking.waitingForSchemas(budget));
            saveCounts();
        }

        private void resumeAll(List<Puri> queues) {
            for (Puri puri : queues) {
                if (budget <= 0) {
                    return;
                }
                resume(puri, ClerkAnswer.UNASKED);
            }
        }

        private void writeMarker(long now) {
            if (!PartitionMarker.isDue(countsStore, now)) {
                return;
            }
            Puri marker = PartitionMarker.puri(partition, partitions);
            registrations.put(StoreKey.of(marker), RegistrationCodec.encode(Registration.NONE));
            texts.put(StoreKey.of(marker), null);
            parking.writeMarker(marker);
            forward(OutputTopic.IDENTITIES, marker.toBytes(), null, new RecordHeaders());
            forward(OutputTopic.DOCUMENTS, marker.toBytes(), null, new RecordHeaders());
            PartitionMarker.recordWritten(countsStore, now);
        }

        private Registration registrationOf(PendingEvent pending) {
            Registration known = pending.registration();
            if (known != null) {
                return known;
            }
            byte[] stored = registrations.get(pending.storeKey());
            Registration found = stored == null ? Registration.NONE : RegistrationCodec.decode(stored);
            pending.setRegistration(found);
            return found;
        }

        private void forward(OutputTopic to, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders headers) {
            context.forward(new Record<>(key, value, now(), headers), to.node());
        }

        private void saveCounts() {
            EventCounts counts = counter.counts();
            if (counts.equals(savedCounts)) {
                // A write at every tick would make an idle task commit a transaction each time.
                return;
            }
            if (!counts.isBalanced()) {
                throw new IllegalStateException("an event is unaccounted for: " + counts);
            }
            countsStore.put(COUNTS_KEY, counts.toBytes());
            taskCounts.put(partition, counts);
            savedCounts = counts;
        }

        private long now() {
            return context.currentSystemTimeMs();
        }
    }
}
