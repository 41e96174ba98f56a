package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.FreshBroker;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * The sizes of the records of a topic, read after a run of the topology. The baseline writes records of these sizes, so
 * it writes as many bytes as the topology even if the formats of the records change.
 *
 * @param key median number of bytes of a key
 * @param value median number of bytes of a value; tombstones do not count
 * @param headers number of bytes of the value of each header, by name, in one record
 */
record RecordSizes(int key, int value, Map<String, Integer> headers) {
    private static final int SAMPLE_SIZE = 500;

    /**
     * Reads a sample of a topic.
     *
     * @throws IllegalStateException if the topic has no records
     */
    static RecordSizes of(FreshBroker broker, String topic) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> sample = broker.sample(topic, SAMPLE_SIZE);
        Map<String, Integer> headers = new LinkedHashMap<>();
        for (Header header : sample.getLast().headers()) {
            headers.put(header.key(), header.value().length);
        }
        return new RecordSizes(
                median(sample.stream().map(record -> record.key().length).toList()),
                median(sample.stream().map(record -> record.value().length).toList()),
                headers);
    }

    private static int median(List<Integer> sizes) {
        return sizes.stream().sorted().toList().get(sizes.size() / 2);
    }
}
