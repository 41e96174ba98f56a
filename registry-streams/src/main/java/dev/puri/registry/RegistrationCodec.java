package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Encodes a {@link Registration} for the registrar's store. Not Avro: the store must be readable without a schema
 * registry, and only this class reads it.
 *
 * <pre>
 *   version       1 byte: 1, or 2 for one that has a document
 *   recent        1 byte count, 16 bytes each
 *   former        2 bytes count, 16 bytes each
 *   status        1 byte: 0 no row and nothing follows, 1 active, 2 merged, 3 deleted
 *   uuid          16 bytes
 *   epoch, createdAt, changedAt (ms), offset    8 bytes each
 *   partition     4 bytes
 *   topic, owner, shard, handle, mergedInto     2 bytes length, then UTF-8; length 0 for none
 * </pre>
 */
final class RegistrationCodec {
    private static final byte VERSION = 1;

    /** A version of its own, so that a release without documents fails on it instead of leaving a document behind. */
    private static final byte WITH_DOCUMENT = 2;

    private static final int FIXED_ROW = 16 + 4 * Long.BYTES + Integer.BYTES;

    private RegistrationCodec() {}

    static byte[] encode(Registration registration) {
        Row row = registration.row();
        byte[][] texts = row == null
                ? new byte[0][]
                : new byte[][] {
                    TextCodec.utf8(row.position().topic()),
                    TextCodec.utf8(row.owner().text()),
                    TextCodec.utf8(row.shard().text()),
                    row.handle() == null
                            ? TextCodec.EMPTY
                            : TextCodec.utf8(row.handle().text()),
                    row.mergedInto() == null
                            ? TextCodec.EMPTY
                            : row.mergedInto().toBytes()
                };
        int size = 1
                + 1
                + 16 * registration.recentEvents().size()
                + 2
                + UuidHash.BYTES * registration.formerUuids().size()
                + 1
                + (row == null ? 0 : FIXED_ROW + TextCodec.size(texts));
        ByteBuffer bytes = ByteBuffer.allocate(size).put(registration.hasDocument() ? WITH_DOCUMENT : VERSION);
        bytes.put((byte) registration.recentEvents().size());
        for (UUID event : registration.recentEvents()) {
            put(bytes, event);
        }
        bytes.putShort((short) registration.formerUuids().size());
        for (UuidHash former : registration.formerUuids()) {
            bytes.putLong(former.high()).putLong(former.low());
        }
        if (row == null) {
            return bytes.put((byte) 0).array();
        }
        bytes.put((byte) (row.status().ordinal() + 1));
        put(bytes, row.uuid());
        bytes.putLong(row.epoch())
                .putLong(row.createdAt().toEpochMilli())
                .putLong(row.changedAt().toEpochMilli())
                .putLong(row.position().offset())
                .putInt(row.position().partition());
        for (byte[] text : texts) {
            TextCodec.put(bytes, text);
        }
        return bytes.array();
    }

    /**
     * @throws IllegalStateException if this class did not write the value
     */
    static Registration decode(byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        byte version = bytes.get();
        if (version != VERSION && version != WITH_DOCUMENT) {
            throw new IllegalStateException(
                    "the registrar's store has version " + version + " and this program reads up to " + WITH_DOCUMENT);
        }
        List<UUID> recent = new ArrayList<>(Registration.REMEMBERED_EVENTS);
        for (int i = bytes.get(); i > 0; i--) {
            recent.add(new UUID(bytes.getLong(), bytes.getLong()));
        }
        int formers = bytes.getShort();
        List<UuidHash> former = new ArrayList<>(formers);
        for (int i = 0; i < formers; i++) {
            former.add(UuidHash.of(bytes));
        }
        byte status = bytes.get();
        return new Registration(
                status == 0 ? null : row(bytes, STATUS[status - 1]), recent, former, version == WITH_DOCUMENT);
    }

    private static final Row.Status[] STATUS = Row.Status.values();

    private static Row row(ByteBuffer bytes, Row.Status status) {
        UUID uuid = new UUID(bytes.getLong(), bytes.getLong());
        long epoch = bytes.getLong();
        Instant createdAt = Instant.ofEpochMilli(bytes.getLong());
        Instant changedAt = Instant.ofEpochMilli(bytes.getLong());
        long offset = bytes.getLong();
        int partition = bytes.getInt();
        Position position = new Position(TextCodec.get(bytes), partition, offset);
        Owner owner = new Owner(TextCodec.get(bytes));
        Shard shard = new Shard(TextCodec.get(bytes));
        String handle = TextCodec.get(bytes);
        String mergedInto = TextCodec.get(bytes);
        return new Row(
                uuid,
                owner,
                shard,
                handle.isEmpty() ? null : new Handle(handle),
                status,
                epoch,
                createdAt,
                changedAt,
                mergedInto.isEmpty() ? null : Puri.parse(mergedInto),
                position);
    }

    private static void put(ByteBuffer bytes, UUID uuid) {
        bytes.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
    }
}
