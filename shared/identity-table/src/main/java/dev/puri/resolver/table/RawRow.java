package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A reusable buffer for a pURI and its row, from which {@link RowCodec} creates a packed record. Owner, shard,
 * collection and topic are replaced by their codes in the dictionaries. {@link #set} fills the buffer from a {@link
 * Row}, {@link RecordParser} fills it from a topic record.
 *
 * <p>Used only by the thread that packs rows, see {@link Dictionary}.
 */
final class RawRow {
    private final Dictionaries dictionaries;
    private final long seed;

    /** The hash of the pURI in the index, with the seed of the table. */
    long puriHash;

    /** {@link RowHash#ofText} of the pURI. */
    long textHash;

    int collection;
    final byte[] identifier = new byte[Identifier.maxBytes(Puri.MAX_IDENTIFIER_BYTES)];
    int identifierLength;

    boolean hasHandle;
    long handleHash;
    long handleHigh;
    int handleLow;
    int prefix;

    /** The ordinal of the {@link Row.Status}. */
    int status;

    long uuidHigh;
    long uuidLow;
    int owner;
    int shard;
    long epoch;
    long createdMillis;
    long changedMillis;
    int topic;
    int partition;
    long offset;

    /** The pURI of the survivor; null unless the row is merged. */
    @Nullable
    Puri survivor;

    /** The code of the survivor's collection. Only valid if the row is merged. */
    int survivorCollection;

    RawRow(Dictionaries dictionaries, long seed) {
        this.dictionaries = dictionaries;
        this.seed = seed;
    }

    void set(Puri puri, Row row) {
        byte[] text = puri.toBytes();
        setPuri(text, text.length - puri.identifier().length());
        hasHandle = false;
        if (row.handle() != null) {
            HandleKey handle = HandleKey.of(row.handle(), dictionaries, seed);
            setHandle(handle.high(), handle.low(), handle.prefix());
        }
        status = row.status().ordinal();
        uuidHigh = row.uuid().getMostSignificantBits();
        uuidLow = row.uuid().getLeastSignificantBits();
        owner = dictionaries.owners.intern(row.owner().text());
        shard = dictionaries.shards.intern(row.shard().text());
        epoch = row.epoch();
        createdMillis = row.createdAt().toEpochMilli();
        changedMillis = row.changedAt().toEpochMilli();
        topic = dictionaries.topics.intern(row.position().topic());
        partition = row.position().partition();
        offset = row.position().offset();
        survivor = row.mergedInto();
        if (survivor != null) {
            survivorCollection = dictionaries.collections.intern(survivor.qualifiedCollection());
        }
    }

    /**
     * Sets the pURI.
     *
     * @param text the canonical text of the pURI
     * @param identifierOffset the offset of its last segment
     */
    void setPuri(byte[] text, int identifierOffset) {
        puriHash = Hash.of(text, seed);
        textHash = RowHash.ofText(text);
        identifierLength = Identifier.pack(text, identifierOffset, text.length, identifier, 0);
        // Adjacent records often have the same collection. Its text then need not be decoded.
        Dictionaries.Collection previousCollection = dictionaries.collections.wordOrNull(collection);
        if (previousCollection != null && previousCollection.equalsText(text, identifierOffset)) {
            dictionaries.collections.noteUse(collection);
        } else {
            collection = dictionaries.collections.intern(
                    new String(text, 0, identifierOffset - 1, StandardCharsets.US_ASCII));
        }
    }

    /**
     * Like {@link #setPuri}, but accepts only a pURI with a decimal number as identifier, in the same collection as the
     * previous row. Most pURIs are like that. They are canonical, so their characters need no further check.
     *
     * @return false for any other pURI; the row is then unchanged
     */
    boolean setDecimalOfSameCollection(byte[] text) {
        Dictionaries.Collection previousCollection = dictionaries.collections.wordOrNull(collection);
        if (previousCollection == null) {
            return false;
        }
        byte[] collectionBytes = previousCollection.bytes;
        if (text.length <= collectionBytes.length
                || !Arrays.equals(text, 0, collectionBytes.length, collectionBytes, 0, collectionBytes.length)) {
            return false;
        }
        int end = Identifier.packNumber(text, collectionBytes.length, text.length, identifier, 0);
        if (end < 0) {
            return false;
        }
        identifierLength = end;
        puriHash = Hash.of(text, seed);
        textHash = RowHash.ofText(text);
        dictionaries.collections.noteUse(collection);
        return true;
    }

    /** Returns the {@link RowHash} of the row. */
    long rowHash() {
        return RowHash.of(
                textHash,
                uuidHigh,
                uuidLow,
                dictionaries.owners.word(owner).hash,
                dictionaries.shards.word(shard).hash,
                hasHandle ? RowHash.ofHandle(handleHigh, handleLow, prefix) : RowHash.NONE,
                status,
                epoch,
                createdMillis,
                changedMillis,
                survivor == null ? RowHash.NONE : RowHash.ofText(survivor.toBytes()));
    }

    void setHandle(long high, int low, int prefix) {
        hasHandle = true;
        handleHigh = high;
        handleLow = low;
        this.prefix = prefix;
        handleHash = HandleKey.hash(high, low, prefix, seed);
    }
}
