package dev.puri.cli;

import dev.puri.cli.ReplayPlan.Action;
import dev.puri.cli.ReplayPlan.LoggedEvent;
import dev.puri.cli.ReplayPlan.Step;
import dev.puri.cli.io.LogReader;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "replay",
        header = "Publish refused events again, after the cause of the refusals was removed.",
        description = {
            "",
            "Without --yes the command only prints what it would do with each event. An event is replayed unchanged,"
                    + " from its record in the events topic, so the record must still be there. Events that were"
                    + " published again since, or whose pURI has a later event that was accepted, are not replayed. So a"
                    + " second run replays nothing.",
            ""
        })
final class ReplayRejectionsCommand extends Subcommand {
    /** The maximum number of refusals that a run selects. */
    static final int MAX_SELECTED = 100_000;

    /** The maximum number of refusals and events of the selected pURIs, which are in memory at the same time. */
    private static final int MAX_RECORDS = 500_000;

    /** The maximum number of events that are sent before the first one is acknowledged. */
    private static final int MAX_BATCH = 200;

    @Mixin
    private RejectionFilterOptions filterOptions = new RejectionFilterOptions();

    @Option(names = "--all", description = "Select all refused events, instead of a filter.")
    private boolean all;

    @Option(names = "--yes", description = "Publish the events that are marked replay, and wait for the outcomes.")
    private boolean confirmed;

    @Option(
            names = "--superseded",
            description = "Also replay events although a later event of their pURI was accepted. This may undo it.")
    private boolean superseded;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "Fail after this time without progress (default: 60).")
    private int timeoutSeconds = 60;

    /** Number of events that the brokers acknowledged. */
    private int replayed;

    /** Number of events that the log no longer has. */
    private int missing;

    @Override
    public Integer call() throws InterruptedException {
        RejectionFilter filter = filterOptions.parse(Instant.now());
        if (filter.isEmpty() != all) {
            // An empty filter, such as a variable of a script that is not set, must not mean everything.
            throw CommandException.usage(
                    all
                            ? "--all and a filter exclude each other"
                            : "select events with --reason, --puri, --position, --since or --until; or --all of them");
        }
        CommandException.requireUsage(
                timeoutSeconds >= 1, "--timeout must be at least 1 second, not " + timeoutSeconds);
        List<Step> steps = brokerRequests().retry("the refused events", () -> plan(filter));
        print(steps);
        if (steps.isEmpty()) {
            say("puri: no rejection matches");
            return ExitStatus.PARTLY;
        }
        List<Step> replayed = steps.stream()
                .filter(step -> step.action() == Action.REPLAY)
                .sorted(Comparator.comparingInt(Step::round))
                .toList();
        boolean hasObstacles = steps.stream().anyMatch(step -> step.action() == Action.NOT_REPLAYABLE);
        if (!confirmed) {
            say("puri: " + replayed.size() + " of " + steps.size()
                    + " events would be replayed; nothing was published. Add --yes to publish");
            return ExitStatus.DONE;
        }
        int status = replay(replayed);
        return status == ExitStatus.DONE && hasObstacles ? ExitStatus.PARTLY : status;
    }

    private List<Step> plan(RejectionFilter filter) {
        CliSettings settings = settings();
        try (LogReader reader = settings.logReader();
                RejectionLog log = RejectionLog.open(reader, settings, this::say);
                OriginalDecoder decoder = OriginalDecoder.of(settings)) {
            Limit selected = new Limit(
                    MAX_SELECTED,
                    "more than " + MAX_SELECTED + " refusals match; replay them in parts, the oldest first: select each"
                            + " part with --since and --until");
            Limit records = new Limit(
                    MAX_RECORDS,
                    "the pURIs of the matching refusals have more than " + MAX_RECORDS + " refusals and events; replay"
                            + " fewer pURIs at once: select them with --puri, or with --since and --until, the oldest"
                            + " refusals first");
            Set<String> puris = new HashSet<>();
            log.all(selected.counted(filter::matches)).get().forEach(stored -> {
                String puri = stored.rejection().getPuri();
                if (puri != null) {
                    puris.add(puri);
                }
            });
            LatestRejections rejections = log.all(records.counted(
                    rejection -> filter.matches(rejection) || puris.contains(String.valueOf(rejection.getPuri()))));
            Map<String, List<LoggedEvent>> logged = new HashMap<>();
            reader.read(startOffsets(reader, rejections.get()), record -> {
                String puri = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
                if (puris.contains(puri)) {
                    records.add();
                    logged.computeIfAbsent(puri, none -> new ArrayList<>())
                            .add(loggedEvent(record, decoder, rejections));
                }
            });
            return ReplayPlan.of(rejections.get(), filter, logged, superseded);
        }
    }

    /** Counts what the command keeps in memory, and ends the command if it is too much. */
    private static final class Limit {
        private final int max;
        private final String message;
        private int count;

        Limit(int max, String message) {
            this.max = max;
            this.message = message;
        }

        void add() {
            count++;
            if (count > max) {
                throw CommandException.failed(message);
            }
        }

        /** Returns the filter, which counts what it selects. */
        Predicate<Rejection> counted(Predicate<Rejection> filter) {
            return rejection -> {
                boolean isSelected = filter.test(rejection);
                if (isSelected) {
                    add();
                }
                return isSelected;
            };
        }
    }

    /**
     * Returns the first offset to read of each partition of the events topics that may contain the refused events and
     * later events of their pURIs. A namespace may have got a topic of its own, or given it up, after an event was
     * refused.
     */
    private static Map<TopicPartition, Long> startOffsets(LogReader reader, List<StoredRejection> rejections) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        Set<String> existingTopics = reader.topics();
        Set<String> topics = new HashSet<>(Set.of(Topics.EVENTS));
        Instant earliest = Instant.now();
        for (StoredRejection stored : rejections) {
            Position position = stored.position();
            topics.add(position.topic());
            ownTopic(stored.rejection()).filter(existingTopics::contains).ifPresent(topics::add);
            offsets.merge(LogReader.partitionOf(position), position.offset(), Math::min);
            Instant rejectedAt = stored.rejection().getRejectedAt();
            earliest = rejectedAt.isBefore(earliest) ? rejectedAt : earliest;
        }
        // Later events of the pURIs may be in other partitions, if a producer chose a wrong one.
        Map<TopicPartition, Long> times = new HashMap<>();
        for (String topic : topics) {
            for (TopicPartition partition : reader.partitions(topic)) {
                times.put(partition, earliest.minus(LogReader.CLOCK_TOLERANCE).toEpochMilli());
            }
        }
        // The topic of a refused event may have been deleted.
        offsets.keySet().retainAll(times.keySet());
        times.keySet().removeAll(offsets.keySet());
        offsets.putAll(reader.offsetsAt(times));
        return offsets;
    }

    private static LoggedEvent loggedEvent(
            ConsumerRecord<byte[], byte[]> record, OriginalDecoder decoder, LatestRejections rejections) {
        String eventId = null;
        String invalid = null;
        switch (decoder.decode(record.key(), record.value())) {
            case OriginalDecoder.Decoded decoded -> {
                eventId = decoded.event().eventId().toString();
                if (decoded.event().change() instanceof Change.Merged merged
                        && rejections.isErasedSince(
                                merged.into().toString(), Instant.ofEpochMilli(record.timestamp()))) {
                    invalid = "it names an identity that was erased later";
                }
            }
            case OriginalDecoder.Invalid problem -> invalid = problem.why();
        }
        return new LoggedEvent(
                LogReader.positionOf(record),
                Instant.ofEpochMilli(record.timestamp()),
                StoredRejection.sha256(record.value()),
                eventId,
                invalid);
    }

    private void print(List<Step> steps) {
        if (asJson()) {
            steps.forEach(step -> {
                Map<String, Object> json = step.stored().toJson();
                json.put("action", step.action().toString());
                json.put("note", step.note());
                printJson(json);
            });
            return;
        }
        TextTable table = new TextTable("REJECTED AT", "REASON", "PURI", "EVENT", "ACTION", "NOTE");
        for (Step step : steps) {
            Rejection rejection = step.stored().rejection();
            table.row(
                    rejection.getRejectedAt(),
                    rejection.getReason(),
                    rejection.getPuri(),
                    step.stored().position(),
                    step.action(),
                    step.note());
        }
        table.print(console().out());
    }

    /** Publishes the events in their order, waits for the outcomes, and prints their numbers. */
    private int replay(List<Step> steps) throws InterruptedException {
        Duration timeout = Duration.ofSeconds(timeoutSeconds);
        CliSettings settings = settings().withTimeout(timeout);
        BrokerRequests brokerRequests = new BrokerRequests(console(), settings, timeout);
        Declarations declarations = brokerRequests.declarations();
        Map<Outcome.Kind, Integer> counts = new EnumMap<>(Outcome.Kind.class);
        Throwable failure = null;
        int withoutOutcome = 0;
        try (LogReader reader = settings.logReader();
                OutcomeReader outcomes = brokerRequests.outcomes(
                        (index, outcome, detail) -> onOutcome(steps.get((int) index), outcome, detail, counts));
                Producer<byte[], byte[]> producer = new KafkaProducer<>(
                        settings.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
            ProgressLine progress = new ProgressLine(console(), "events replayed");
            try {
                for (int begin = 0, end; begin < steps.size(); begin = end) {
                    end = batchEnd(steps, begin);
                    publish(steps, begin, end, reader, producer, declarations, outcomes);
                    progress.show(end, (long) steps.size());
                }
                progress.end();
                withoutOutcome = outcomes.await(timeout);
            } catch (ExecutionException e) {
                failure = e.getCause();
            } catch (KafkaException e) {
                failure = e;
            }
        }
        if (withoutOutcome > 0) {
            say(withoutOutcome + " events have no outcome after " + timeoutSeconds + " s; is puri streams running?");
        }
        int refused = counts.getOrDefault(Outcome.Kind.REFUSED, 0);
        Map<String, Object> summary = new JsonObject()
                .with("replayed", replayed)
                .with("applied", counts.getOrDefault(Outcome.Kind.APPLIED, 0))
                .with("unchanged", counts.getOrDefault(Outcome.Kind.UNCHANGED, 0))
                .with("refused", refused);
        if (asJson()) {
            printJson(summary);
        } else {
            println(summary.toString().replaceAll("[{}]", "").replace('=', ' '));
        }
        if (failure != null) {
            throw CommandException.failed(
                    "not all events were replayed and answered: " + failure.getMessage() + "; run the command again",
                    failure);
        }
        if (withoutOutcome > 0) {
            return ExitStatus.FAILED;
        }
        return refused > 0 || missing > 0 ? ExitStatus.PARTLY : ExitStatus.DONE;
    }

    /** Publishes the events of a batch of steps that the log still has. */
    private void publish(
            List<Step> steps,
            int begin,
            int end,
            LogReader reader,
            Producer<byte[], byte[]> producer,
            Declarations declarations,
            OutcomeReader outcomes)
            throws InterruptedException, ExecutionException {
        Map<Position, ConsumerRecord<byte[], byte[]>> records = reader.find(steps.subList(begin, end).stream()
                .map(step -> step.stored().position())
                .toList());
        Map<Integer, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (int i = begin; i < end; i++) {
            StoredRejection stored = steps.get(i).stored();
            ConsumerRecord<byte[], byte[]> record = records.get(stored.position());
            if (record == null || !stored.isOf(record)) {
                missing++;
                say(stored.position() + ": the events topic no longer contains the event");
                continue;
            }
            String topic = topic(stored.rejection(), declarations);
            Future<RecordMetadata> acknowledgement =
                    producer.send(new ProducerRecord<>(topic, null, record.key(), record.value(), record.headers()));
            sent.put(i, acknowledgement);
            if (acknowledgement.state() == Future.State.FAILED) {
                // The next events would block as long as this one did.
                break;
            }
        }
        for (Map.Entry<Integer, Future<RecordMetadata>> each : sent.entrySet()) {
            RecordMetadata metadata = each.getValue().get();
            replayed++;
            outcomes.expect(new Position(metadata.topic(), metadata.partition(), metadata.offset()), each.getKey());
        }
    }

    /**
     * Returns the end of the batch that begins with a step. A batch has steps of one round, so each event of a pURI is
     * acknowledged before the next one is sent, and a failure cannot change their order.
     */
    private static int batchEnd(List<Step> steps, int begin) {
        int end = begin + 1;
        while (end < steps.size()
                && end - begin < MAX_BATCH
                && steps.get(end).round() == steps.get(begin).round()) {
            end++;
        }
        return end;
    }

    private synchronized void onOutcome(
            Step step, ReportedOutcome outcome, String detail, Map<Outcome.Kind, Integer> counts) {
        counts.merge(outcome.kind(), 1, Integer::sum);
        if (outcome.kind() == Outcome.Kind.REFUSED) {
            say(step.stored().position() + ": refused again, " + outcome.reason()
                    + (detail.isEmpty() ? "" : ": " + detail));
        }
    }

    /** Returns the name that the own events topic of the pURI's namespace has or would have. */
    private static Optional<String> ownTopic(Rejection rejection) {
        return Optional.ofNullable(rejection.getPuri())
                .map(puri -> Puri.parse(puri).namespace())
                .filter(Topics::mayOwnTopic)
                .map(Topics::eventsTopicOf);
    }

    /** Returns the topic of the events of a pURI. It may have changed since the event was refused. */
    private static String topic(Rejection rejection, Declarations declarations) {
        String namespace = Puri.parse(rejection.getPuri()).namespace();
        return Topics.eventsTopicOf(namespace, declarations.ownsTopic(namespace));
    }
}
