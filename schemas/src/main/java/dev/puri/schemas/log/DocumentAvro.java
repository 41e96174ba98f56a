package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.serde.GeneratedClasses;

/** Converts a {@link Document} to and from Avro. */
public final class DocumentAvro {
    static {
        // Avro instantiates generated classes only if their package is trusted.
        GeneratedClasses.trust();
    }

    private DocumentAvro() {}

    /** Converts a document to a value of {@code puri.documents.v1}. */
    public static dev.puri.schemas.avro.Document toAvro(Document document) {
        return new dev.puri.schemas.avro.Document(
                document.owner().text(),
                document.shard().text(),
                document.handle() == null ? null : document.handle().text(),
                RowAvro.toAvro(document.status()),
                document.mergedInto() == null ? null : document.mergedInto().toString(),
                document.attributes(),
                RowAvro.toAvro(document.position()));
    }

    /**
     * Converts a value of {@code puri.documents.v1} to a document.
     *
     * @throws IllegalArgumentException if the record is invalid
     */
    public static Document fromAvro(dev.puri.schemas.avro.Document avro) {
        return new Document(
                new Owner(avro.getOwner()),
                new Shard(avro.getShard()),
                avro.getHandle() == null ? null : new Handle(avro.getHandle()),
                RowAvro.fromAvro(avro.getStatus()),
                avro.getMergedInto() == null ? null : Puri.parse(avro.getMergedInto()),
                avro.getAttributes(),
                RowAvro.fromAvro(avro.getPosition()));
    }
}
