package dev.puri.registry;

import dev.puri.schemas.log.Topics;

/**
 * A topic that the registrar writes to. The registrar forwards each record to that topic's sink alone: a record that is
 * forwarded to all of them passes a filter for each, and Kafka Streams copies its headers and context at every node.
 */
enum Output {
    IDENTITIES(Topics.IDENTITIES, "identities-sink"),
    DOCUMENTS(Topics.DOCUMENTS, "documents-sink"),
    REJECTIONS(Topics.REJECTIONS, "rejections-sink"),
    /** Its first node is the one that Kafka Streams puts before a repartition topic, named after the topic. */
    CLAIMS(RegistryTopology.CLAIMS_TOPIC, RegistryTopology.CLAIMS_TOPIC + "-repartition-filter");

    private final String topic;
    private final String node;

    Output(String topic, String node) {
        this.topic = topic;
        this.node = node;
    }

    /** The topic; of claims the name within the topology. */
    String topic() {
        return topic;
    }

    /** The node of the topology that records for this topic go to. */
    String node() {
        return node;
    }
}
