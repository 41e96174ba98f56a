package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Kafka's default partitioner for keys: murmur2 over the bytes of the pURI. */
final class PuriPartitioner {
    private PuriPartitioner() {}

    static int partition(Puri puri, int partitions) {
        return BuiltInPartitioner.partitionForKey(puri.toBytes(), partitions);
    }
}
