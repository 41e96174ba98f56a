package dev.puri.registry;

import dev.puri.schemas.log.Position;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Forwards the events of the namespaces' topics, undecoded, to the repartition topic of events, which the registrar
 * reads. A header contains the position of each event in its source topic. Of a value that is too large, only the
 * beginning, the length and the hash are forwarded.
 */
final class NamespaceEventForwarder extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
    @Override
    public void process(Record<byte[], byte[]> record) {
        RecordMetadata metadata =
                context().recordMetadata().orElseThrow(() -> new IllegalStateException("the record has no topic"));
        Position position = new Position(metadata.topic(), metadata.partition(), metadata.offset());
        RawEvent raw = RawEvent.of(position, record.key(), record.value());
        // Kafka Streams would drop a record without a key before the repartition topic.
        byte[] key = raw.key() == null ? TextCodec.EMPTY : raw.key();
        context()
                .forward(new Record<>(
                        key, raw.valueHead(), context().currentSystemTimeMs(), raw.toRepartitionHeaders()));
    }
}
