package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Grants each handle to the first identity that claims it, for ever. Repeated claims get the same answer. The store has
 * a hash of the holder, so that no name of an erased identity remains in it.
 */
final class Clerk implements Processor<byte[], byte[], byte[], byte[]> {
    private final SkippedRecords skipped;
    private @Nullable ProcessorContext<byte[], byte[]> context;
    private @Nullable KeyValueStore<byte[], byte[]> holders;
    private @Nullable Cancellable punctuation;

    Clerk(SkippedRecords skipped) {
        this.skipped = skipped;
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
        this.context = context;
        KeyValueStore<byte[], byte[]> store = context.getStateStore(RegistryTopology.HANDLES_STORE);
        this.holders = store;
        close();
        punctuation = context.schedule(Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, now -> {
            if (PartitionMarker.isDue(store, now)) {
                PartitionMarker.recordWritten(store, now);
            }
        });
    }

    @Override
    public void process(Record<byte[], byte[]> claimed) {
        ProcessorContext<byte[], byte[]> context = Initialized.require(this.context);
        Handle handle;
        Claim claim;
        try {
            handle = handle(claimed.key());
            claim = Claim.fromBytes(claimed.value());
        } catch (IllegalArgumentException e) {
            context.recordMetadata().ifPresent(record -> skipped.skip(record, String.valueOf(e.getMessage())));
            return;
        }
        byte[] claimant = claim.claimant().toBytes();
        byte[] holder = Initialized.require(holders).putIfAbsent(claimed.key(), claimant);
        boolean isGranted = holder == null || Arrays.equals(holder, claimant);
        Grant grant = new Grant(claim.eventId(), handle, isGranted);
        context.forward(new Record<>(
                claim.puri().toBytes(), grant.toBytes(), context.currentSystemTimeMs(), new RecordHeaders()));
    }

    private static Handle handle(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("a record without a key claims no handle");
        }
        // Latin-1 maps every byte to a character, so only the handle's exact bytes are a valid key.
        return new Handle(new String(key, StandardCharsets.ISO_8859_1));
    }

    /** Cancels the punctuation, which Kafka Streams would keep when it revives the task. */
    @Override
    public void close() {
        if (punctuation != null) {
            punctuation.cancel();
            punctuation = null;
        }
    }
}
