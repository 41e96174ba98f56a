package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
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
 * Decides the events of the pURIs of its partition, in log order. It is the only writer of rows, documents and
 * rejections.
 *
 * <p>The registrar parks an event that it cannot decide yet, because the clerk has not answered the claim of its
 * handle, the schema registry has not returned its schema, or its collection is not declared. Later events of the same
 * pURI queue behind the parked event ({@link Parking}), so the events of a pURI are decided in order. A grant or a tick
 * resumes the queue at its head.
 *
 * <p>The registrar writes exactly one record to the identities topic for each event whose partition is right for its
 * pURI and whose topic is right for its namespace. Other events are refused and get only a rejection.
 *
 * <p>An applied event may also change the document of the pURI ({@link DocumentUpdate}). The registration says whether
 * there is a document, so events of collections that are not searchable do not access the store of texts.
 *
 * <p>The registrar keeps the digests of the rows and the documents of its partition and publishes them, so that servers
 * can check their copies ({@link dev.puri.schemas.log.PartitionDigest}).
 */
final class Registrar implements Processor<byte[], byte[], byte[], byte[]> {
    /** How long an event waits for a declaration that may allow it. */
    static final Duration DECLARATION_WAIT = Duration.ofSeconds(5);

    /** A claim without a grant is sent again after this time. A grant normally arrives after two commits. */
    static final Duration CLAIM_RETRY = Duration.ofSeconds(30);

    /** Interval at which queues are resumed that no grant resumes. */
    static final Duration TICK_INTERVAL = Duration.ofMillis(100);

    /** The digests are published when the last change is this old, so that servers can check their copies at rest. */
    static final Duration DIGEST_REST = Duration.ofSeconds(1);

    /** The digests are also published at this interval, for servers that start and while events arrive without pause. */
    static final Duration DIGEST_INTERVAL = Duration.ofMinutes(1);

    /**
     * Maximum number of parked events that one tick or one grant decides. It keeps the transaction shorter than its
     * time-out.
     */
    private static final int MAX_DECISIONS_PER_CALL = 1000;

    private static final byte[] STATE_KEY = {0};

    private static final Header APPLIED_HEADER =
            new RecordHeader(Outcome.HEADER, TextCodec.utf8(Outcome.APPLIED.toString()));

    private final EventParser parser;
    private final CollectionsRegistry collections;
    private final OutputEncoder encoder;
    private final TaskStates taskStates;
    private final SkippedRecords skippedRecords;
    private final int partitions;

    private @Nullable Task task;

    /**
     * @param partitions number of partitions of the events topic; used to detect events in a wrong partition
     */
    Registrar(
            EventParser parser,
            CollectionsRegistry collections,
            OutputEncoder encoder,
            TaskStates taskStates,
            SkippedRecords skippedRecords,
            int partitions) {
        this.parser = parser;
        this.collections = collections;
        this.encoder = encoder;
        this.taskStates = taskStates;
        this.skippedRecords = skippedRecords;
        this.partitions = partitions;
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
        closeTask();
        task = new Task(context);
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        Initialized.require(task).process(record);
    }

    @Override
    public void close() {
        closeTask();
    }

    /** Cancels the punctuations. Otherwise they would run on when Kafka Streams revives the task. */
    private void closeTask() {
        if (task != null) {
            taskStates.remove(task.partition);
            task.cancelPunctuations();
            task = null;
        }
    }

    /** The state between {@code init} and {@code close}. A revived task gets a new instance, built from the stores. */
    private final class Task {
        private final ProcessorContext<byte[], byte[]> context;
        private final int partition;
        private final KeyValueStore<byte[], byte[]> registrations;
        private final KeyValueStore<byte[], byte[]> texts;
        private final KeyValueStore<byte[], byte[]> countsStore;
        private final Parking parking;
        private final List<Cancellable> punctuations;
        private final EventCounts.Counter counter;
        private final Puri marker;
        private EventCounts savedCounts;
        private @Nullable Cancellable ticks;

        /** Null if the stored state has none; see {@link TaskState}. */
        private @Nullable TaskDigests digests;

        private boolean hasUnpublishedChange;
        private long lastChangeAt;

        private long checkedCollectionsVersion;

        /** How many parked events the current call may still decide. */
        private int decisionBudget;

        Task(ProcessorContext<byte[], byte[]> context) {
            this.context = context;
            this.partition = context.taskId().partition();
            this.registrations = context.getStateStore(RegistryTopology.REGISTRATIONS_STORE);
            this.texts = context.getStateStore(RegistryTopology.TEXTS_STORE);
            this.countsStore = context.getStateStore(RegistryTopology.COUNTS_STORE);
            this.parking = new Parking(context.getStateStore(RegistryTopology.PARKED_STORE));
            byte[] stored = countsStore.get(STATE_KEY);
            TaskState state = stored == null ? TaskState.NEW : TaskState.fromBytes(stored);
            this.savedCounts = state.counts();
            this.counter = new EventCounts.Counter(savedCounts);
            this.digests = state.digests();
            this.marker = PartitionMarker.puri(partition, partitions);
            taskStates.put(partition, state);
            this.punctuations = List.of(
                    context.schedule(DIGEST_INTERVAL, PunctuationType.WALL_CLOCK_TIME, now -> publishDigests()),
                    context.schedule(Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, this::writeMarker));
            // The task may have moved here before its last change was published.
            onChange();
            startTicks();
        }

        void process(Record<byte[], byte[]> record) {
            RecordMetadata metadata =
                    context.recordMetadata().orElseThrow(() -> new IllegalStateException("the record has no topic"));
            if (metadata.topic().equals(Topics.GRANTS)) {
                processGrant(record, metadata);
                startTicks();
                return;
            }
            boolean isFromEventsTopic = metadata.topic().equals(Topics.EVENTS);
            RawEvent raw = isFromEventsTopic
                    ? RawEvent.of(
                            new Position(metadata.topic(), metadata.partition(), metadata.offset()),
                            record.key(),
                            record.value())
                    : readIntake(record, metadata);
            if (raw != null) {
                processEvent(raw, isFromEventsTopic);
                saveState();
                startTicks();
            }
        }

        /**
         * Reads a record of the intake topic. Returns null and skips the record if the intake stage did not write it.
         */
        private @Nullable RawEvent readIntake(Record<byte[], byte[]> record, RecordMetadata metadata) {
            try {
                return RawEvent.fromIntake(record.key(), record.value(), record.headers());
            } catch (IllegalArgumentException e) {
                skippedRecords.skip(metadata, String.valueOf(e.getMessage()));
                return null;
            }
        }

        private void processEvent(RawEvent raw, boolean isFromEventsTopic) {
            counter.countRead();
            Puri puri = EventParser.canonicalKey(raw.key());
            if (puri == null) {
                refuseMisdirected(raw, EventParser.puriOf(raw.key()), EventParser.objectionToKey(raw.key()));
            } else if (isFromEventsTopic && PuriPartitioner.partition(puri, partitions) != partition) {
                // An identities record for this event would overwrite the row that the right partition wrote.
                refuseMisdirected(
                        raw,
                        puri,
                        "the event belongs in partition " + PuriPartitioner.partition(puri, partitions)
                                + " but was written to partition "
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

        /** Decides the event, writes its outcome and returns null, or returns why the event has to wait. */
        private @Nullable WaitReason decide(PendingEvent pending, ClerkAnswer clerkAnswer) {
            Event event = pending.event();
            if (event != null) {
                return decide(pending, event, clerkAnswer);
            }
            return switch (parser.parse(pending.puri(), pending.raw())) {
                case EventParser.SchemaPending ignored -> WaitReason.FOR_SCHEMA;
                case EventParser.Invalid invalid -> {
                    refuse(pending, null, invalid.refusal());
                    yield null;
                }
                case EventParser.Parsed parsed -> {
                    pending.setEvent(parsed.event());
                    yield decide(pending, parsed.event(), clerkAnswer);
                }
            };
        }

        private @Nullable WaitReason decide(PendingEvent pending, Event event, ClerkAnswer clerkAnswer) {
            Puri puri = pending.puri();
            Position position = pending.raw().position();
            Registration before = registrationOf(pending);
            Refusal topicObjection = collections.objectionTo(puri, position.topic());
            Refusal objection = topicObjection != null ? topicObjection : AttributeBounds.objectionTo(event.change());
            CollectionRules rules = collections.rulesOf(puri);
            Decision decision = objection != null
                    ? new Decision.Refused(objection)
                    : Registration.fold(before, event, position, rules, clerkAnswer);
            return switch (decision) {
                case Decision.Applied applied -> {
                    Row row = applied.registration().row();
                    DocumentUpdate update =
                            DocumentUpdate.of(before.hasDocument(), event.change(), row, rules.isSearchable());
                    Registration after = applied.registration().withDocument(update.leavesDocument());
                    registrations.put(pending.storeKey(), RegistrationCodec.encode(after));
                    updateDocument(pending, before, update);
                    counter.countApplied();
                    writeOutcome(pending, row, Outcome.APPLIED);
                    if (digests != null) {
                        digests = digests.withRow(puri, before.row(), row);
                        onChange();
                    }
                    yield null;
                }
                case Decision.Unchanged ignored -> {
                    counter.countUnchanged();
                    writeOutcome(pending, before.row(), Outcome.UNCHANGED);
                    yield null;
                }
                case Decision.Claim claim -> new WaitReason.ForGrant(claim.handle(), event.eventId(), claimant(event));
                case Decision.Refused refused -> {
                    long receivedAt = pending.receivedAt();
                    if (dependsOnDeclarations(refused.refusal(), topicObjection)
                            && now() - receivedAt < DECLARATION_WAIT.toMillis()) {
                        // min(), because another instance with a clock ahead of ours may have stored receivedAt.
                        yield new WaitReason.ForDeclaration(Math.min(receivedAt, now()) + DECLARATION_WAIT.toMillis());
                    }
                    refuse(pending, event.eventId(), refused.refusal());
                    yield null;
                }
            };
        }

        /** Writes the pURI's document and its stored text, or deletes both. */
        private void updateDocument(PendingEvent pending, Registration before, DocumentUpdate update) {
            switch (update) {
                case DocumentUpdate.None ignored -> {}
                case DocumentUpdate.Write write -> {
                    Document old = digestedDocument(pending, before);
                    texts.put(pending.storeKey(), AttributesCodec.encode(write.attributes()));
                    writeDocument(pending, old, document(pending, write.row(), write.attributes()));
                }
                case DocumentUpdate.Rewrite rewrite -> {
                    Map<String, String> attributes = textOf(pending);
                    Document old = document(pending, rowOf(before), attributes);
                    writeDocument(pending, old, document(pending, rewrite.row(), attributes));
                }
                case DocumentUpdate.Delete ignored -> {
                    Document old = digestedDocument(pending, before);
                    // delete() writes the same tombstone, but reads the old value first.
                    texts.put(pending.storeKey(), null);
                    writeDocument(pending, old, null);
                }
            }
        }

        /**
         * Returns the pURI's document before the event, to subtract it from the digest. Returns null if there is none,
         * or if the task has no digests. An applied event that changes a row also writes or deletes the document, so the
         * document has the owner, the shard, the handle and the status of the row.
         */
        private @Nullable Document digestedDocument(PendingEvent pending, Registration before) {
            return digests == null || !before.hasDocument() ? null : document(pending, rowOf(before), textOf(pending));
        }

        private static Row rowOf(Registration registration) {
            Row row = registration.row();
            if (row == null) {
                throw new IllegalStateException("a registration without a row has a document");
            }
            return row;
        }

        private Map<String, String> textOf(PendingEvent pending) {
            byte[] text = texts.get(pending.storeKey());
            if (text == null) {
                throw new IllegalStateException(
                        pending.puri() + " has a document, but its text is missing in the store");
            }
            return AttributesCodec.decode(text);
        }

        private static Document document(PendingEvent pending, Row row, Map<String, String> attributes) {
            return new Document(
                    row.owner(),
                    row.shard(),
                    row.handle(),
                    row.status(),
                    row.mergedInto(),
                    attributes,
                    pending.raw().position());
        }

        private void writeDocument(PendingEvent pending, @Nullable Document old, @Nullable Document document) {
            if (digests != null) {
                digests = digests.withDocument(pending.puri(), old, document);
            }
            forwardDocument(pending, document == null ? null : encoder.document(document));
        }

        private void forwardDocument(PendingEvent pending, byte @Nullable [] value) {
            forward(OutputTopic.DOCUMENTS, pending.key(), value, new RecordHeaders(new Header[] {positionHeader(pending)
            }));
        }

        /** Whether a declaration that this instance has not read yet could allow the event. */
        private static boolean dependsOnDeclarations(Refusal refusal, @Nullable Refusal topicObjection) {
            return refusal == topicObjection
                    || refusal.reason() == Reason.NOT_ALLOWED
                    || refusal.reason() == Reason.NOT_WRITABLE
                    || refusal.reason() == Reason.WRONG_PREFIX;
        }

        private static IdentityHash claimant(Event event) {
            if (event.change() instanceof Change.Created created) {
                return IdentityHash.of(event.puri(), created.uuid());
            }
            throw new IllegalStateException("only a created event claims a handle");
        }

        private void refuse(PendingEvent pending, @Nullable UUID eventId, Refusal refusal) {
            forwardRejection(pending.raw(), pending.puri(), eventId, refusal);
            // Any service may write to the topic of another namespace. A server keeps one event position for each row.
            // A position in the wrong topic would replace it and hide which events of the right topic are decided.
            String topic = pending.raw().position().topic();
            if (collections.objectionTo(pending.puri(), topic) == null) {
                writeOutcome(pending, registrationOf(pending).row(), Outcome.refused(refusal.reason()));
            }
        }

        /** Refuses a record whose key is not a pURI of this partition, without an identities record. */
        private void refuseMisdirected(RawEvent raw, @Nullable Puri puri, String detail) {
            forwardRejection(raw, puri, null, Refusal.of(Reason.MALFORMED, detail));
        }

        private void forwardRejection(RawEvent raw, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal) {
            counter.countRefused();
            byte[] rejection = encoder.rejection(raw, puri, eventId, refusal, now());
            forward(OutputTopic.REJECTIONS, raw.key(), rejection, new RecordHeaders());
        }

        /**
         * Writes the identities record of an event: the row after the event, with the outcome in a header. An erasure,
         * even a repeated one, also writes a tombstone to the rejections topic.
         */
        private void writeOutcome(PendingEvent pending, @Nullable Row row, Outcome outcome) {
            RecordHeaders headers = new RecordHeaders(new Header[] {positionHeader(pending), outcomeHeader(outcome)});
            forward(OutputTopic.IDENTITIES, pending.key(), row == null ? null : encoder.row(row), headers);
            if (row == null && outcome.kind() != Outcome.Kind.REFUSED) {
                // A server that starts from a snapshot does not read the identities records before the snapshot. But it
                // reads all rejections at each start, so the tombstone tells it that the identity was erased.
                RecordHeaders erasure = new RecordHeaders(headers);
                // A header, because the topic has LogAppendTime: the broker replaces the timestamp of the record.
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
                    ? APPLIED_HEADER
                    : new RecordHeader(Outcome.HEADER, TextCodec.utf8(outcome.toString()));
        }

        private void sendClaim(Puri puri, WaitReason reason) {
            if (reason instanceof WaitReason.ForGrant forGrant) {
                byte[] value = new Claim(puri, forGrant.eventId(), forGrant.claimant()).toBytes();
                forward(OutputTopic.CLAIMS, TextCodec.utf8(forGrant.handle().text()), value, new RecordHeaders());
            }
        }

        private void processGrant(Record<byte[], byte[]> record, RecordMetadata metadata) {
            Grant grant;
            try {
                grant = Grant.fromBytes(record.value());
            } catch (IllegalArgumentException e) {
                skippedRecords.skip(metadata, String.valueOf(e.getMessage()));
                return;
            }
            decisionBudget = MAX_DECISIONS_PER_CALL;
            Puri puri = EventParser.canonicalKey(record.key());
            if (puri != null && parking.reasonOf(puri) == WaitReason.FOR_NEXT_TICK) {
                resume(puri, ClerkAnswer.UNASKED);
            }
            if (puri != null
                    && parking.reasonOf(puri) instanceof WaitReason.ForGrant forGrant
                    && forGrant.isAnsweredBy(grant)) {
                resume(puri, grant.isGranted() ? ClerkAnswer.GRANTED : ClerkAnswer.TAKEN);
            } else {
                counter.countStrayGrant();
            }
            saveState();
        }

        /**
         * Decides the events of a queue from its head until the queue is empty, its head has to wait, or the budget is
         * spent.
         *
         * @param answerToHead the clerk's answer to the claim of the first event
         */
        private void resume(Puri puri, ClerkAnswer answerToHead) {
            ClerkAnswer clerkAnswer = answerToHead;
            for (PendingEvent head = parking.head(puri); head != null; head = parking.head(puri)) {
                // A grant is used even if the budget is spent, because it is not delivered again.
                boolean mayDecide = decisionBudget > 0 || clerkAnswer != ClerkAnswer.UNASKED;
                decisionBudget--;
                WaitReason reason = mayDecide ? decide(head, clerkAnswer) : WaitReason.FOR_NEXT_TICK;
                if (reason != null) {
                    parking.setReason(puri, reason, now());
                    sendClaim(puri, reason);
                    return;
                }
                parking.removeHead(puri);
                counter.countUnparked();
                clerkAnswer = ClerkAnswer.UNASKED;
            }
        }

        private void tick(long now) {
            decisionBudget = MAX_DECISIONS_PER_CALL;
            long version = collections.version();
            if (version != checkedCollectionsVersion) {
                parking.recheckDeclarations();
                checkedCollectionsVersion = version;
            }
            resumeAll(parking.dueNow(decisionBudget));
            resumeAll(parking.claimedUntil(now - CLAIM_RETRY.toMillis(), decisionBudget));
            resumeAll(parking.declarationDeadlinesUntil(now, decisionBudget));
            resumeAll(parking.waitingForSchemas(decisionBudget));
            saveState();
            if (hasUnpublishedChange && now - lastChangeAt >= DIGEST_REST.toMillis()) {
                publishDigests();
            }
            stopTicksIfIdle();
        }

        /** Whether a tick may have something to do before another event or grant arrives. */
        private boolean needsTicks() {
            return !parking.isEmpty() || hasUnpublishedChange;
        }

        private void startTicks() {
            if (ticks == null && needsTicks()) {
                ticks = context.schedule(TICK_INTERVAL, PunctuationType.WALL_CLOCK_TIME, this::tick);
            }
        }

        /** Kafka Streams commits a transaction after each punctuation, even after one that wrote nothing. */
        private void stopTicksIfIdle() {
            if (ticks != null && !needsTicks()) {
                ticks.cancel();
                ticks = null;
            }
        }

        void cancelPunctuations() {
            punctuations.forEach(Cancellable::cancel);
            if (ticks != null) {
                ticks.cancel();
            }
        }

        private void onChange() {
            hasUnpublishedChange = true;
            lastChangeAt = now();
        }

        /** Publishes the digests of all records that were forwarded before. */
        private void publishDigests() {
            TaskDigests current = digests;
            if (current != null) {
                forwardMarker(OutputTopic.IDENTITIES, headers(current.identities()));
                forwardMarker(OutputTopic.DOCUMENTS, headers(current.documents()));
            }
            hasUnpublishedChange = false;
        }

        private static RecordHeaders headers(PartitionDigest digest) {
            return new RecordHeaders(new Header[] {digest.toHeader()});
        }

        private void forwardMarker(OutputTopic output, RecordHeaders headers) {
            forward(output, marker.toBytes(), null, headers);
        }

        private void resumeAll(List<Puri> queues) {
            for (Puri puri : queues) {
                if (decisionBudget <= 0) {
                    return;
                }
                resume(puri, ClerkAnswer.UNASKED);
            }
        }

        private void writeMarker(long now) {
            if (!PartitionMarker.isDue(countsStore, now)) {
                return;
            }
            registrations.put(StoreKey.of(marker), RegistrationCodec.encode(Registration.NONE));
            texts.put(StoreKey.of(marker), null);
            parking.writeMarker(marker);
            if (digests == null) {
                // Digests are markers, too.
                forwardMarker(OutputTopic.IDENTITIES, new RecordHeaders());
                forwardMarker(OutputTopic.DOCUMENTS, new RecordHeaders());
            }
            PartitionMarker.setWrittenAt(countsStore, now);
        }

        private Registration registrationOf(PendingEvent pending) {
            Registration cached = pending.registration();
            if (cached != null) {
                return cached;
            }
            byte[] stored = registrations.get(pending.storeKey());
            Registration registration = stored == null ? Registration.NONE : RegistrationCodec.decode(stored);
            pending.setRegistration(registration);
            return registration;
        }

        private void forward(
                OutputTopic output, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders headers) {
            context.forward(new Record<>(key, value, now(), headers), output.node());
        }

        private void saveState() {
            EventCounts counts = counter.counts();
            if (counts.equals(savedCounts)) {
                // Digests change only with the counts.
                return;
            }
            if (!counts.isBalanced()) {
                throw new IllegalStateException("the event counts do not add up: " + counts);
            }
            TaskState state = new TaskState(counts, digests);
            countsStore.put(STATE_KEY, state.toBytes());
            taskStates.put(partition, state);
            savedCounts = counts;
        }

        private long now() {
            return context.currentSystemTimeMs();
        }
    }
}
