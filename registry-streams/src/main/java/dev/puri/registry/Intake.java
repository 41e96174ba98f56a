package dev.puri.registry;

import dev.puri.schemas.log.Position;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Passes the events of namespace topics on to the registrar's partitions, with the position that each
 * came from. It looks into none of them.
 */
final class Intake implements Processor<byte[], byte[], byte[], byte[]> {
    private @Nullable ProcessorContext<byte[], byte[]> context;

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
        this.context = context;
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        ProcessorContext<byte[], byte[]> context = Started.with(this.context);
        RecordMetadata from =
                context.recordMetadata().orElseThrow(() -> new IllegalStateException("a record from no topic"));
        Position position = new Position(from.topic(), from.partition(), from.offset());
        Arrival arrival = Arrival.of(position, record.key(), record.value());
        // Kafka Streams drops a record without a key on its way into a repartition topic.
        byte[] key = arrival.key() == null ? Texts.EMPTY : arrival.key();
        context.forward(new Record<>(key, arrival.head(), context.currentSystemTimeMs(), arrival.toHeaders()));
    }
}
