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
 * Gives each handle to the first identity that asks, for ever, and remembers the holder by a hash,
 * so that nothing of an erased identity's name stays here. Asked again, it answers the same.
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
            if (Marker.isDue(store, now)) {
                Marker.keep(store, now);
            }
        });
    }

    @Override
    public void process(Record<byte[], byte[]> claimed) {
        ProcessorContext<byte[], byte[]> context = Started.with(this.context);
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
        byte[] holder = Started.with(holders).putIfAbsent(claimed.key(), claimant);
        boolean isGranted = holder == null || Arrays.equals(holder, claimant);
        Grant grant = new Grant(claim.eventId(), handle, isGranted);
        context.forward(new Record<>(
                claim.puri().toBytes(), grant.toBytes(), context.currentSystemTimeMs(), new RecordHeaders()));
    }

    private static Handle handle(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("a record without a key claims no handle");
        }
        // Latin-1 tells every byte apart, so that the key is the handle's own bytes.
        return new Handle(new String(key, StandardCharsets.ISO_8859_1));
    }

    /** A task that Kafka Streams revives keeps its old punctuations unless they are cancelled. */
    @Override
    public void close() {
        if (punctuation != null) {
            punctuation.cancel();
            punctuation = null;
        }
    }
}
