package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Grants each handle for ever to the first identity that claims it. A repeated claim gets the same answer. The store
 * contains a hash of the holder instead of its pURI, so the name of an erased identity does not remain in the store.
 */
final class Clerk extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
    private final SkippedRecords skippedRecords;
    private @Nullable KeyValueStore<byte[], byte[]> holders;
    private @Nullable Cancellable punctuation;

    Clerk(SkippedRecords skippedRecords) {
        this.skippedRecords = skippedRecords;
    }

    @Override
    public void init(ProcessorContext<byte[], byte[]> context) {
        super.init(context);
        KeyValueStore<byte[], byte[]> store = context.getStateStore(RegistryTopology.HANDLES_STORE);
        this.holders = store;
        close();
        punctuation = context.schedule(
                Duration.ofHours(1), PunctuationType.WALL_CLOCK_TIME, now -> PartitionMarker.writeIfDue(store, now));
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        Handle handle;
        Claim claim;
        try {
            handle = handle(record.key());
            claim = Claim.fromBytes(record.value());
        } catch (IllegalArgumentException e) {
            context()
                    .recordMetadata()
                    .ifPresent(metadata -> skippedRecords.skip(metadata, String.valueOf(e.getMessage())));
            return;
        }
        byte[] claimantHash = claim.claimant().toBytes();
        byte[] holderHash = Objects.requireNonNull(holders).putIfAbsent(record.key(), claimantHash);
        boolean isGranted = holderHash == null || Arrays.equals(holderHash, claimantHash);
        Grant grant = new Grant(claim.eventId(), handle, isGranted);
        context()
                .forward(new Record<>(
                        claim.puri().toBytes(), grant.toBytes(), context().currentSystemTimeMs(), new RecordHeaders()));
    }

    private static Handle handle(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("a claim must have a key, the handle");
        }
        // ISO 8859-1 maps each byte to one character, so that the error of an invalid handle shows the bytes.
        return new Handle(new String(key, StandardCharsets.ISO_8859_1));
    }

    /** Cancels the punctuation, because Kafka Streams keeps the punctuations of a task that it closes and revives. */
    @Override
    public void close() {
        if (punctuation != null) {
            punctuation.cancel();
            punctuation = null;
        }
    }
}
