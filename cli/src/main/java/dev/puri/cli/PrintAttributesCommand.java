package dev.puri.cli;

import dev.puri.cli.io.Digests;
import dev.puri.cli.io.LogReader;
import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.RecordKey;
import dev.puri.projection.Truncation;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "attributes",
        header = "Print the searchable attributes of all active identities as described events, for puri publish.",
        description = {
            "",
            "Reads the topic of the documents. An export has no attributes, so this is what it needs for a complete"
                    + " backup. What was merged, deleted or erased is not printed. If records of the topic were deleted"
                    + " otherwise than by compaction, or are unreadable, the exit status is 1, and the output has only"
                    + " the other attributes.",
            ""
        })
final class PrintAttributesCommand extends Subcommand {
    /** Maximum number of unreadable documents that are reported one by one. */
    private static final int MAX_REPORTED = 10;

    @Option(
            names = "--source",
            paramLabel = "NAME",
            description = "Source of the events (default: restore). In mode IMPORT it must be the importer.")
    private String source = "restore";

    @Mixin
    private IdentitiesCommand.EmptyOption empty = new IdentitiesCommand.EmptyOption();

    private long unreadable;

    @Override
    public Integer call() {
        try {
            Event.requireSource("--source", source);
        } catch (IllegalArgumentException e) {
            throw CommandException.usage(e.getMessage(), e);
        }
        Instant now = Instant.now();
        long count = 0;
        try (LogReader reader = settings().logReader();
                SchemaRegistry schemas =
                        ConfluentSchemaRegistry.create(settings().interactiveProperties())) {
            AvroValueDecoder<dev.puri.schemas.avro.Document> decoder =
                    new AvroValueDecoder<>(dev.puri.schemas.avro.Document.class, schemas);
            List<TopicPartition> partitions = reader.partitions(Topics.DOCUMENTS);
            for (TopicPartition partition : partitions) {
                Map<Long, Long> lastOffsets = lastOffsets(reader, partition, partitions.size());
                long[] printed = {0};
                reader.read(partition, reader.beginningOffset(partition), record -> {
                    Puri puri = RecordKey.puriOrNull(record, partitions.size());
                    // A later record is of a key that changed since. Its earlier record may have been compacted away.
                    if (puri == null
                            || record.value() == null
                            || record.offset() < lastOffsets.getOrDefault(hash(puri), 0L)) {
                        return;
                    }
                    Document document = documentOrNull(decoder, record, puri);
                    if (document != null && document.status() == Row.Status.ACTIVE) {
                        println(line(puri, document.attributes(), now));
                        printed[0]++;
                    }
                });
                console().requireWritten();
                count += printed[0];
            }
            say("puri: the attributes of " + count + " identities");
            requireComplete(reader.beginningOffsets(partitions));
        }
        if (count == 0) {
            empty.requireAllowed(
                    "the topic " + Topics.DOCUMENTS + " has no active identity, so the output restores nothing");
        }
        return ExitStatus.DONE;
    }

    /** Returns the document of a record. If the record is unreadable, reports and counts it, and returns null. */
    private @Nullable Document documentOrNull(
            AvroValueDecoder<dev.puri.schemas.avro.Document> decoder,
            ConsumerRecord<byte[], byte[]> record,
            Puri puri) {
        try {
            return DocumentAvro.fromAvro(decoder.read(record.value()));
        } catch (UnreadableException | IllegalArgumentException e) {
            unreadable++;
            if (unreadable <= MAX_REPORTED) {
                say("puri: the document of " + puri + " at " + record.topic() + "-" + record.partition() + "@"
                        + record.offset() + " is unreadable: " + e.getMessage());
            }
            return null;
        }
    }

    /**
     * Ends the command if documents are unreadable, or if records were deleted, also while the topic was read. The
     * attributes that are left are printed before, because there may be no other copy of them.
     */
    private void requireComplete(Map<TopicPartition, Long> beginningOffsets) {
        Map<Integer, Long> byPartition = new HashMap<>();
        beginningOffsets.forEach((partition, offset) -> byPartition.put(partition.partition(), offset));
        String deletedRecords = Truncation.deletedRecords(Topics.DOCUMENTS, byPartition);
        List<String> reasons = new ArrayList<>();
        if (deletedRecords != null) {
            reasons.add(deletedRecords);
        }
        if (unreadable > 0) {
            reasons.add("number of unreadable documents: " + unreadable);
        }
        if (!reasons.isEmpty()) {
            throw CommandException.failed(
                    String.join("; ", reasons) + ", so the output lacks attributes and is no complete backup");
        }
    }

    private String line(Puri puri, Map<String, String> attributes, Instant now) {
        return EventLineFormatter.format(
                new Event(UUID.randomUUID(), puri, now, source, null, null, new Change.Described(attributes)));
    }

    /** Returns the offset of the last record of each key, by a hash of the key, which needs less memory. */
    private static Map<Long, Long> lastOffsets(LogReader reader, TopicPartition partition, int partitions) {
        Map<Long, Long> offsets = new HashMap<>();
        reader.read(partition, reader.beginningOffset(partition), record -> {
            Puri puri = RecordKey.puriOrNull(record, partitions);
            if (puri != null) {
                offsets.put(hash(puri), record.offset());
            }
        });
        return offsets;
    }

    private static long hash(Puri puri) {
        return ByteBuffer.wrap(Digests.sha256().digest(puri.toBytes())).getLong();
    }
}
