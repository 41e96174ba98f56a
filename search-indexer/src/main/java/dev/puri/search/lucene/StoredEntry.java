package dev.puri.search.lucene;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.EntryKind;
import dev.puri.search.words.IndexedText;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.apache.lucene.store.ByteArrayDataInput;
import org.apache.lucene.store.ByteBuffersDataOutput;
import org.apache.lucene.store.DataInput;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/**
 * A pURI and its entry, as Lucene stores them in one field. If the format of the bytes changes,
 * {@link LuceneIndex#FORMAT} must change too.
 *
 * @param titleName the name of the document's title attribute; null if there is none
 */
record StoredEntry(Puri puri, Entry entry, @Nullable String titleName) {
    private static final Row.Status[] STATUSES = Row.Status.values();

    BytesRef toBytes() {
        ByteBuffersDataOutput out = new ByteBuffersDataOutput();
        try {
            write(out);
        } catch (IOException e) {
            throw new IllegalStateException("cannot write to memory", e);
        }
        return new BytesRef(out.toArrayCopy());
    }

    private void write(ByteBuffersDataOutput out) throws IOException {
        out.writeString(puri.toString());
        out.writeByte((byte) EntryKind.of(entry).ordinal());
        out.writeString(entry.owner().text());
        out.writeString(entry.shard().text());
        writeOptional(out, entry.handle());
        out.writeByte((byte) entry.status().ordinal());
        writeOptional(out, entry.mergedInto());
        write(out, entry.position());
        switch (entry) {
            case Row row -> {
                out.writeLong(row.uuid().getMostSignificantBits());
                out.writeLong(row.uuid().getLeastSignificantBits());
                out.writeVLong(row.epoch());
                write(out, row.createdAt());
                write(out, row.changedAt());
            }
            case Document document -> {
                out.writeMapOfStrings(document.attributes());
                writeOptional(out, titleName);
            }
        }
    }

    static StoredEntry parse(BytesRef bytes) throws IOException {
        ByteArrayDataInput in = new ByteArrayDataInput(bytes.bytes, bytes.offset, bytes.length);
        Puri puri = Puri.parse(in.readString());
        boolean isIdentity = in.readByte() == 0;
        Owner owner = new Owner(in.readString());
        Shard shard = new Shard(in.readString());
        String handleText = readOptional(in);
        Handle handle = handleText == null ? null : new Handle(handleText);
        Row.Status status = STATUSES[in.readByte()];
        String mergedIntoText = readOptional(in);
        Puri mergedInto = mergedIntoText == null ? null : Puri.parse(mergedIntoText);
        Position position = new Position(in.readString(), in.readVInt(), in.readVLong());
        if (isIdentity) {
            return new StoredEntry(
                    puri,
                    new Row(
                            new UUID(in.readLong(), in.readLong()),
                            owner,
                            shard,
                            handle,
                            status,
                            in.readVLong(),
                            readInstant(in),
                            readInstant(in),
                            mergedInto,
                            position),
                    null);
        }
        return new StoredEntry(
                puri,
                new Document(owner, shard, handle, status, mergedInto, in.readMapOfStrings(), position),
                readOptional(in));
    }

    private static void write(ByteBuffersDataOutput out, Position position) throws IOException {
        out.writeString(position.topic());
        out.writeVInt(position.partition());
        out.writeVLong(position.offset());
    }

    private static void write(ByteBuffersDataOutput out, Instant instant) throws IOException {
        out.writeLong(instant.getEpochSecond());
        out.writeVInt(instant.getNano());
    }

    private static Instant readInstant(DataInput in) throws IOException {
        return Instant.ofEpochSecond(in.readLong(), in.readVInt());
    }

    /** Returns a document's attributes in the order in which a result shows them; empty for an identity. */
    Map<String, String> attributes() {
        return switch (entry) {
            case Row row -> Map.of();
            case Document document -> IndexedText.inDisplayOrder(titleName, document.attributes());
        };
    }

    /** Writes null as an empty string, because no handle, pURI or title name is empty. */
    private static void writeOptional(ByteBuffersDataOutput out, @Nullable Object value) throws IOException {
        out.writeString(value == null ? "" : value.toString());
    }

    private static @Nullable String readOptional(DataInput in) throws IOException {
        String text = in.readString();
        return text.isEmpty() ? null : text;
    }
}
