package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Where a pURI's events belong: Kafka's default for keys, murmur2 over the bytes. */
final class Partitions {
    private Partitions() {}

    static int of(Puri puri, int partitions) {
        return BuiltInPartitioner.partitionForKey(puri.toBytes(), partitions);
    }
}
