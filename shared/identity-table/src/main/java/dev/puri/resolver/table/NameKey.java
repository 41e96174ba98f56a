package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Arrays;

/**
 * The pURI that a look-up searches, with its hash and its packed identifier. The key can be set to one pURI after
 * another.
 */
final class NameKey implements Index.RecordMatcher {
    private static final byte[] NO_BYTES = {};

    private final Words words;
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
    NameKey(Words words, long seed) {
        this.words = words;
        this.seed = seed;
    }

    NameKey(Puri puri, Words words, long seed) {
        this(words, seed);
        byte[] name = puri.toBytes();
        set(name, 0, puri.identifierIndex(), name.length);
    }

    /**
     * Sets the pURI.
     *
     * @param name an array that has the canonical text from {@code begin} to {@code end}; not copied
     * @param lastOffset the offset of the last segment
     */
    void set(byte[] name, int begin, int lastOffset, int end) {
        setText(name, begin, lastOffset, end);
        pack();
    }

    /** Like {@link #set}, but does not pack the identifier. The caller must call {@link #pack} before a search. */
    long setText(byte[] name, int begin, int lastOffset, int end) {
        text = name;
        from = begin;
        identifierOffset = lastOffset;
        to = end;
        hash = Hash.of(name, begin, end, seed);
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
        int offset = RowCodec.nameOffset(record);
        int recordIdentifier = Varint.end(record, offset);
        if (recordIdentifier + packedLength > record.length
                || !Arrays.equals(record, recordIdentifier, recordIdentifier + packedLength, packed, 0, packedLength)) {
            return false;
        }
        Words.Collection collection = words.collections.wordOrNull((int) Varint.get(record, offset));
        return collection != null && collection.hasText(text, from, identifierOffset);
    }
}
