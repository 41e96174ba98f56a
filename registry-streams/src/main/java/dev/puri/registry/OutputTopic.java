package dev.puri.registry;

import dev.puri.schemas.log.Topics;

/**
 * A topic that the registrar writes to. The registrar names the topology node to which it forwards a record. If it
 * forwarded each record to all nodes, and each node had a filter, Kafka Streams would copy headers and context for
 * every node.
 */
enum OutputTopic {
    IDENTITIES(Topics.IDENTITIES, "identities-sink"),
    DOCUMENTS(Topics.DOCUMENTS, "documents-sink"),
    REJECTIONS(Topics.REJECTIONS, "rejections-sink"),
    /** The node is the filter that Kafka Streams adds before a repartition topic. */
    CLAIMS(RegistryTopology.CLAIMS_TOPIC, RegistryTopology.CLAIMS_TOPIC + "-repartition-filter");

    private final String topic;
    private final String node;

    OutputTopic(String topic, String node) {
        this.topic = topic;
        this.node = node;
    }

    /**
     * The name of the topic; for claims without the application id and {@code -repartition}, which Kafka Streams adds.
     */
    String topic() {
        return topic;
    }

    /** The topology node to which the registrar forwards records for this topic. */
    String node() {
        return node;
    }
}
