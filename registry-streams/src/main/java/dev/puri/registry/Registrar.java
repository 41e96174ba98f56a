package dev.puri.registry;

import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueIterator;
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
 * <p>An applied event may also change the document of the pURI ({@link DocumentWriter}). The registration says whether
 * there is a document, so events of collections that are not searchable do not access the store of texts.
 *
 * <p>The registrar keeps the digests of the rows and the documents of its partition ({@link DigestState}) and publishes
 * them, so that servers can check their copies ({@link dev.puri.schemas.log.PartitionDigest}).
 */
final class Registrar implements Processor<byte[], byte[], byte[], byte[]> {
    /** How long an event waits for a declaration that may allow it. */
    static final Duration DECLARATION_WAIT = Duration.ofSeconds(5);

    /** A claim without a grant is sent again after this time. A grant normally arrives after two commits. */
    static final Duration CLAIM_RETRY = Duration.ofSeconds(30);

    /** Interval at which queues are resumed that no grant resumes. */
    static final Duration TICK_INTERVAL = Duration.ofMillis(100);

    /**
     * The digests are published at this interval and after {@link DigestState#REST}: for servers that start, and while
     * events arrive without pause.
     */
    static final Duration DIGEST_INTERVAL = Duration.ofMinutes(1);

    /**
     * Maximum number of parked events that one tick or one grant decides. It keeps the transaction shorter than its
     * time-out.
     */
    private static final int MAX_DECISIONS_PER_CALL = 1000;

    private static final byte[] STATE_KEY = {0};

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
        close();
        task = new Task(context);
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        Objects.requireNonNull(task).process(record);
    }

    /** Cancels the punctuations. Otherwise they would run on when Kafka Streams revives the task. */
    @Override
    public void close() {
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
        private final KeyValueStore<byte[], byte[]> countsStore;
        private final Parking parking;
        private final Puri marker;
        private final RegistrarOutput output;
        private final DigestState digests;
        private final DocumentWriter documents;
        private final List<Cancellable> punctuations;
        private EventCounts counts;
        private EventCounts savedCounts;
        private @Nullable Cancellable ticks;
        private long checkedCollectionsVersion;

        /** How many parked events the current call may still decide. */
        private int decisionBudget;

        Task(ProcessorContext<byte[], byte[]> context) {
            this.context = context;
            this.partition = context.taskId().partition();
            this.registrations = context.getStateStore(RegistryTopology.REGISTRATIONS_STORE);
            this.countsStore = context.getStateStore(RegistryTopology.COUNTS_STORE);
            this.parking = new Parking(context.getStateStore(RegistryTopology.PARKED_STORE));
            this.marker = PartitionMarker.puri(partition, partitions);
            this.output = new RegistrarOutput(context, encoder, marker);
            TaskState state = TaskState.restore(countsStore.get(STATE_KEY), hasRegistrations());
            this.savedCounts = state.counts();
            this.counts = savedCounts;
            this.digests = new DigestState(state.digests(), now());
            this.documents = new DocumentWriter(context.getStateStore(RegistryTopology.TEXTS_STORE), digests, output);
            taskStates.put(partition, state);
            this.punctuations = List.of(
                    context.schedule(DIGEST_INTERVAL, PunctuationType.WALL_CLOCK_TIME, now -> publishDigests()),
                    context.schedule(Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, this::writeMarker));
            startTicks();
        }

        /** Whether the store has a registration other than the weekly marker. Reads at most two entries. */
        private boolean hasRegistrations() {
            byte[] markerKey = StoreKey.of(marker);
            try (KeyValueIterator<byte[], byte[]> stored = registrations.all()) {
                while (stored.hasNext()) {
                    if (!Arrays.equals(stored.next().key, markerKey)) {
                        return true;
                    }
                }
            }
            return false;
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
                    : readRepartitioned(record, metadata);
            if (raw != null) {
                processEvent(raw, isFromEventsTopic);
                saveState();
                startTicks();
            }
        }

        /** Reads a record of the repartition topic of events. Returns null and skips the record if it is invalid. */
        private @Nullable RawEvent readRepartitioned(Record<byte[], byte[]> record, RecordMetadata metadata) {
            try {
                return RawEvent.fromRepartition(record.key(), record.value(), record.headers());
            } catch (IllegalArgumentException e) {
                skippedRecords.skip(metadata, String.valueOf(e.getMessage()));
                return null;
            }
        }

        private void processEvent(RawEvent raw, boolean isFromEventsTopic) {
            count(EventCounts.READ);
            Puri puri = EventParser.canonicalKey(raw.key());
            if (puri == null) {
                refuseMisdirected(raw, EventParser.puriOf(raw.key()), EventParser.objectionToKey(raw.key()));
            } else if (isFromEventsTopic && Tokens.partition(puri, partitions) != partition) {
                // An identities record for this event would overwrite the row that the right partition wrote.
                refuseMisdirected(
                        raw,
                        puri,
                        "the event belongs in partition " + Tokens.partition(puri, partitions)
                                + " but was written to partition "
                                + partition
                                + "; set the producer's partitioner to murmur2 over the key, Kafka's default"
                                + " (librdkafka: partitioner=murmur2_random)");
            } else if (parking.hasQueue(puri)) {
                parking.append(puri, raw, now());
                count(EventCounts.PARKED);
            } else {
                PendingEvent pending = new PendingEvent(puri, raw, now());
                WaitReason reason = decide(pending, ClerkAnswer.UNASKED);
                if (reason != null) {
                    parking.parkFirst(pending, reason);
                    count(EventCounts.PARKED);
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
                    Registration after = applied.registration().withDocument(update.hasDocumentAfter());
                    registrations.put(pending.storeKey(), RegistrationCodec.encode(after));
                    documents.update(pending, before, update);
                    count(EventCounts.APPLIED);
                    output.writeOutcome(pending, row, Outcome.APPLIED);
                    digests.onApplied(puri, before.row(), row, now());
                    yield null;
                }
                case Decision.Unchanged ignored -> {
                    if (event.change() instanceof Change.Merged) {
                        // A merged identity cannot be described, so only this restores the document in a lost topic.
                        documents.repeat(pending, before);
                    }
                    count(EventCounts.UNCHANGED);
                    output.writeOutcome(pending, before.row(), Outcome.UNCHANGED);
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
            count(EventCounts.REFUSED);
            output.writeRejection(pending.raw(), pending.puri(), eventId, refusal);
            // Any service may write to the topic of another namespace. A server keeps one event position for each row.
            // A position in the wrong topic would replace it and hide which events of the right topic are decided.
            String topic = pending.raw().position().topic();
            if (collections.objectionTo(pending.puri(), topic) == null) {
                output.writeOutcome(pending, registrationOf(pending).row(), Outcome.refused(refusal.reason()));
            }
        }

        /** Refuses a record whose key is not a pURI of this partition, without an identities record. */
        private void refuseMisdirected(RawEvent raw, @Nullable Puri puri, String detail) {
            count(EventCounts.REFUSED);
            output.writeRejection(raw, puri, null, Refusal.of(Reason.MALFORMED, detail));
        }

        private void sendClaim(Puri puri, WaitReason reason) {
            if (reason instanceof WaitReason.ForGrant forGrant) {
                output.sendClaim(puri, forGrant);
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
                count(EventCounts.STRAY_GRANT);
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
                count(EventCounts.UNPARKED);
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
            resumeAll(parking.waitingForTick(decisionBudget));
            resumeAll(parking.claimedUntil(now - CLAIM_RETRY.toMillis(), decisionBudget));
            resumeAll(parking.declarationDeadlinesUntil(now, decisionBudget));
            resumeAll(parking.waitingForSchemas(decisionBudget));
            saveState();
            if (digests.isPublicationDue(now)) {
                publishDigests();
            }
            stopTicksIfIdle();
        }

        /** Whether a tick may have something to do before another event or grant arrives. */
        private boolean needsTicks() {
            return !parking.isEmpty() || digests.hasUnpublishedChange();
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

        private void publishDigests() {
            TaskDigests current = digests.digests();
            if (current != null) {
                output.publishDigests(current);
            }
            digests.onPublished();
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
            documents.writeMarker(marker);
            parking.writeMarker(marker);
            if (!digests.isKnown()) {
                // Digests are markers, too.
                output.writeMarkers();
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

        private void count(EventCounts difference) {
            counts = counts.plus(difference);
        }

        private void saveState() {
            if (counts.equals(savedCounts)) {
                // Digests change only with the counts.
                return;
            }
            if (!counts.isBalanced()) {
                throw new IllegalStateException("the event counts do not add up: " + counts);
            }
            TaskState state = new TaskState(counts, digests.digests());
            countsStore.put(STATE_KEY, state.toBytes());
            taskStates.put(partition, state);
            savedCounts = counts;
        }

        private long now() {
            return context.currentSystemTimeMs();
        }
    }
}
