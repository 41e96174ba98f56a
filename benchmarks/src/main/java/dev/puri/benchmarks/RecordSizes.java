package dev.puri.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * How long our records are, read off the topics that a run of ours has filled. The baseline moves
 * records of these sizes, so it goes on moving what we move when our formats change.
 *
 * @param value bytes of the median value that is no tombstone
 * @param headers bytes of the value of each header, by name; those of one record
 */
record RecordSizes(int key, int value, Map<String, Integer> headers) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SAMPLE = 500;

    /**
     * @throws IllegalStateException when the topic has no records
     */
    static RecordSizes of(String bootstrapServers, String topic) {
        List<ConsumerRecord<byte[], byte[]>> sample = sample(bootstrapServers, topic);
        Map<String, Integer> headers = new LinkedHashMap<>();
        for (Header header : sample.getLast().headers()) {
            headers.put(header.key(), header.value().length);
        }
        return new RecordSizes(
                median(sample.stream().map(record -> record.key().length).toList()),
                median(sample.stream().map(record -> record.value().length).toList()),
                headers);
    }

    private static List<ConsumerRecord<byte[], byte[]>> sample(String bootstrapServers, String topic) {
        List<ConsumerRecord<byte[], byte[]>> sample = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (sample.size() < SAMPLE && !isAtEnd(consumer, partitions) && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    if (record.value() != null && record.key() != null) {
                        sample.add(record);
                    }
                }
            }
        }
        if (sample.isEmpty()) {
            throw new IllegalStateException("the topology wrote nothing to " + topic);
        }
        return sample;
    }

    private static boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
        return consumer.endOffsets(partitions).entrySet().stream()
                .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    private static int median(List<Integer> sizes) {
        return sizes.stream().sorted().toList().get(sizes.size() / 2);
    }
}
