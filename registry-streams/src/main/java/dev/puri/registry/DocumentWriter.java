package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the documents of one registrar task, and their attributes to the store of texts. */
final class DocumentWriter {
    private static final Logger LOG = LoggerFactory.getLogger(DocumentWriter.class);

    private final KeyValueStore<byte[], byte[]> texts;
    private final DigestState digests;
    private final RegistrarOutput output;

    DocumentWriter(KeyValueStore<byte[], byte[]> texts, DigestState digests, RegistrarOutput output) {
        this.texts = texts;
        this.digests = digests;
        this.output = output;
    }

    /** Writes the pURI's document and its stored attributes, or deletes both. */
    void update(PendingEvent pending, Registration before, DocumentUpdate update) {
        switch (update) {
            case DocumentUpdate.None ignored -> {}
            case DocumentUpdate.Write write -> {
                Document old = digestedDocument(pending, before);
                texts.put(pending.storeKey(), AttributesCodec.encode(write.attributes()));
                write(pending, old, document(pending, write.row(), write.attributes()));
            }
            case DocumentUpdate.Rewrite rewrite -> {
                Map<String, String> attributes = storedAttributes(pending);
                if (attributes != null) {
                    Document old = document(pending, rowOf(before), attributes);
                    write(pending, old, document(pending, rewrite.row(), attributes));
                }
            }
            case DocumentUpdate.Delete ignored -> {
                Document old = digestedDocument(pending, before);
                // delete() writes the same tombstone, but reads the old value first.
                texts.put(pending.storeKey(), null);
                write(pending, old, null);
            }
        }
    }

    /** Writes the pURI's document again if there is one. */
    void repeat(PendingEvent pending, Registration registration) {
        Map<String, String> attributes = registration.hasDocument() ? storedAttributes(pending) : null;
        if (attributes != null) {
            output.writeDocument(pending, document(pending, rowOf(registration), attributes));
        }
    }

    /** Writes a marker ({@link PartitionMarker}), a tombstone, to the changelog of the texts. */
    void writeMarker(Puri marker) {
        texts.put(StoreKey.of(marker), null);
    }

    /**
     * Returns the pURI's document before the event, to subtract it from the digest. Returns null if there is none, or
     * if the digests are unknown. An applied event that changes a row also writes or deletes the document, so the
     * document has the owner, the shard, the handle and the status of the row.
     */
    private @Nullable Document digestedDocument(PendingEvent pending, Registration before) {
        Map<String, String> attributes = digests.isKnown() && before.hasDocument() ? storedAttributes(pending) : null;
        return attributes == null ? null : document(pending, rowOf(before), attributes);
    }

    /**
     * Returns the attributes of the pURI's document. Returns null if they are missing although there is a document,
     * which happens if the changelog of the texts was lost. Then the digests are unknown, and the document stays as it
     * is until an event has its attributes. The caller must not write a document without attributes, because the topic
     * has the only copy of the lost attributes.
     */
    private @Nullable Map<String, String> storedAttributes(PendingEvent pending) {
        byte[] text = texts.get(pending.storeKey());
        if (text != null) {
            return AttributesCodec.decode(text);
        }
        if (digests.isKnown()) {
            LOG.error(
                    "{} has a document, but its attributes are missing in the store of texts: the changelog of the store"
                            + " was lost. The registrar publishes no more digests of this partition. The document does"
                            + " not change until its next Described event; see docs/disasters.md, \"Changelogs lost\"",
                    pending.puri());
            digests.discard();
        }
        return null;
    }

    private static Row rowOf(Registration registration) {
        Row row = registration.row();
        if (row == null) {
            throw new IllegalStateException("a registration without a row has a document");
        }
        return row;
    }

    private static Document document(PendingEvent pending, Row row, Map<String, String> attributes) {
        return new Document(
                row.owner(),
                row.shard(),
                row.handle(),
                row.status(),
                row.mergedInto(),
                attributes,
                pending.raw().position());
    }

    private void write(PendingEvent pending, @Nullable Document old, @Nullable Document document) {
        digests.onDocument(pending.puri(), old, document);
        output.writeDocument(pending, document);
    }
}
