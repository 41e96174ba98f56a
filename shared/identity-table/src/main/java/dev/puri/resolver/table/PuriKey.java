package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/**
 * The pURI that a look-up searches for, with its hash and its packed identifier. The key can be set to one pURI after
 * another.
 */
final class PuriKey implements Index.RecordMatcher {
    private static final byte[] NO_BYTES = {};

    private final Dictionaries dictionaries;
    private final long seed;

    /** An array that contains the canonical text of the pURI from {@code from} to {@code to}. */
    private byte[] text = NO_BYTES;

    private int from;
    private int identifierOffset;
    private int to;

    private byte[] packed = NO_BYTES;
    private int packedLength;
    private long hash;

    /** Creates a key without a pURI. */
    PuriKey(Dictionaries dictionaries, long seed) {
        this.dictionaries = dictionaries;
        this.seed = seed;
    }

    PuriKey(Puri puri, Dictionaries dictionaries, long seed) {
        this(dictionaries, seed);
        byte[] canonical = puri.toBytes();
        set(canonical, 0, puri.identifierIndex(), canonical.length);
    }

    /**
     * Sets the pURI.
     *
     * @param text an array that has the canonical text from {@code from} to {@code to}; not copied
     * @param identifierOffset the offset of the identifier, which is the last segment
     */
    void set(byte[] text, int from, int identifierOffset, int to) {
        setText(text, from, identifierOffset, to);
        pack();
    }

    /**
     * Like {@link #set}, but does not pack the identifier. The caller must call {@link #pack} before a search.
     *
     * @return the hash of the pURI
     */
    long setText(byte[] text, int from, int identifierOffset, int to) {
        this.text = text;
        this.from = from;
        this.identifierOffset = identifierOffset;
        this.to = to;
        hash = Hash.of(text, from, to, seed);
        return hash;
    }

    /** Packs the identifier in the encoding of records. */
    void pack() {
        int maxLength = Identifier.maxBytes(to - identifierOffset);
        if (packed.length < maxLength) {
            packed = new byte[maxLength];
        }
        packedLength = Identifier.pack(text, identifierOffset, to, packed, 0);
    }

    long hash() {
        return hash;
    }

    @Override
    public boolean matches(byte[] record) {
        int offset = RowCodec.collectionOffset(record);
        // A packed identifier contains its length, so a longer identifier does not have the same first bytes.
        int recordIdentifierOffset = Varint.end(record, offset);
        int comparedEnd = recordIdentifierOffset + packedLength;
        if (comparedEnd > record.length
                || !Arrays.equals(record, recordIdentifierOffset, comparedEnd, packed, 0, packedLength)) {
            return false;
        }
        Dictionaries.Collection collection = dictionaries.collections.wordOrNull((int) Varint.get(record, offset));
        return collection != null && collection.equalsText(text, from, identifierOffset);
    }
}
