package dev.puri.registry;

import dev.puri.schemas.log.Topics;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.jspecify.annotations.Nullable;

/**
 * What the registrar writes, and where to.
 *
 * @param value null is a tombstone
 */
record Output(Destination to, byte @Nullable [] value) {
    /** The value alone; nobody reads it back as an output. */
    static final Serde<Output> SERDE = Serdes.serdeFrom((topic, output) -> output.value(), (topic, value) -> {
        throw new UnsupportedOperationException("outputs are only written");
    });

    enum Destination {
        IDENTITIES(Topics.IDENTITIES),
        DOCUMENTS(Topics.DOCUMENTS),
        REJECTIONS(Topics.REJECTIONS),
        CLAIMS(RegistryTopology.CLAIMS_TOPIC);

        private final String topic;

        Destination(String topic) {
            this.topic = topic;
        }

        /** The topic; of claims the name within the topology. */
        String topic() {
            return topic;
        }
    }
}
