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
 * Encodes a {@link Registration} for the registrar's store. The format is not Avro, because only this class reads the
 * store and must not need a schema registry.
 *
 * <pre>
 *   version       1 byte: 2 if the pURI has a document, else 1
 *   recentEvents  1 byte count, 16 bytes each
 *   formerHashes  2 bytes count, 16 bytes each
 *   status        1 byte: 0 no row and no further bytes, 1 active, 2 merged, 3 deleted
 *   uuid          16 bytes
 *   epoch, createdAt, changedAt (ms), offset    8 bytes each
 *   partition     4 bytes
 *   topic, owner, shard, handle, mergedInto     2 bytes length, then UTF-8; length 0 for none
 * </pre>
 */
final class RegistrationCodec {
    private static final byte VERSION = 1;

    /**
     * Releases that do not know documents cannot read this version. Otherwise they would keep the document of a deleted
     * or erased identity.
     */
    private static final byte VERSION_WITH_DOCUMENT = 2;

    private static final int FIXED_ROW_BYTES = 16 + 4 * Long.BYTES + Integer.BYTES;

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
                + IdentityHash.BYTES * registration.formerHashes().size()
                + 1
                + (row == null ? 0 : FIXED_ROW_BYTES + TextCodec.size(texts));
        ByteBuffer bytes = ByteBuffer.allocate(size).put(registration.hasDocument() ? VERSION_WITH_DOCUMENT : VERSION);
        bytes.put((byte) registration.recentEvents().size());
        for (UUID eventId : registration.recentEvents()) {
            put(bytes, eventId);
        }
        bytes.putShort((short) registration.formerHashes().size());
        for (IdentityHash formerHash : registration.formerHashes()) {
            bytes.putLong(formerHash.high()).putLong(formerHash.low());
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
     * @throws IllegalStateException if the value has an unknown version
     * @throws IllegalArgumentException if the value has too few or too many bytes
     */
    static Registration decode(byte[] value) {
        return ValueDecoder.decode("a registration", value, RegistrationCodec::read);
    }

    private static Registration read(ByteBuffer bytes) {
        byte version = bytes.get();
        if (version != VERSION && version != VERSION_WITH_DOCUMENT) {
            throw new IllegalStateException("a registration has version " + version
                    + "; this program reads versions up to " + VERSION_WITH_DOCUMENT);
        }
        List<UUID> recentEvents = new ArrayList<>(Registration.REMEMBERED_EVENTS);
        for (int i = bytes.get(); i > 0; i--) {
            recentEvents.add(new UUID(bytes.getLong(), bytes.getLong()));
        }
        int formerCount = bytes.getShort();
        List<IdentityHash> formerHashes = new ArrayList<>(formerCount);
        for (int i = 0; i < formerCount; i++) {
            formerHashes.add(IdentityHash.of(bytes));
        }
        byte status = bytes.get();
        return new Registration(
                status == 0 ? null : readRow(bytes, STATUSES[status - 1]),
                recentEvents,
                formerHashes,
                version == VERSION_WITH_DOCUMENT);
    }

    private static final Row.Status[] STATUSES = Row.Status.values();

    private static Row readRow(ByteBuffer bytes, Row.Status status) {
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
