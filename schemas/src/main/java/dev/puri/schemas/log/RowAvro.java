package dev.puri.schemas.log;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.RowStatus;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.serde.GeneratedClasses;

/** Converts a {@link Row} to and from Avro. */
public final class RowAvro {
    static {
        // Avro instantiates generated classes only if their package is trusted.
        GeneratedClasses.trust();
    }

    private RowAvro() {}

    /** Converts a row to a value of {@code puri.identities.v1}. */
    public static IdentityRow toAvro(Row row) {
        return new IdentityRow(
                row.uuid(),
                row.owner().text(),
                row.shard().text(),
                row.handle() == null ? null : row.handle().text(),
                toAvro(row.status()),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                row.mergedInto() == null ? null : row.mergedInto().toString(),
                toAvro(row.position()));
    }

    /**
     * Converts a value of {@code puri.identities.v1} to a row.
     *
     * @throws IllegalArgumentException if the record is invalid
     */
    public static Row fromAvro(IdentityRow avro) {
        return new Row(
                avro.getUuid(),
                new Owner(avro.getOwner()),
                new Shard(avro.getShard()),
                avro.getHandle() == null ? null : new Handle(avro.getHandle()),
                fromAvro(avro.getStatus()),
                avro.getEpoch(),
                avro.getCreatedAt(),
                avro.getChangedAt(),
                avro.getMergedInto() == null ? null : Puri.parse(avro.getMergedInto()),
                fromAvro(avro.getPosition()));
    }

    static RowStatus toAvro(Row.Status status) {
        return switch (status) {
            case ACTIVE -> RowStatus.ACTIVE;
            case MERGED -> RowStatus.MERGED;
            case DELETED -> RowStatus.DELETED;
        };
    }

    static Row.Status fromAvro(RowStatus avro) {
        return switch (avro) {
            case ACTIVE -> Row.Status.ACTIVE;
            case MERGED -> Row.Status.MERGED;
            case DELETED -> Row.Status.DELETED;
        };
    }

    static EventPosition toAvro(Position position) {
        return new EventPosition(position.topic(), position.partition(), position.offset());
    }

    static Position fromAvro(EventPosition avro) {
        return new Position(avro.getTopic(), avro.getPartition(), avro.getOffset());
    }
}
