package dev.puri.registry;

import dev.puri.schemas.log.Topics;

/**
 * A topic that the registrar writes to. The registrar forwards each record to the sink node of one topic. Forwarding to
 * all children, each with a filter, would make Kafka Streams copy headers and context at every node.
 */
enum OutputTopic {
    IDENTITIES(Topics.IDENTITIES, "identities-sink"),
    DOCUMENTS(Topics.DOCUMENTS, "documents-sink"),
    REJECTIONS(Topics.REJECTIONS, "rejections-sink"),
    /** Its node is the filter that Kafka Streams adds before a repartition topic. */
    CLAIMS(RegistryTopology.CLAIMS_TOPIC, RegistryTopology.CLAIMS_TOPIC + "-repartition-filter");

    private final String topic;
    private final String node;

    OutputTopic(String topic, String node) {
        this.topic = topic;
        this.node = node;
    }

    /** The topic's name; for claims the name within the topology. */
    String topic() {
        return topic;
    }

    /** The topology node to which the registrar forwards records for this topic. */
    String node() {
        return node;
    }
}
