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
        description = "Events that were refused, with the reason.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = RejectionsCommand.ListCommand.class)
final class RejectionsCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "say list");
        }
    }

    @Command(name = "list", description = "Show the latest, oldest of them first.")
    static final class ListCommand extends Subcommand {
        private static final int MAX_COUNT = 100_000;

        @Option(names = "--puri", paramLabel = "PURI", description = "Only those of this pURI, in any casing.")
        private @Nullable String puri;

        @Option(
                names = {"-n", "--count"},
                paramLabel = "N",
                description = "At most so many (default: 20).")
        private int count = 20;

        @Override
        public Integer call() {
            if (count < 1 || count > MAX_COUNT) {
                throw CommandException.usage("-n: 1 to " + MAX_COUNT + ", not " + count);
            }
            List<Rejection> latest = cluster().retry("the rejections", this::latest);
            if (asJson()) {
                latest.forEach(each -> console().out().println(Json.print(json(each))));
                return ExitStatus.DONE;
            }
            Table table = new Table("REJECTED AT", "REASON", "PURI", "HOLDER", "EVENT", "DETAIL");
            for (Rejection each : latest) {
                table.row(
                        each.getRejectedAt(),
                        each.getReason(),
                        each.getPuri(),
                        holder(each),
                        position(each),
                        each.getDetail());
            }
            table.print(console().out());
            return ExitStatus.DONE;
        }

        /** Reads from near the end offsets, and then from further back until there are enough rejections. */
        private List<Rejection> latest() {
            Puri wanted = wanted();
            CliSettings settings = settings();
            Map<String, Object> properties = settings.interactiveProperties();
            properties.put("isolation.level", "read_committed");
            properties.put("enable.auto.commit", "false");
            properties.put("specific.avro.reader", "true");
            try (AvroDeserializer values = new AvroDeserializer()) {
                values.configure(properties, false);
                try (Consumer<byte[], Object> consumer =
                        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), values)) {
                    for (long maxRecords = wanted == null ? 2L * count : Long.MAX_VALUE; ; maxRecords *= 16) {
                        Range range = range(consumer, maxRecords);
                        List<Rejection> latest = read(consumer, range, wanted, settings.apiTimeout());
                        if (latest.size() == count || range.isWhole()) {
                            return latest;
                        }
                    }
                }
            }
        }

        private List<Rejection> read(
                Consumer<byte[], Object> consumer, Range range, @Nullable Puri wanted, Duration timeout) {
            LatestRejections latest = new LatestRejections(wanted);
            range.begins().forEach(consumer::seek);
            long deadline = System.nanoTime() + timeout.toNanos();
            while (!reached(consumer, range.ends())) {
                for (ConsumerRecord<byte[], Object> record : consumer.poll(Duration.ofMillis(100))) {
                    deadline = System.nanoTime() + timeout.toNanos();
                    latest.add(record);
                }
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException(Topics.REJECTIONS + " could not be read to its end");
                }
            }
            return latest.get(count);
        }

        private @Nullable Puri wanted() {
            try {
                return puri == null ? null : Puri.parse(puri);
            } catch (InvalidNameException e) {
                throw CommandException.usage("--puri: " + e.getMessage());
            }
        }

        /**
         * The offsets to read.
         *
         * @param isWhole whether they cover the whole topic
         */
        private record Range(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends, boolean isWhole) {}

        /** Returns at most this many of the last offsets of each partition. */
        private static Range range(Consumer<?, ?> consumer, long maxRecords) {
            List<TopicPartition> partitions = consumer.partitionsFor(Topics.REJECTIONS).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            if (partitions.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + Topics.REJECTIONS + " does not exist; make it with: puri topics create", null);
            }
            consumer.assign(partitions);
            Map<TopicPartition, Long> firsts = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<TopicPartition, Long> begins = new HashMap<>();
            for (TopicPartition each : partitions) {
                begins.put(each, Math.max(firsts.getOrDefault(each, 0L), ends.getOrDefault(each, 0L) - maxRecords));
            }
            return new Range(begins, ends, begins.equals(firsts));
        }

        private static boolean reached(Consumer<?, ?> consumer, Map<TopicPartition, Long> ends) {
            return ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
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
