package dev.puri.client.outbox;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;

/** The events topic of one test's namespace. */
final class EventLog {
    /** As many applied events of a pURI the registry remembers to know a repeat. */
    private static final int REMEMBERED = 8;

    private static final int PARTITIONS = 3;

    private final Map<String, Object> properties;
    private final String topic;

    EventLog(Map<String, Object> properties, String namespace) {
        this.properties = properties;
        this.topic = Topics.eventsTopicOf(namespace);
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", properties.get("bootstrap.servers")));
    }

    void create() throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(PARTITIONS), Optional.empty())))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    void setMaxMessageBytes(int bytes) throws Exception {
        ConfigEntry entry = new ConfigEntry("max.message.bytes", Integer.toString(bytes));
        try (Admin admin = admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, topic),
                            List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    List<ConsumerRecord<String, IdentityEvent>> records() {
        Map<String, Object> config = new HashMap<>(properties);
        config.put("key.deserializer", StringDeserializer.class.getName());
        config.put("value.deserializer", "dev.puri.schemas.serde.AvroDeserializer");
        config.put("specific.avro.reader", "true");
        try (KafkaConsumer<String, IdentityEvent> consumer = new KafkaConsumer<>(config)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                partitions.add(new TopicPartition(topic, i));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<String, IdentityEvent>> records = new ArrayList<>();
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            return records;
        }
    }

    /** The ids of a pURI's events in the order of the log, repeats included. */
    List<UUID> idsOf(String puri) {
        return records().stream()
                .filter(record -> record.key().equals(puri))
                .map(record -> record.value().getEventId())
                .toList();
    }

    /** The ids of all pURIs' events, without the repeats that the registry knows as such. */
    Map<String, List<UUID>> applied() {
        Map<String, List<UUID>> applied = new HashMap<>();
        Map<String, Deque<UUID>> remembered = new HashMap<>();
        for (ConsumerRecord<String, IdentityEvent> record : records()) {
            UUID id = record.value().getEventId();
            Deque<UUID> last = remembered.computeIfAbsent(record.key(), key -> new ArrayDeque<>());
            if (!last.contains(id)) {
                applied.computeIfAbsent(record.key(), key -> new ArrayList<>()).add(id);
                last.addLast(id);
                if (last.size() > REMEMBERED) {
                    last.removeFirst();
                }
            }
        }
        return applied;
    }

    static String header(ConsumerRecord<?, ?> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.US_ASCII);
    }
}
