package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import java.util.UUID;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/** Forwards the records of one registrar task, each to the sink of its topic. */
final class RegistrarOutput {
    private static final Header APPLIED_HEADER =
            new RecordHeader(Outcome.HEADER, TextCodec.utf8(Outcome.APPLIED.toString()));

    private final ProcessorContext<byte[], byte[]> context;
    private final OutputEncoder encoder;
    private final Puri marker;

    /**
     * @param marker the reserved pURI of the task's partition
     */
    RegistrarOutput(ProcessorContext<byte[], byte[]> context, OutputEncoder encoder, Puri marker) {
        this.context = context;
        this.encoder = encoder;
        this.marker = marker;
    }

    /**
     * Writes the identities record of an event: the row after the event, with the outcome in a header. An erasure, even
     * a repeated one, also writes a tombstone to the rejections topic.
     *
     * @param row null if there is no row after the event
     */
    void writeOutcome(PendingEvent pending, @Nullable Row row, Outcome outcome) {
        RecordHeaders headers = new RecordHeaders(new Header[] {positionHeader(pending), outcomeHeader(outcome)});
        forward(OutputTopic.IDENTITIES, pending.key(), row == null ? null : encoder.row(row), headers);
        if (row == null && outcome.kind() != Outcome.Kind.REFUSED) {
            // A server that starts from a snapshot does not read the identities records before the snapshot. But it
            // reads all rejections at each start, so the tombstone tells it that the identity was erased.
            RecordHeaders erasure = new RecordHeaders(headers);
            // A header, because the topic has LogAppendTime: the broker replaces the timestamp of the record.
            erasure.add(Erasure.TIME_HEADER, TextCodec.utf8(Long.toString(now())));
            forward(OutputTopic.REJECTIONS, pending.key(), null, erasure);
        }
    }

    /**
     * Writes the document of a pURI.
     *
     * @param document null deletes the document
     */
    void writeDocument(PendingEvent pending, @Nullable Document document) {
        byte[] value = document == null ? null : encoder.document(document);
        RecordHeaders headers = new RecordHeaders(new Header[] {positionHeader(pending)});
        forward(OutputTopic.DOCUMENTS, pending.key(), value, headers);
    }

    /**
     * Writes the rejection of an event.
     *
     * @param puri the pURI in the key; null if there is none
     * @param eventId null if the event cannot be decoded
     */
    void writeRejection(RawEvent raw, @Nullable Puri puri, @Nullable UUID eventId, Refusal refusal) {
        byte[] rejection = encoder.rejection(raw, puri, eventId, refusal, now());
        forward(OutputTopic.REJECTIONS, raw.key(), rejection, new RecordHeaders());
    }

    /** Sends a claim to the clerk; an event of the pURI waits for the grant. */
    void sendClaim(Puri puri, WaitReason.ForGrant reason) {
        byte[] value = new Claim(puri, reason.eventId(), reason.claimant()).toBytes();
        forward(OutputTopic.CLAIMS, TextCodec.utf8(reason.handle().text()), value, new RecordHeaders());
    }

    /** Publishes the digests of all records that were forwarded before. */
    void publishDigests(TaskDigests digests) {
        writeMarker(OutputTopic.IDENTITIES, headers(digests.identities()));
        writeMarker(OutputTopic.DOCUMENTS, headers(digests.documents()));
    }

    /** Writes markers without digests. */
    void writeMarkers() {
        writeMarker(OutputTopic.IDENTITIES, new RecordHeaders());
        writeMarker(OutputTopic.DOCUMENTS, new RecordHeaders());
    }

    private void writeMarker(OutputTopic output, RecordHeaders headers) {
        forward(output, marker.toBytes(), null, headers);
    }

    private static RecordHeaders headers(PartitionDigest digest) {
        return new RecordHeaders(new Header[] {digest.toHeader()});
    }

    private static Header positionHeader(PendingEvent pending) {
        return new RecordHeader(
                Position.HEADER, TextCodec.utf8(pending.raw().position().toString()));
    }

    private static Header outcomeHeader(Outcome outcome) {
        return outcome.equals(Outcome.APPLIED)
                ? APPLIED_HEADER
                : new RecordHeader(Outcome.HEADER, TextCodec.utf8(outcome.toString()));
    }

    private void forward(OutputTopic output, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders headers) {
        context.forward(new Record<>(key, value, now(), headers), output.node());
    }

    private long now() {
        return context.currentSystemTimeMs();
    }
}
