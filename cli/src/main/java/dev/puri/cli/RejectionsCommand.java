package dev.puri.cli;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroDeserializer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "rejections",
        description = "List the events that were refused.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = RejectionsCommand.ListCommand.class)
final class RejectionsCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "missing subcommand: list");
        }
    }

    @Command(
            name = "list",
            description = "List the latest refused events with the reasons, the oldest of these events first.")
    static final class ListCommand extends Subcommand {
        private static final int MAX_COUNT = 100_000;

        @Option(
                names = "--puri",
                paramLabel = "PURI",
                description = "List only events of this pURI. Its case does not matter.")
        private @Nullable String puri;

        @Option(
                names = {"-n", "--count"},
                paramLabel = "N",
                description = "Maximum number of events (default: 20).")
        private int count = 20;

        @Override
        public Integer call() {
            if (count < 1 || count > MAX_COUNT) {
                throw CommandException.usage("-n must be 1 to " + MAX_COUNT + ", not " + count);
            }
            List<Rejection> rejections = brokerRequests().retry("the rejections", this::readLatest);
            if (asJson()) {
                rejections.forEach(rejection -> console().out().println(Json.toText(json(rejection))));
                return ExitStatus.DONE;
            }
            TextTable table = new TextTable("REJECTED AT", "REASON", "PURI", "HOLDER", "EVENT", "DETAIL");
            for (Rejection rejection : rejections) {
                table.row(
                        rejection.getRejectedAt(),
                        rejection.getReason(),
                        rejection.getPuri(),
                        holder(rejection),
                        position(rejection),
                        rejection.getDetail());
            }
            table.print(console().out());
            return ExitStatus.DONE;
        }

        /**
         * Reads the last records of the topic. If they contain too few rejections, reads again and begins at lower
         * offsets.
         */
        private List<Rejection> readLatest() {
            Puri filter = filter();
            CliSettings settings = settings();
            Map<String, Object> properties = settings.interactiveProperties();
            properties.put("isolation.level", "read_committed");
            properties.put("enable.auto.commit", "false");
            properties.put("specific.avro.reader", "true");
            try (AvroDeserializer valueDeserializer = new AvroDeserializer()) {
                valueDeserializer.configure(properties, false);
                try (Consumer<byte[], Object> consumer =
                        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), valueDeserializer)) {
                    for (long maxRecords = filter == null ? 2L * count : Long.MAX_VALUE; ; maxRecords *= 16) {
                        Range range = lastOffsets(consumer, maxRecords);
                        List<Rejection> rejections = read(consumer, range, filter, settings.apiTimeout());
                        if (rejections.size() == count || range.isWholeTopic()) {
                            return rejections;
                        }
                    }
                }
            }
        }

        private List<Rejection> read(
                Consumer<byte[], Object> consumer, Range range, @Nullable Puri filter, Duration timeout) {
            LatestRejections latest = new LatestRejections(filter);
            range.startOffsets().forEach(consumer::seek);
            long deadline = System.nanoTime() + timeout.toNanos();
            while (!hasReached(consumer, range.endOffsets())) {
                for (ConsumerRecord<byte[], Object> record : consumer.poll(Duration.ofMillis(100))) {
                    deadline = System.nanoTime() + timeout.toNanos();
                    latest.add(record);
                }
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException(Topics.REJECTIONS + " could not be read to its end in time");
                }
            }
            return latest.get(count);
        }

        /** Returns the pURI whose rejections are listed, or null for all. */
        private @Nullable Puri filter() {
            try {
                return puri == null ? null : Puri.parse(puri);
            } catch (InvalidNameException e) {
                throw CommandException.usage("--puri: " + e.getMessage());
            }
        }

        /**
         * The offsets to read.
         *
         * @param isWholeTopic whether the offsets cover the whole topic
         */
        private record Range(
                Map<TopicPartition, Long> startOffsets, Map<TopicPartition, Long> endOffsets, boolean isWholeTopic) {}

        /** Assigns all partitions to the consumer, and returns the range of the last offsets of each partition. */
        private static Range lastOffsets(Consumer<?, ?> consumer, long maxRecords) {
            List<TopicPartition> partitions = consumer.partitionsFor(Topics.REJECTIONS).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            if (partitions.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + Topics.REJECTIONS + " does not exist; create it with: puri topics create", null);
            }
            consumer.assign(partitions);
            Map<TopicPartition, Long> beginningOffsets = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> endOffsets = consumer.endOffsets(partitions);
            Map<TopicPartition, Long> startOffsets = new HashMap<>();
            for (TopicPartition partition : partitions) {
                startOffsets.put(
                        partition,
                        Math.max(
                                beginningOffsets.getOrDefault(partition, 0L),
                                endOffsets.getOrDefault(partition, 0L) - maxRecords));
            }
            return new Range(startOffsets, endOffsets, startOffsets.equals(beginningOffsets));
        }

        private static boolean hasReached(Consumer<?, ?> consumer, Map<TopicPartition, Long> endOffsets) {
            return endOffsets.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
        }

        private static String position(Rejection rejection) {
            return new Position(
                            rejection.getPosition().getTopic(),
                            rejection.getPosition().getPartition(),
                            rejection.getPosition().getOffset())
                    .toString();
        }

        private static @Nullable String holder(Rejection rejection) {
            return rejection.getHolderShard() == null
                    ? null
                    : rejection.getHolderOwner() + " in " + rejection.getHolderShard();
        }

        private static Map<String, Object> json(Rejection rejection) {
            return Json.object(
                    "reason",
                    rejection.getReason(),
                    "detail",
                    rejection.getDetail(),
                    "puri",
                    rejection.getPuri(),
                    "position",
                    position(rejection),
                    "rejectedAt",
                    rejection.getRejectedAt().toString(),
                    "eventId",
                    rejection.getEventId(),
                    "holder",
                    rejection.getHolderShard() == null
                            ? null
                            : Json.object("owner", rejection.getHolderOwner(), "shard", rejection.getHolderShard()),
                    "survivor",
                    rejection.getSurvivor());
        }
    }
}
