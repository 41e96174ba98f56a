package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.registry.RegistryTopics;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.SequenceInputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishFaultIT {
    private static final int BEFORE = 200;
    private static final int ALL = 400;

    @TempDir
    private Path folder;

    @Test
    void publishingAgainFromTheReportedLineCompletesAFailedPublication() throws Exception {
        try (RestartableBroker broker = Broker.start()) {
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
                RegistryTopics.create(admin, 4, (short) 1, Set.of());
            }
            Path config = Files.writeString(
                    folder.resolve("client.properties"),
                    "delivery.timeout.ms=3000\nrequest.timeout.ms=1000\nlinger.ms=0\nmax.block.ms=3000\n");
            Map<String, String> environment = Map.of(
                    "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                    "PURI_SCHEMA_REGISTRY", SchemaRegistryFixture.shared().url(),
                    "PURI_COMMAND_CONFIG", config.toString());

            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            InputStream input = new SequenceInputStream(
                    lines(0, BEFORE), new SequenceInputStream(onFirstRead(broker::stop), lines(BEFORE, ALL)));
            int status = Main.run(
                    new Console(input, new PrintWriter(out), new PrintWriter(err), environment, false, false),
                    "-o",
                    "json",
                    "publish",
                    "-f",
                    "-");
            assertThat(status).isEqualTo(1);
            assertThat(Json.parse(out.toString()).path("failed").asInt()).isPositive();
            Matcher again = Pattern.compile("publish again from line (\\d+)").matcher(err.toString());
            assertThat(again.find()).as(err.toString()).isTrue();
            int line = Integer.parseInt(again.group(1));

            broker.start();
            String rest = new String(lines(line - 1, ALL).readAllBytes(), StandardCharsets.UTF_8);
            CommandLineRun second = CommandLineRun.reading(environment, rest, "-o", "json", "publish", "-f", "-");
            assertThat(second.status()).as(second.err()).isZero();
            assertThat(keysOf(broker))
                    .isEqualTo(IntStream.range(0, ALL)
                            .mapToObj(i -> "fault:a:" + i)
                            .collect(Collectors.toSet()));
        }
    }

    private static InputStream lines(int from, int to) {
        return new ByteArrayInputStream(IntStream.range(from, to)
                .mapToObj(i -> "{\"type\":\"deleted\",\"puri\":\"fault:a:" + i + "\"}\n")
                .collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8));
    }

    /** Input that is empty and runs an action when it is read. */
    private static InputStream onFirstRead(Runnable happening) {
        return new InputStream() {
            @Override
            public int read() {
                happening.run();
                return -1;
            }
        };
    }

    private static Set<String> keysOf(Broker broker) {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", broker.bootstrapServers(), "enable.auto.commit", "false");
        Set<String> keys = new HashSet<>();
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = IntStream.range(0, 4)
                    .mapToObj(i -> new TopicPartition(Topics.EVENTS, i))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    keys.add(record.key());
                }
            }
        }
        return keys;
    }
}
