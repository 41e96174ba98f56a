package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Computes the partition of a pURI as Kafka's default partitioner does: by murmur2 over its bytes. */
final class PuriPartitioner {
    private PuriPartitioner() {}

    static int partition(Puri puri, int partitions) {
        return BuiltInPartitioner.partitionForKey(puri.toBytes(), partitions);
    }
}
