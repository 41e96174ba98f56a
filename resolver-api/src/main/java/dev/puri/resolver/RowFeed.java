package dev.puri.resolver;

import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/** Records of {@code puri.identities.v1} from Kafka Streams to the table's {@link RowWriter}, at restore as in life. */
final class RowFeed implements Processor<byte[], byte[], Void, Void> {
    private final RowWriter writer;
    private @Nullable ProcessorContext<Void, Void> context;

    RowFeed(RowWriter writer) {
        this.writer = writer;
    }

    @Override
    public void init(ProcessorContext<Void, Void> context) {
        this.context = context;
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        ProcessorContext<Void, Void> current = context;
        writer.add(
                record.key(),
                record.value(),
                current == null ? null : current.recordMetadata().orElse(null));
    }
}
